// `cleat record`, --record and `cleat replay`: what is written down is what was said, and plays back as the
// server and as the client.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { build, cleat, fixture, hello, heard, listen, place, run, start } from './lib/cli.mjs';
import { NodeServer, freePort, packaged } from './lib/node_server.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const example = name => path.join(build, 'examples', name);
const everything = how => packaged('@modelcontextprotocol/server-everything', 'dist/index.js', how);
const read = (cwd, file = 's.ndjson') => fs.readFileSync(path.join(cwd, file), 'utf8').trim().split('\n').map(l => JSON.parse(l));

async function expect(args, { code = 0, stdout, stderr }, options) {
	const result = await run(args, options);
	assert.equal(result.code, code, `${args.join(' ')}: ${result.code} ${result.stdout} ${result.stderr}`);
	if (typeof stdout === 'string') assert.equal(result.stdout, stdout);
	else if (stdout) assert.match(result.stdout, stdout);
	if (stderr) assert.match(result.stderr, stderr);
	return result;
}

// ---- recording -------------------------------------------------------------------------------------

test('record passes bytes through as they are and writes each message', async () => {
	const cwd = place();
	const input = '{"jsonrpc": "2.0",  "id": 1, "method": "ping"}\nno json \u00e9\n{"jsonrpc":"2.0","id":"x","method":"nope/x"}';
	const { stdout } = await expect(['record', 's.ndjson', '--', hello], {}, { cwd, input });
	assert.equal(stdout.trim().split('\n').length, 3);
	const lines = read(cwd);
	assert.deepEqual(lines.filter(l => l.dir === '>').map(l => l.msg ?? l.text), [
		{ jsonrpc: '2.0', id: 1, method: 'ping' }, 'no json \u00e9', { jsonrpc: '2.0', id: 'x', method: 'nope/x' }]);
	assert.deepEqual(lines.filter(l => l.dir === '<').map(l => JSON.stringify(l.msg)).join('\n'), stdout.trim());
	assert.ok(lines.every((l, i) => l.t >= (lines[i - 1]?.t ?? 0)));
	assert.equal(fs.statSync(path.join(cwd, 's.ndjson')).mode & 0o777, 0o600);
});

test('record passes a large message through, in both directions', async () => {
	const cwd = place(), text = 'x'.repeat(3_000_000);
	const ask = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text } } };
	const hi = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } };
	const input = [hi, { jsonrpc: '2.0', method: 'notifications/initialized' }, ask].map(m => JSON.stringify(m) + '\n').join('');
	const { stdout } = await expect(['record', '-q', 's.ndjson', '--', fixture], {}, { cwd, input });
	assert.equal(JSON.parse(stdout.trim().split('\n').at(-1)).result.content[0].text, text);
	assert.equal(read(cwd).at(-1).msg.result.content[0].text, text);
});

test('record ends with its server, ends its server, and says when there is none', async () => {
	const cwd = place();
	await expect(['record', 's.ndjson', '--', '/no/such/program'], { code: 4, stderr: /cannot start/ }, { cwd });
	await expect(['record', 's.ndjson', '--', 'true'], {}, { cwd });
	await expect(['record', 's.ndjson', 'http://127.0.0.1:1/mcp'], { code: 2, stderr: /--record FILE/ }, { cwd });
	await expect(['record'], { code: 2 }, { cwd });
	await expect(['record', 'no/such/directory/s', '--', hello], { code: 1, stderr: /cannot write/ }, { cwd });
	const child = start(['record', 's.ndjson', '--', 'sh', '-c', 'echo $$ >&2; exec sleep 600'], { cwd, input: null });
	const pid = Number(/\d+/.exec(await heard(child, /\d+\n/, 'stderr'))[0]);
	child.kill('SIGKILL');
	await within(child.ended, 'the end');
	await within((async () => {
		for (;;) {
			try {
				process.kill(pid, 0);
			} catch {
				return;
			}
			await new Promise(resolve => setTimeout(resolve, 20));
		}
	})(), 'the end of the program');
});

