// Where the results of `cleat` go and how they look: exact for programs, safe on a terminal, never half of a file.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { bad, cleat, fixture, hello, listen, place, run, terminal } from './lib/cli.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const local = file => path.join(import.meta.dirname, 'lib', file);
const sum = ['--', hello, '--', 'add', 'a=2', 'b=40'];

async function good(args, options) {
	const result = await run(args, options);
	assert.equal(result.code, 0, `${args.join(' ')}: ${result.code} ${result.stdout} ${result.stderr}`);
	return result.stdout;
}

// ---- exactly what came -----------------------------------------------------------------------------

// Numbers that a double cannot hold, members that nobody knows, an order that nobody sorts.
const answer = '{"zebra":9007199254740993,"content":[],"alpha":1.10,"structuredContent":{"big":123456789012345678901234567890,"e":1E+2,"text":"\\u00e4\\u2028\\u001b"}}';

test('--json is the result as it came', async () => {
	const args = ['call', '--', process.execPath, local('exact_server.mjs'), answer, '--', 'tool'];
	const text = await good([args[0], '--json', ...args.slice(1)]);
	assert.match(text, /^\{"zebra":9007199254740993,"content":\[\],"alpha":1\.10,"structuredContent":\{"big":123456789012345678901234567890,"e":1E\+2,/);
	assert.equal(text.split('\n').length, 2);
	assert.deepEqual(JSON.parse(text), JSON.parse(answer));
	assert.equal(await good([args[0], '--json', '-o', '-', ...args.slice(1)]), text);
});

test('numbers go out as they were typed', async () => {
	const sent = path.join(place(), 'sent');
	await good(['call', '--', process.execPath, local('exact_server.mjs'), answer, '--', 'tool', 'n=9007199254740993', 'm=1.10', 'b:=[123456789012345678901234567890]'], { env: { SENT: sent } });
	assert.match(fs.readFileSync(sent, 'utf8'), /"arguments":\{"n":9007199254740993,"m":1\.10,"b":\[123456789012345678901234567890\]\}/);
});

// ---- programs --------------------------------------------------------------------------------------

test('with --json nothing but errors is on stderr, unless -v', async () => {
	const noisy = ['--', ...bad('hostile')];
	assert.match((await run(['ls', ...noisy])).stderr, /^\[server\] on stderr/);
	assert.equal((await run(['ls', '--json', ...noisy])).stderr, '');
	assert.match((await run(['ls', '--json', '-v', ...noisy])).stderr, /^\[server\] on stderr/m);
	// Nor remarks: a name that is in two files.
	const files = { '.mcp.json': JSON.stringify({ mcpServers: { x: { command: hello } } }) };
	const cwd = place(files), home = place({ '.cursor/mcp.json': files['.mcp.json'], '.claude.json': '{' });
	assert.match((await run(['ls', 'x'], { cwd, home })).stderr, /"x" is the one of \.mcp\.json, not of/);
	assert.equal((await run(['ls', '--json', 'x'], { cwd, home })).stderr, '');
});

test('an error is UTF-8, whatever is in it', async () => {
	const script = `${cleat} ls --json "$(printf 'c\\377\\303')"`;
	const { stderr } = spawnSync('bash', ['-c', script], { env: { PATH: process.env.PATH, HOME: place() } });
	const text = new TextDecoder('utf-8', { fatal: true }).decode(stderr);
	assert.match(JSON.parse(text).error.message, /c\ufffd\ufffd/);
});

// ---- files -----------------------------------------------------------------------------------------

test('-o replaces a file when the new one is complete, and only then', async () => {
	const cwd = place({ out: 'old\n', 'deep/real': 'old\n' }), at = name => path.join(cwd, name);
	fs.chmodSync(at('out'), 0o640);
	fs.symlinkSync('deep/real', at('link'));
	fs.symlinkSync('deep/made', at('dangling'));
	fs.linkSync(at('out'), at('other'));
	for (const name of ['new', 'link', 'dangling']) await good(['call', '-o', name, ...sum], { cwd });
	assert.equal(fs.readFileSync(at('new'), 'utf8'), '42\n');
	assert.equal(fs.statSync(at('new')).mode & 0o777, 0o666 & ~process.umask());
	assert.ok(fs.lstatSync(at('link')).isSymbolicLink());
	for (const name of ['deep/real', 'deep/made']) assert.equal(fs.readFileSync(at(name), 'utf8'), '42\n');
	// Two names of one file stay two names of one file.
	await good(['call', '-o', 'out', ...sum], { cwd });
	assert.equal(fs.readFileSync(at('other'), 'utf8'), '42\n');
	assert.equal(fs.statSync(at('out')).mode & 0o777, 0o640);
	// What fails leaves everything as it was, and nothing else.
	const before = fs.readdirSync(cwd).sort();
	fs.writeFileSync(at('new'), 'kept\n');
	for (const args of [['call', '-o', 'new', '--', hello, '--', 'nothing'], ['ls', '-o', 'new', '--', '/does/not/exist'], ['call', '-o', 'new', '--jq', '.[', ...sum], ['call', '-o', 'new', '--jq', '1, .content.x', ...sum]])
		assert.notEqual((await run(args, { cwd })).code, 0);
	assert.equal(fs.readFileSync(at('new'), 'utf8'), 'kept\n');
	assert.deepEqual(fs.readdirSync(cwd).sort(), before);
});

test('a file that cannot become larger keeps its old content', () => {
	const cwd = place({ out: 'old\n' });
	const script = `ulimit -f 4; exec ${cleat} call -o out -- ${fixture} -- echo text="$(printf '%030000d' 1)"`;
	const { status, stderr } = spawnSync('bash', ['-c', `trap '' XFSZ; ${script}`], { cwd });
	assert.equal(status, 1, String(stderr));
	assert.match(String(stderr), /cannot write the result: File too large/);
	assert.equal(fs.readFileSync(path.join(cwd, 'out'), 'utf8'), 'old\n');
	assert.deepEqual(fs.readdirSync(cwd).sort(), ['.keep', 'out']);
});

// ---- descriptors -----------------------------------------------------------------------------------

test('a closed stdout is noticed, and never a socket', async t => {
	const url = await listen(t);
	for (const server of [`-- ${hello}`, url]) {
		const { status, stderr } = spawnSync('bash', ['-c', `${cleat} ls ${server} >&-`]);
		assert.equal(status, 1);
		assert.match(String(stderr), /^cleat: cannot write the result: Bad file descriptor\n$/);
		assert.equal(String(spawnSync('bash', ['-c', `${cleat} ls --names ${server} 2>&- <&-`]).stdout), 'add\n');
	}
});

test('a reader that goes away is no reason to complain, for every verb', () => {
	for (const args of ['help', 'man', 'completion bash', `ls --all -- ${fixture}`, `ls --json --all -- ${fixture}`, `read -- ${fixture} -- big://1`, `info -- ${fixture}`]) {
		const { stdout, stderr } = spawnSync('bash', ['-c', `${cleat} ${args} 2>err | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"; cat err >&2`], { cwd: place() });
		if (!args.startsWith('read')) assert.match(String(stdout), /^[01]\n$/, args);
		assert.ok(!/write the result/.test(String(stderr)), `${args}: ${stderr}`);
	}
});

// ---- colour ----------------------------------------------------------------------------------------

test('colour: on a terminal only, and not where it is not wanted', async () => {
	const escapes = async (args, env) => {
		const child = terminal(args, { env });
		child.stdin.on('error', () => {});
		return (await within(child.ended, 'the end')).stdout.includes('\u001b[');
	};
	for (const args of [['ls', '-v', '--', hello], ['call', '--json', ...sum], ['help']]) {
		assert.ok(await escapes(args, {}), args.join(' '));
		assert.ok(!await escapes(args, { NO_COLOR: '1' }), `NO_COLOR ${args.join(' ')}`);
		assert.ok(await escapes(args, { NO_COLOR: '' }), `empty NO_COLOR ${args.join(' ')}`);
		assert.ok(!await escapes(args, { TERM: 'dumb' }), `dumb ${args.join(' ')}`);
		assert.ok(!await escapes([args[0], '--color', 'never', ...args.slice(1)], {}), `never ${args.join(' ')}`);
	}
	assert.match(await good(['help', '--color', 'always']), /\u001b\[1m/);
	assert.ok(!(await good(['call', ...sum])).includes('\u001b'));
});

test('what a file of the project says does not reach the terminal as it is', async () => {
	const entry = { command: 'true', args: ['\u001b]0;title\u0007'] };
	const cwd = place({ '.mcp.json': JSON.stringify({ mcpServers: { 'a\u001b[2Jb': entry } }) });
	for (const args of [['ls'], ['config'], ['config', '--json'], ['config', 'a\u001b[2Jb'], ['ls', '-v', 'a\u001b[2Jb'], ['ls', 'a\u001b[2Jc']]) {
		const child = terminal([...args, '--color', 'never'], { cwd });
		child.stdin.on('error', () => {});
		const { stdout } = await within(child.ended, 'the end');
		assert.ok(!/[\u001b\u0007]/.test(stdout), `${args.join(' ')}: ${JSON.stringify(stdout)}`);
	}
});

await runCases();
