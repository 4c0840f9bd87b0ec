// Where the results of `cleat` go and how they look: exact for programs, safe on a terminal, never half of a file.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { bad, cleat, fixture, hello, listen, place, run, terminal } from './lib/cli.mjs';
import { good } from './lib/expect.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const local = file => path.join(import.meta.dirname, 'lib', file);
const sum = ['--', hello, '--', 'add', 'a=2', 'b=40'];

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

test('structured content is shown where there is no other, and once where a text is the same', async () => {
	const call = result => good(['call', '--', process.execPath, local('exact_server.mjs'), JSON.stringify(result), '--', 'tool']);
	const text = text => ({ type: 'text', text }), pretty = '{\n  "a": 1,\n  "b": [\n    2\n  ]\n}\n', value = { a: 1, b: [2] };
	// In any order, with any blanks.
	for (const same of ['{"a":1,"b":[2]}', '\n{ "b": [ 2.0 ],\t"a": 1 }\n']) assert.equal(await call({ content: [text(same)], structuredContent: value }), pretty);
	assert.equal(await call({ content: [text('first'), text('{"b":[2],"a":1}'), text('last')], structuredContent: value }), `first\n${pretty}last\n`);
	assert.equal(await call({ content: [], structuredContent: value }), pretty);
	for (const other of ['a is 1', '{"a":1,"b":[3]}', '{"a":1}']) assert.equal(await call({ content: [text(other)], structuredContent: value }), `${other}\n`);
	// What FastMCP and others make of values that are no objects.
	for (const [result, said] of [[42, '42'], ['x y', 'x y'], [[1, 2], '[1, 2]'], [null, 'null']]) assert.equal(await call({ content: [text(said)], structuredContent: { result } }), `${said}\n`);
});

test('a large result comes whole; --max-size says how large one may be', async () => {
	const big = ['--', ...bad('big'), '--', 'tool'];
	assert.equal((await good(['call', ...big])).length, 20 * 1024 * 1024 + 1);
	const { code, stderr } = await run(['call', '--max-size', '1M', ...big]);
	assert.equal(code, 6);
	assert.match(stderr, /the server's answer is over 1048576 bytes \(--max-size\)/);
	for (const size of ['0', '2G', '5x', 'M', '', '-1', '1.5M']) assert.equal((await run(['ls', `--max-size=${size}`, '--', hello])).code, 2, size);
	for (const size of ['1g', '300K', '4096']) await good(['ls', '--max-size', size, '--', hello]);
});

test('remarks on a server that floods come to an end', async () => {
	const { code, stderr } = await run(['ls', '--', ...bad('floods')]);
	assert.equal(code, 0, stderr);
	const lines = stderr.trimEnd().split('\n');
	assert.equal(lines.length, 21);
	assert.equal(lines.at(-1), 'cleat: there are more remarks like these; -v shows all');
	assert.ok((await run(['ls', '-v', '--', ...bad('floods')])).stderr.split('\n').length > 200);
});

test('what a program says before it fails is shown once, though it is started twice', async () => {
	const dying = ['--', 'sh', '-c', 'echo first >&2; echo second >&2; exit 3'];
	const { code, stderr } = await run(['ls', ...dying]);
	assert.equal(code, 4);
	assert.match(stderr, /^\[server\] first\n\[server\] second\ncleat: sh exited with status 3, [\d.]+ s after it was started\n$/);
	assert.match((await run(['ls', '-q', ...dying])).stderr, /^cleat: sh exited with status 3.*; it said: second\n$/);
	// Another reason is said, too.
	const cwd = place(), script = 'echo first >&2; test -e started && echo other >&2; touch started; exit 3';
	assert.match((await run(['ls', '--', 'sh', '-c', script], { cwd })).stderr, /^\[server\] first\n\[server\] other\ncleat: /);
});

test('what a JSON-RPC error has besides its message is said', async () => {
	assert.equal((await run(['call', '--no-check', '--', ...bad('data'), '--', 'text'])).stderr, 'cleat: tools/call text: refused\n  for a reason\n');
	assert.equal((await run(['call', '--no-check', '--', ...bad('data'), '--', 'details'])).stderr, 'cleat: tools/call details: refused\n  one\n  two \\x1b[1m\n');
	assert.equal((await run(['call', '--no-check', '--', ...bad('data'), '--', 'object'])).stderr, 'cleat: tools/call object: refused\n  {"a":[1]}\n');
	const { error } = JSON.parse((await run(['call', '--json', '--no-check', '--', ...bad('data'), '--', 'object'])).stderr);
	assert.deepEqual([error.rpc, error.data], [-32099, { a: [1] }]);
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
