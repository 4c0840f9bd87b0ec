// `cleat record`, --record and `cleat replay`: what is written down is what was said, and plays back as the
// server and as the client.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { v1Http } from './lib/v1.mjs';
import { v2LegacyHttp, v2ModernHttp } from './lib/v2.mjs';
import { messages, recorder } from './lib/recorded.mjs';
import { cleat, example, fixture, heard, hello, listen, place, run, start } from './lib/cli.mjs';
import { expect } from './lib/expect.mjs';
import { NodeServer, everything, freePort, local } from './lib/node_server.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const read = (cwd, file = 's.ndjson') => fs.readFileSync(path.join(cwd, file), 'utf8').trim().split('\n').map(l => JSON.parse(l));

// ---- recording -------------------------------------------------------------------------------------

test('--save and --record make new files and follow no link; --force replaces', async () => {
	await expect(['call', '--force', '--record', '.', '--', hello, '--', 'add', 'a=2', 'b=40'], { code: 1, stderr: /cannot write \.: it is a directory$/m });
	const call = ['--', hello, '--', 'add', 'a=2', 'b=40'], picture = ['--', example('resources'), '--', 'pixel://1'];
	for (const [file, args, again] of [
		['s', ['call', '--record', 's', ...call], 1],
		['out/data-1.gif', ['read', '--save', 'out', ...picture], 1],
		['s', ['record', 's', '--', 'true'], 0] // in a client's configuration it is started again and again
	]) {
		const force = [args[0], '--force', ...args.slice(1)];
		const cwd = place({ 'mine': 'mine', 'out/x': '' }), at = path.join(cwd, file), mine = path.join(cwd, 'mine');
		const kept = () => assert.equal(fs.readFileSync(mine, 'utf8'), 'mine');
		await expect(args, {}, { cwd });
		await expect(args, { code: again, ...(again && { stderr: /cannot write \S+: it exists already; --force replaces it$/m }) }, { cwd });
		fs.rmSync(at);
		fs.symlinkSync(mine, at);
		await expect(args, { code: 1, stderr: /it is a link; --force puts a file in its place$/m }, { cwd });
		kept();
		await expect(force, {}, { cwd });
		kept();
		assert.ok(fs.lstatSync(at).isFile());
		fs.writeFileSync(at, 'other');
		await expect(args, { code: 1 }, { cwd });
		assert.equal(fs.readFileSync(at, 'utf8'), 'other');
		await expect(force, {}, { cwd });
		assert.notEqual(fs.readFileSync(at, 'utf8'), 'other');
	}
});

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
	await expect(['record', 's.ndjson', 'tcp://127.0.0.1:1'], { code: 2, stderr: /not an HTTP server/ }, { cwd });
	await expect(['record', '--http', '0', 's.ndjson', '--', hello], { code: 2, stderr: /--http/ }, { cwd });
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

// ---- recording a server at an address ---------------------------------------------------------------

