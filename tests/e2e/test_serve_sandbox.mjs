// The sandbox of a tool: commands behind `cleat serve` that really try to read, write, connect and signal, each
// with the same command outside as a control. Through the official client in both eras, over stdio and HTTP, and by
// `cleat call`. (Every door by itself: tests/unit/test_serve_sandbox*.c.)

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { cleat, place, run as runCleat } from './lib/cli.mjs';
import { byHand, everyWay, text } from './lib/serve.mjs';
import { run, test } from './lib/tap.mjs';

const probe = await runCleat(['serve', '--probe']);
const landlock = /Landlock ABI/.test(probe.stdout + probe.stderr);
const signals = /signals to others +enforced/.test(probe.stdout + probe.stderr);

/** A configuration in a directory with docs/ and out/, and what is neither; its path. */
function configured(tools, more = {}) {
	const dir = place({ 'docs/a.txt': 'a document', 'out/.keep': '', 'private.txt': 'not for tools', 'c.json': JSON.stringify({ tools, ...more }) });
	return path.join(dir, 'c.json');
}
/** Every command twice: in the sandbox and outside. */
const twice = (tools, sandbox) => Object.fromEntries(Object.entries(tools).flatMap(([name, tool]) =>
	[[name, { ...tool, sandbox }], [`free_${name}`, tool]]));
const port = server => new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

const attempts = {
	read: { args: 'path: string', cmd: ['cat', '--', '{path}'] },
	write: { args: 'path: string', sh: 'echo changed > "$path" && echo written' },
	append: { args: 'path: string', sh: 'echo more >> "$path" && echo written' },
	move: { args: 'from: string, to: string', cmd: ['mv', '--', '{from}', '{to}'] },
	link: { args: 'from: string, to: string', sh: 'ln -sf "$from" "$to" && cat "$to"' },
	list: { args: 'path: string', cmd: ['ls', '--', '{path}'] },
	connect: { args: 'port: integer', cmd: ['bash', '-c', 'exec 3<>"/dev/tcp/127.0.0.1/$0" && echo connected', '{port}'] },
	signal: { args: 'pid: integer', sh: 'kill -0 "$pid" && echo there' }
};
const box = { read: ['./docs'], write: ['./out'], net: false };

if (landlock)
	everyWay('only what is allowed can be read, changed and reached', () => [configured(twice(attempts, box))], async s => {
		const refused = async (name, args, pattern = /Permission denied/) => {
			const result = await s.call(name, args);
			assert.equal(result.isError, true, `${name} ${JSON.stringify(args)}: ${text(result)}`);
			assert.match(text(result), pattern);
			const free = await s.call(`free_${name}`, args);
			assert.ok(!free.isError, `free_${name} ${JSON.stringify(args)}: ${text(free)}`);
		};
		const allowed = async (name, args, pattern) => {
			const result = await s.call(name, args);
			assert.ok(!result.isError, `${name} ${JSON.stringify(args)}: ${text(result)}`);
			assert.match(text(result), pattern);
		};
		const listener = net.createServer(socket => socket.destroy());

		await allowed('read', { path: 'docs/a.txt' }, /^a document$/);
		await allowed('write', { path: 'out/new' }, /written/);
		await allowed('read', { path: 'out/new' }, /changed/);
		await allowed('list', { path: 'docs' }, /a\.txt/);
		await refused('read', { path: 'private.txt' });
		await refused('read', { path: 'docs/../private.txt' });
		await refused('read', { path: '/proc/self/root/etc/hostname' });
		await refused('list', { path: '/' });
		await refused('append', { path: 'docs/a.txt' });
		await refused('write', { path: 'docs/new' });
		await refused('move', { from: 'private.txt', to: 'out/taken' }, /Permission denied|cross-device/);
		await refused('link', { from: '../c.json', to: 'out/link' });
		await refused('connect', { port: await port(listener) });
		if (signals)
			await refused('signal', { pid: process.pid }, /not permitted/);
		listener.close();
	});
else
	test('sandboxes: this kernel has no Landlock # SKIP', async () => {});

test('by cleat call: a sandbox from "defaults", and a tool without', async () => {
	if (!landlock)
		return;
	const file = configured({ inside: attempts.read, outside: { ...attempts.read, sandbox: false } }, { defaults: { sandbox: { read: ['docs'] } } });
	const call = words => byHand('call', [file], words);
	const inside = await call(['inside', 'path=private.txt']), outside = await call(['outside', 'path=private.txt']);

	assert.notEqual(inside.code, 0, inside.stdout);
	assert.match(inside.stdout + inside.stderr, /Permission denied/);
	assert.equal(outside.code, 0, outside.stderr);
	assert.match(outside.stdout, /not for tools/);
	assert.match((await call(['inside', 'path=docs/a.txt'])).stdout, /a document/);
});

test('by cleat call: what a sandboxed script starts is in it, too', async () => {
	if (!landlock)
		return;
	const file = configured({ nested: { sh: "sh -c 'env sh -c \"cat private.txt\"; setsid cat private.txt'; echo done", stderr: 'merge', sandbox: box } });
	const r = await byHand('call', [file], ['nested']);

	assert.equal(r.stdout.match(/Permission denied/g)?.length, 2, r.stdout + r.stderr);
	assert.doesNotMatch(r.stdout, /not for tools/);
});

test('a sandbox that cannot be had is an error with its place', async () => {
	if (!landlock)
		return;
	const file = configured({ t: { cmd: ['true'], sandbox: { read: ['./docs', './missing'] } } });
	const r = await runCleat(['serve', '--check', file]);

	assert.notEqual(r.code, 0);
	assert.match(r.stderr, /c\.json:1:\d+: tools\.t\.sandbox\.read.*missing: No such file or directory/);
});

test('a sandbox with words that nobody knows is an error', async () => {
	const file = configured({ t: { cmd: ['true'], sandbox: { raed: [] } } });
	const r = await runCleat(['serve', '--check', file]);

	assert.notEqual(r.code, 0);
	assert.match(r.stderr, /tools\.t\.sandbox.*raed/s);
});

test('cleat serve --probe says what is enforced', async () => {
	assert.equal(probe.code, 0, probe.stderr);
	assert.match(probe.stdout + probe.stderr, /Linux .*: Landlock (ABI \d+|not available)/);
	if (landlock)
		assert.match(probe.stdout + probe.stderr, /network +enforced/);
	assert.ok(fs.existsSync(cleat));
});

await run();
