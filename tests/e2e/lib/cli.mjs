// cli.mjs - runs the program `cleat` as a shell would, in a directory and a home of its own.
//
// Without a terminal: in a session of its own, so that there is none. With one: inside of script(1), whose
// pseudo-terminal is the program's stdin, stdout and stderr.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { within } from './tap.mjs';

const root = process.env.CLEAT_SOURCE_DIR ?? path.resolve(import.meta.dirname, '../../..');
export const build = process.env.CLEAT_BUILD_DIR ?? path.join(root, 'build/debug');
export const cleat = path.join(build, 'cleat');
export const hello = path.join(build, 'examples/hello');
export const fixture = path.join(build, 'tests/server_sdk');
export const example = name => path.join(build, 'examples', name);
export const bad = mode => [process.execPath, path.join(import.meta.dirname, 'bad_server.mjs'), mode];

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'cleat-cli-'));
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));
let places = 0;

/** A new directory; `files` are written into it: { path: text }. */
export function place(files = {}) {
	const directory = path.join(scratch, String(++places));
	for (const [name, text] of Object.entries({ '.keep': '', ...files })) {
		fs.mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
		fs.writeFileSync(path.join(directory, name), text);
	}
	return directory;
}

/** Writes a file so that whoever watches it never sees half of it. */
export function rewrite(file, text) {
	const beside = path.join(scratch, `${++places}.new`);
	fs.writeFileSync(beside, text);
	fs.renameSync(beside, file);
}

const nowhere = place();

function environment({ home = nowhere, env = {} }) {
	const kept = Object.fromEntries(Object.entries(process.env)
		.filter(([name]) => /^(PATH|ASAN_|UBSAN_|TSAN_|LSAN_|LD_|LLVM_|GCOV)/.test(name)));
	return { ...kept, HOME: home, TERM: 'xterm', ...env };
}

function collect(child) {
	const result = { stdout: '', stderr: '' };
	for (const name of ['stdout', 'stderr'])
		child[name].setEncoding('utf8').on('data', chunk => {
			result[name] += chunk;
			child.heard?.(result);
		});
	child.result = result;
	child.ended = new Promise(resolve => child.once('close', (code, signal) => resolve({ ...result, code, signal })));
	return child;
}

/** Starts it; `child.ended` gives { code, signal, stdout, stderr }. */
export function start(args, { input, cwd = nowhere, ...options } = {}) {
	const child = collect(spawn(cleat, args, { cwd, env: environment(options), detached: true }));
	child.stdin.on('error', () => {});
	if (input !== null)
		child.stdin.end(input ?? '');
	return child;
}

export const run = (args, options) => within(start(args, options).ended, `cleat ${args.join(' ')}`);

/** Waits until what it has said matches. */
export function heard(child, pattern, stream = 'stdout') {
	return within(new Promise(resolve => {
		const look = result => pattern.test(result[stream]) && resolve(result[stream]);
		child.heard = look;
		look(child.result);
	}), `${pattern} of ${stream}`);
}

/** The bytes that it wrote to stdout. */
export function bytes(args, options = {}) {
	return spawnSync(cleat, args, { cwd: nowhere, env: environment(options) });
}

const quote = word => `'${word.replaceAll("'", "'\\''")}'`;

/** On a terminal of 80 or so many columns; what is typed is written to child.stdin. All it writes comes as stdout. */
export function terminal(args, { cwd = nowhere, columns = 80, ...options } = {}) {
	const command = `stty cols ${columns} rows 24; exec ${[cleat, ...args].map(quote).join(' ')}`;
	return collect(spawn('script', ['-qefc', command, '/dev/null'],
		{ cwd, env: { ...environment(options), SHELL: '/bin/sh' }, detached: true }));
}

/** A server of ours on a port of its own. */
export async function listen(t, program = hello, args = [], address = '127.0.0.1:0') {
	const child = collect(spawn(program, ['--http', address, ...args], { env: environment({}) }));
	t.use({ end: async () => { child.kill(); await child.ended; return []; } });
	const where = /(https?:\/\/|unix:)\S*/;
	return where.exec(await heard(child, where, 'stderr'))[0];
}