test('a client speaks through the recorder', async () => {
	const cwd = place();
	for (const era of ['legacy', 'modern']) {
		await expect(['call', '-q', '--era', era, '--', cleat, 'record', 's.ndjson', hello, '--', 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
		const methods = read(cwd).map(l => l.msg.method).filter(Boolean);
		assert.deepEqual(methods, era === 'legacy' ? ['initialize', 'notifications/initialized', 'tools/list', 'tools/call'] : ['server/discover', 'tools/list', 'tools/call']);
	}
});

// ---- playing ---------------------------------------------------------------------------------------

for (const era of ['legacy', 'modern']) {
	test(`${era}: --record over HTTP, then the transcript is the server`, async t => {
		const cwd = place(), url = await listen(t);
		await expect(['call', '--era', era, '--record', 's.ndjson', url, 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
		const mock = ['--', cleat, 'replay', 's.ndjson'];
		await expect(['call', '-q', ...mock, '--', 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
		await expect(['call', '-q', '--era', era, ...mock, '--', 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
		await expect(['call', '-q', ...mock, '--', 'add', 'a=2', 'b=41'], { code: 5, stderr: /tools\/call was not recorded with these params/ }, { cwd });
		await expect(['raw', '-q', ...mock, '--', 'prompts/get', 'name=x'], { code: 5, stdout: /-32601[^]*prompts\/get was not recorded/ }, { cwd });
		// The same twice is answered twice.
		await expect(['shell', '-q', ...mock], { stdout: '42\n42\n' }, { cwd, input: 'call add a=2 b=40\ncall add a=2 b=40\n' });
	});

	test(`${era}: questions, progress and log messages come again where they came`, async () => {
		const cwd = place();
		const answers = ['--answer', 'name=Ann', '--answer', 'mail=ann@example.com', '--answer', 'age=30'];
		const options = ['-q', '--era', era];
		await expect(['call', ...options, ...answers, '--record', 's.ndjson', '--', fixture, '--', 'ask_profile'], { stdout: /^Ann <ann@example.com>/ }, { cwd });
		await expect(['call', ...options, ...answers, '--', cleat, 'replay', 's.ndjson', '--', 'ask_profile'], { stdout: /^Ann <ann@example.com>/ }, { cwd });
		await expect(['replay', 's.ndjson', '--', fixture], { stdout: /0 are different/ }, { cwd });
		await expect(['call', ...options, '--log', 'debug', '--record', 'l.ndjson', '--', fixture, '--', 'log_all'], {}, { cwd });
		const { stderr } = await expect(['call', '--era', era, '--log', 'debug', '--', cleat, 'replay', 'l.ndjson', '--', 'log_all'], {}, { cwd });
		assert.match(stderr, /^\[emergency/m);
		await expect(['call', ...options, '--record', 'p.ndjson', '--', fixture, '--', 'progress', 'steps=[1,2,3]', 'total=3'], {}, { cwd });
		const played = await expect(['call', '-v', '--era', era, '--', cleat, 'replay', 'p.ndjson', '--', 'progress', 'steps=[1,2,3]', 'total=3'], {}, { cwd });
		assert.equal(played.stderr.match(/^< .*notifications\/progress/gm).length, 3);
	});

	test(`${era}: the same requests to a server: what is different is said, with exit code 7`, async t => {
		const cwd = place(), url = await listen(t);
		await expect(['call', '--era', era, '--record', 's.ndjson', url, 'add', 'a=2', 'b=40'], {}, { cwd });
		await expect(['replay', 's.ndjson', '--', hello], { stdout: /^3 answers are the same, 0 are different\n$/ }, { cwd });
		await expect(['replay', 's.ndjson', url], { stdout: /^3 answers are the same/ }, { cwd });
		const file = path.join(cwd, 's.ndjson');
		fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"text":"42"', '"text":"43"'));
		await expect(['replay', 's.ndjson', '--', hello], { code: 7, stdout: /^different: tools\/call add\n  \/content\/0\/text: recorded "43", now "42"\n2 answers are the same, 1 is different\n$/ }, { cwd });
		await expect(['replay', '--ignore', 'text', 's.ndjson', '--', hello], { code: 0 }, { cwd });
		const { stdout } = await expect(['replay', '--json', 's.ndjson', url], { code: 7 }, { cwd });
		assert.deepEqual(JSON.parse(stdout).different, [{ request: 'tools/call add', differences: [{ path: '/content/0/text', recorded: '43', now: '42' }] }]);
		await expect(['replay', 's.ndjson', '--', example('resources')], { code: 7, stdout: /different: tools\/call add/ }, { cwd });
	});
}

test('the reference server, recorded by the recorder and over HTTP, plays back and compares', async t => {
	const cwd = place(), port = await freePort();
	const { url } = t.use(await NodeServer.start(everything('streamableHttp'), { env: { PORT: port }, ready: /listening on port/, port }));
	const script = 'call get-sum a=2 b=40\nprompt args-prompt city=Oslo\nread demo://resource/static/document/features.md -o f.md\n';
	const config = { mcpServers: { e: { command: everything('stdio')[0], args: everything('stdio').slice(1) } } };
	fs.writeFileSync(path.join(cwd, 'c.json'), JSON.stringify(config));
	const first = await expect(['shell', '-q', '--', cleat, 'record', '--config', 'c.json', 's.ndjson', 'e'], { stdout: /42[^]*weather in Oslo/ }, { cwd, input: script });
	const again = await expect(['shell', '-q', '--', cleat, 'replay', 's.ndjson'], {}, { cwd, input: script });
	assert.equal(again.stdout, first.stdout);
	await expect(['shell', '-q', '--record', 'h.ndjson', url], { stdout: first.stdout }, { cwd, input: script });
	await expect(['replay', '-q', 's.ndjson', '--', ...everything('stdio')], { stdout: /, 0 are different/ }, { cwd });
	await expect(['replay', '-q', 'h.ndjson', url], { stdout: /, 0 are different/ }, { cwd });
});

test('what is no transcript is refused, with the line', async () => {
	const cwd = place({ 'a': '{"t":0,"dir":">","msg":{}}\nnonsense\n', 'b': '{"x":1}\n', 'c': '' });
	await expect(['replay', 'a'], { code: 2, stderr: /a, line 2:/ }, { cwd });
	await expect(['replay', 'b'], { code: 2, stderr: /b, line 1: .*"dir"/ }, { cwd });
	await expect(['replay', 'c'], { code: 2, stderr: /no messages/ }, { cwd });
	await expect(['replay', 'd'], { code: 2, stderr: /cannot read d/ }, { cwd });
	await expect(['replay'], { code: 2 }, { cwd });
});

test('the mock answers what is no message, and a batch', async () => {
	const cwd = place({ 's': [{ t: 0, dir: '>', msg: { jsonrpc: '2.0', id: 7, method: 'x/y', params: { _meta: { progressToken: 1 } } } },
		{ t: 1, dir: '<', msg: { jsonrpc: '2.0', id: 7, result: { z: 1 } } },
		{ t: 2, dir: '>', msg: { jsonrpc: '2.0', id: 8, method: 'x/z' } }].map(l => JSON.stringify(l)).join('\n') });
	const input = ['{', '[{"jsonrpc":"2.0","id":"a","method":"x/y"},{"jsonrpc":"2.0","method":"n"}]', '5', '{"jsonrpc":"2.0","id":1,"method":"x/z"}', '{"jsonrpc":"2.0","id":2,"method":"ping"}', ''].join('\n');
	const { stdout } = await expect(['replay', 's'], {}, { cwd, input });
	const said = stdout.trim().split('\n').map(l => JSON.parse(l));
	assert.equal(said[0].error.code, -32700);
	assert.deepEqual(said[1], { jsonrpc: '2.0', id: 'a', result: { z: 1 } });
	assert.equal(said[2].error.code, -32600);
	assert.match(said[3].error.message, /ends before the answer/);
	assert.deepEqual(said[4], { jsonrpc: '2.0', id: 2, result: {} });
});

await runCases();