for (const era of ['legacy', 'modern']) {
	test(`${era}: a client of a program speaks through the recorder to a server at an address`, async t => {
		const cwd = place(), url = await listen(t, fixture);
		const through = ['--', cleat, 'record', 's.ndjson', url, '--'];
		await expect(['call', '--era', era, ...through, 'echo', 'text=hi'], { stdout: 'hi\n', stderr: /^$/ }, { cwd });
		assert.deepEqual(read(cwd).map(l => l.dir + (l.msg.method ?? '')), era === 'modern' ? ['>server/discover', '<', '>tools/list', '<', '>tools/call', '<']
			: ['>initialize', '<', '>notifications/initialized', '>tools/list', '<', '>tools/call', '<']);
		assert.match((await run(['validate', 's.ndjson'], { cwd })).stdout, /all valid/);
		await expect(['replay', 's.ndjson', url], { stdout: /, 0 are different/ }, { cwd });
		// Questions, progress and log messages pass in both directions.
		const answers = ['--answer', 'name=Ann', '--answer', 'mail=ann@example.com', '--answer', 'age=30'];
		await expect(['call', '--era', era, ...answers, ...through, 'ask_profile'], { stdout: /^Ann <ann@example.com>/ }, { cwd });
		const logged = await expect(['call', '--era', era, '--log', 'debug', ...through, 'log_all'], {}, { cwd });
		assert.match(logged.stderr, /^\[emergency/m);
		await expect(['call', '--era', era, ...through, 'progress', 'steps=[1,2,3]', 'total=3'], {}, { cwd });
		assert.equal(read(cwd).filter(l => l.msg.method === 'notifications/progress').length, 3);
		await expect(['doctor', '--era', era, '--', cleat, 'record', 's.ndjson', url], { stdout: /^ok {7}messages/m }, { cwd });
	});

	test(`${era}: a TypeScript v2 server gets the headers that it wants${era === 'modern' ? ', and changes are heard of' : ''}`, async t => {
		const cwd = place(), server = t.use(await NodeServer.start(local('server_v2.mjs', 'http')));
		const { stdout } = await expect(['call', '--era', era, '--', cleat, 'record', 's.ndjson', server.url, '--', 'headers', 'region=größe', 'level=3'], {}, { cwd });
		const { headers } = JSON.parse(stdout);
		if (era === 'modern') assert.ok(Object.entries(headers).some(([name, value]) => name === 'mcp-param-level' && value === '3'), stdout);
		assert.equal(headers['mcp-protocol-version'], era === 'modern' ? '2026-07-28' : '2025-11-25');
		if (era === 'legacy') return; // it has no sessions then
		const watch = start(['watch', '--era', era, '--json', '--', cleat, 'record', '-q', 'w.ndjson', server.url, '--', 'test://watched'], { cwd, input: null });
		t.use({ end: async () => { watch.kill('SIGINT'); await watch.ended; return []; } });
		await within((async () => {
			while (!/test:\/\/watched/.test(watch.result.stdout))
				await run(['call', '-q', '--era', era, '--', cleat, 'record', '-q', 't.ndjson', server.url, '--', 'touch'], { cwd });
		})(), 'the change');
	});
}

test('what HTTP says instead of an answer is an error for the client, and a remark', async t => {
	const cwd = place(), ask = '{"jsonrpc":"2.0","id":"a","method":"tools/list"}\n{"jsonrpc":"2.0","method":"notifications/x"}\n';
	for (const [fault, text] of [['401', /401/], ['html', /without a response/], ['500', /500/], ['hangup', /./]]) {
		const server = t.use(await NodeServer.start(local('broken_server.mjs', 'http', fault)));
		const { stdout, stderr } = await expect(['record', 's.ndjson', server.url], {}, { cwd, input: ask });
		const [said, ...more] = stdout.trim().split('\n').map(l => JSON.parse(l));
		assert.deepEqual([said.id, more.length], ['a', 0]);
		assert.match(said.error.message, text);
		assert.match(stderr, text);
		assert.equal(read(cwd).length, 3);
		assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
	}
	const { stdout } = await expect(['record', '-q', 's.ndjson', `http://127.0.0.1:${await freePort()}/`], {}, { cwd, input: ask });
	assert.match(JSON.parse(stdout).error.message, /connect/i);
	// What is no JSON goes there as well, and comes back as the server answers it.
	const refused = await expect(['record', '-q', 's.ndjson', await listen(t)], {}, { cwd, input: 'no json\n' });
	assert.equal(JSON.parse(refused.stdout).error.code, -32700);
});

test('unix sockets, tokens and headers', async t => {
	const cwd = place({ tokens: 'me secret-of-mine-and-yours\n' });
	fs.chmodSync(path.join(cwd, 'tokens'), 0o600);
	const socket = await listen(t, hello, [], `unix:${cwd}/mcp.sock`);
	await expect(['call', '--', cleat, 'record', 's.ndjson', socket, '--', 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
	const url = await listen(t, hello, ['--token-file', path.join(cwd, 'tokens')]);
	await expect(['call', '--', cleat, 'record', '--bearer', 'secret-of-mine-and-yours', 's.ndjson', url, '--', 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
	const front = await recorder(t, url, '--header', 'Authorization: Bearer secret-of-mine-and-yours');
	await expect(['call', '--bearer', 'another', front.url, 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
	const plain = await recorder(t, url);
	await expect(['call', plain.url, 'add', 'a=2', 'b=40'], { code: 3, stderr: /401/ }, { cwd });
	await expect(['call', '--bearer', 'secret-of-mine-and-yours', plain.url, 'add', 'a=2', 'b=40'], { stdout: '42\n' }, { cwd });
});

for (const sdk of [v1Http, v2LegacyHttp, v2ModernHttp])
	test(`${sdk.name}: a client over HTTP speaks through the recorder, and the recording is the server for it`, async t => {
		const cwd = place(), url = await listen(t, fixture), front = await recorder(t, url);
		const use = async where => {
			const used = [];
			const s = await sdk.open({ url: where, server: { child: front.child, running: false } }, thing => used.push(thing));
			const said = [(await s.call('echo', { text: 'hi' })).content, (await s.client.listTools()).tools.length, (await s.client.readResource({ uri: (await s.client.listResources()).resources[0].uri })).contents.length];
			for (const thing of used) assert.deepEqual(await thing.end(), []);
			return said;
		};
		const first = await use(front.url);
		const found = messages(front.file).map(l => l.msg?.method).filter(Boolean);
		assert.ok(found.includes('tools/call') && found.includes(sdk.era === 'legacy' ? 'notifications/initialized' : 'server/discover'), found.join());
		assert.match((await run(['validate', front.file], { cwd })).stdout, /all valid/);
		await expect(['replay', front.file, url], { stdout: /, 0 are different/ }, { cwd });
		const mock = await replay(t, cwd, front.file);
		assert.deepEqual(await use(mock), first);
		assert.deepEqual(await use(mock), first);
	});

test('what passes by HTTP passes as it is: other paths, status, headers, streams that are cut', async t => {
	const { url, file } = await recorder(t, await listen(t));
	const elsewhere = await fetch(new URL('/.well-known/oauth-protected-resource', url));
	assert.equal(elsewhere.status, 404);
	await elsewhere.text();
	assert.equal((await fetch(url, { method: 'PATCH', body: 'x' })).status, 405);
	const bad = await fetch(url, { method: 'POST', body: '{', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' } });
	assert.equal(bad.status, 400);
	assert.equal((await bad.json()).error.code, -32700);
	assert.deepEqual(messages(file).slice(-2).map(l => l.text ?? l.msg.error.code), ['{', -32700]);
	for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }])
		assert.equal((await fetch(url, { method: 'POST', body: '{}', headers })).status, 403);
	const server = t.use(await NodeServer.start(local('broken_server.mjs', 'http', 'hangup')));
	const broken = await recorder(t, server.url);
	assert.equal((await fetch(broken.url, { method: 'POST', body: '{}' })).status, 502);
});

// ---- playing ---------------------------------------------------------------------------------------

/** The transcript as a server over HTTP: its URL. */
async function replay(t, cwd, file) {
	const child = start(['replay', '--http', '127.0.0.1:0', file], { cwd, input: null });
	t.use({ end: async () => {
		child.kill('SIGTERM');
		const { code, stderr } = await child.ended;
		return code === 143 && !/Sanitizer/.test(stderr) ? [] : [`replay ended with ${code}: ${stderr}`];
	} });
	return /http:\S+/.exec(await heard(child, /http:\S+/, 'stderr'))[0];
}

for (const era of ['legacy', 'modern']) {
	test(`${era}: over HTTP the transcript is the server, too`, async t => {
		const cwd = place(), options = ['-q', '--era', era];
		const answers = ['--answer', 'name=Ann', '--answer', 'mail=ann@example.com', '--answer', 'age=30'];
		await expect(['call', ...options, ...answers, '--record', 's.ndjson', '--', fixture, '--', 'ask_profile'], { stdout: /^Ann <ann@example.com>/ }, { cwd });
		const url = await replay(t, cwd, 's.ndjson');
		for (const how of [options, ['-q']]) // auto finds out
			await expect(['call', ...how, ...answers, url, 'ask_profile'], { stdout: /^Ann <ann@example.com>/ }, { cwd });
		await expect(['call', ...options, ...answers, url, 'ask_profile', 'a=1'], { code: 2 }, { cwd });
		await expect(['raw', ...options, url, 'prompts/get', 'name=x'], { code: 5, stdout: /-32601[^]*prompts\/get was not recorded/ }, { cwd });
		await expect(['call', ...options, '--record', 'p.ndjson', '--', fixture, '--', 'progress', 'steps=[1,2,3]', 'total=3'], {}, { cwd });
		const played = await expect(['call', '-v', '--era', era, await replay(t, cwd, 'p.ndjson'), 'progress', 'steps=[1,2,3]', 'total=3'], {}, { cwd });
		assert.equal(played.stderr.match(/^< .*notifications\/progress/gm).length, 3);
		assert.match((await run(['doctor', '--era', era, url], { cwd })).stdout, /^ok {7}messages/m);
	});

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

test('the mock over HTTP: paths, methods, sessions, batches, and addresses that it does not take', async t => {
	const line = (dir, msg) => JSON.stringify({ t: 0, dir, msg: { jsonrpc: '2.0', ...msg } });
	const cwd = place({ s: [line('>', { id: 7, method: 'x/y' }), line('<', { id: 7, result: { z: 1 } }), line('>', { id: 8, method: 'initialize' }), line('<', { id: 8, result: {} }),
		line('>', { method: 'notifications/initialized' }), line('<', { method: 'notifications/tools/list_changed' })].join('\n') });
	const url = await replay(t, cwd, 's');
	const post = (body, headers = {}) => fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers });
	const first = await post({ jsonrpc: '2.0', id: 1, method: 'initialize' });
	const session = { 'mcp-session-id': first.headers.get('mcp-session-id') };
	assert.deepEqual(await first.json(), { jsonrpc: '2.0', id: 1, result: {} });
	const stream = await fetch(url, { headers: session });
	assert.equal(stream.headers.get('content-type'), 'text/event-stream');
	assert.equal((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status, 202);
	const { value } = await within(stream.body.getReader().read(), 'the event');
	assert.match(Buffer.from(value).toString(), /^event: message\ndata: .*tools\/list_changed.*\n\n$/);
	assert.equal((await fetch(url)).status, 405);
	assert.equal((await fetch(url, { method: 'DELETE', headers: session })).status, 200);
	assert.equal((await fetch(url, { method: 'PUT' })).status, 405);
	assert.equal((await fetch(`${url}/other`)).status, 404);
	assert.equal((await post('{}', { 'mcp-session-id': 'another' })).status, 404);
	assert.equal((await post('{')).status, 400);
	const batch = await post([{ jsonrpc: '2.0', id: 'a', method: 'x/y' }, { jsonrpc: '2.0', id: 'b', method: 'ping' }, { jsonrpc: '2.0', method: 'n' }]);
	assert.deepEqual((await batch.json()).map(m => [m.id, m.result]), [['a', { z: 1 }], ['b', {}]]);
	for (const [address, code, stderr] of [['0.0.0.0:0', 2, /others can reach/], ['nonsense', 2, /address like/], ['127.0.0.1:', 2, /address like/], [new URL(url).host, 1, /in use/]])
		await expect(['replay', '--http', address, 's'], { code, stderr }, { cwd });
	await expect(['replay', '--http', '0', 's', '--', hello], { code: 2, stderr: /no SERVER/ }, { cwd });
});

test('requests that are none, in parts, and several at once', async t => {
	const cwd = place({ s: ['>', '<'].map((dir, i) => JSON.stringify({ t: 0, dir, msg: { jsonrpc: '2.0', id: 7, ...(i ? { result: {} } : { method: 'x' }) } })).join('\n') });
	const { port, pathname } = new URL(await replay(t, cwd, 's'));
	/** Sends the parts, one after the other (a pattern: when that was heard), and gives all that came until then or the end. */
	const talk = (parts, until) => within(new Promise((resolve, reject) => {
		let heard = '';
		const socket = net.connect(port, '127.0.0.1').setNoDelay().on('error', reject).on('close', () => resolve(heard));
		socket.on('data', chunk => (heard += chunk.latin1Slice(), until?.test(heard) && socket.destroy()));
		socket.on('connect', async () => {
			for (const part of parts) {
				while (part instanceof RegExp && !part.test(heard)) await once(socket, 'data');
				if (typeof part === 'string') await new Promise(sent => socket.write(part, () => setImmediate(sent)));
			}
		});
	}), JSON.stringify(parts).slice(0, 100));
	const host = 'Host: localhost\r\n', call = id => JSON.stringify({ jsonrpc: '2.0', id, method: 'x' });
	const post = id => `POST ${pathname} HTTP/1.1\r\n${host}Content-Length: ${call(id).length}\r\n\r\n${call(id)}`;
	for (const [status, bad] of [[501, 'GARBAGE\r\n\r\n'], [403, `POST http://x/ HTTP/1.1\r\n${host}\r\n`], [505, `GET / HTTP/2.0\r\n${host}\r\n`], [400, `GET / HTTP/1.1\r\n${host}no colon\r\n\r\n`],
		[400, `GET / HTTP/1.1\r\n folded: x\r\n${host}\r\n`], [400, `POST / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`], [413, `POST / HTTP/1.1\r\n${host}Content-Length: 99999999999\r\n\r\n`],
		[400, `POST / HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`], [400, `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
		[431, `GET / HTTP/1.1\r\n${host}${'a: b\r\n'.repeat(200)}\r\n`], [431, `GET /${'x'.repeat(70_000)} HTTP/1.1\r\n${host}\r\n`], [501, 'x'.repeat(70_000)], [400, 'GET /\0'], [400, 'GET / HTTP/1.1\r\n\r\n'],
		[403, `GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`], [403, `POST / HTTP/1.1\r\n${host}Origin: https://evil.example\r\nContent-Length: 1000000\r\n\r\nx`]])
		assert.equal(/^HTTP\/1\.1 (\d+)/.exec(await talk([bad]))?.[1], String(status), bad.slice(0, 60));
	assert.match(await talk([`POST ${pathname} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${call('z').length.toString(16)}\r\n${call('z')}\r\n0\r\n\r\n`], /"z"/), /^HTTP\/1\.1 200 /);
	assert.match(await talk([`GET /else HTTP/1.0\r\n${host}\r\n`]), /^HTTP\/1\.1 404 [^]*Connection: close/);
	const two = await talk([post('a') + post('b')], /"b"/);
	assert.deepEqual([...two.matchAll(/"id":"(.)"/g)].map(m => m[1]), ['a', 'b']);
	assert.match(await talk([...post('slow')], /"slow"/), /^HTTP\/1\.1 200 /);
	assert.match(await talk([post('c') + post('d').slice(0, 30), post('d').slice(30)], /"d"/), /"c"[^]*"d"/);
	assert.match(await talk([post('e').replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n').slice(0, -call('e').length), /Continue/, call('e')], /"e"/), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
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
