// `cleat record` before a server at an address: what passes by HTTP passes as it is, nobody is made to wait for
// another, nothing is kept that nobody takes, and whoever goes is noticed on the other side.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import net from 'node:net';
import { gzipSync } from 'node:zlib';
import { cleat, heard, place, run, start } from './lib/cli.mjs';
import { NodeServer, local } from './lib/node_server.mjs';
import { messages, recorder } from './lib/recorded.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';
import { v1Sse } from './lib/v1.mjs';

const MIB = 1 << 20;

/** A server of this process, which answers with `serve(request, response, body)`. */
async function upstream(t, serve, at = '/mcp') {
	const server = createServer(async (req, res) => {
		const parts = [];
		for await (const part of req) parts.push(part);
		serve(req, res, Buffer.concat(parts).toString());
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.use({ end: async () => { server.closeAllConnections(); await new Promise(done => server.close(done)); return []; } });
	return `http://127.0.0.1:${server.address().port}${at}`;
}

/** A request as it is: { status, headers, rawHeaders, body }. */
const ask = (url, options = {}, body = '') => within(new Promise((resolve, reject) => {
	request(url, options, async res => {
		const parts = [];
		try {
			for await (const part of res) parts.push(part);
			resolve({ status: res.statusCode, headers: res.headers, rawHeaders: res.rawHeaders, body: Buffer.concat(parts) });
		} catch (error) {
			reject(error);
		}
	}).on('error', reject).end(body);
}), `${options.method ?? 'GET'} ${url}`);

const call = (id, more = {}) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'x' }, ...more });
const result = id => JSON.stringify({ jsonrpc: '2.0', id, result: {} });

test('status, headers and bodies pass in both directions, but for what belongs to one connection', async t => {
	let seen;
	const url = await upstream(t, (req, res, body) => {
		seen = { method: req.method, url: req.url, headers: req.headers, body };
		if (req.url === '/moved') res.writeHead(307, { location: 'http://elsewhere.example/x' }).end('moved');
		else if (req.url === '/zip') res.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(gzipSync('unasked for'));
		else if (req.url === '/none') res.writeHead(204, { 'x-none': '1' }).end();
		else res.writeHead(418, 'Teapot', [['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['Connection', 'x-hop'], ['X-Hop', '1'], ['X-Kept', 'ü']].flat()).end('short and stout');
	});
	const front = await recorder(t, url);
	const tea = await ask(`${front.url}?q=%2F`, { method: 'PUT', headers: { 'x-mine': 'a, b', 'x-hop': '1', connection: 'x-hop', 'accept-encoding': 'gzip', authorization: 'Basic eA==', 'user-agent': 'me' } }, 'body');
	assert.deepEqual([seen.method, seen.url, seen.body], ['PUT', '/mcp?q=%2F', 'body']);
	const { 'x-mine': mine, 'x-hop': hop, 'accept-encoding': coding, authorization, 'user-agent': agent, host } = seen.headers;
	assert.deepEqual([mine, hop, coding, authorization, agent, host], ['a, b', undefined, undefined, 'Basic eA==', 'me', new URL(url).host]);
	assert.deepEqual([tea.status, String(tea.body), tea.headers['set-cookie'], tea.headers['x-hop'], tea.headers['x-kept']], [418, 'short and stout', ['a=1', 'b=2'], undefined, 'ü']);
	assert.equal(tea.rawHeaders.filter(name => name.toLowerCase() === 'date').length, 1);
	await ask(front.url, { method: 'POST' }, '{}');
	assert.equal(seen.headers['user-agent'], undefined); // nothing is added
	const moved = await ask(new URL('/moved', front.url));
	assert.deepEqual([moved.status, moved.headers.location, String(moved.body)], [307, 'http://elsewhere.example/x', 'moved']);
	const zip = await ask(new URL('/zip', front.url));
	assert.deepEqual([zip.headers['content-encoding'], zip.body], ['gzip', gzipSync('unasked for')]);
	const none = await ask(new URL('/none', front.url), { method: 'DELETE' });
	assert.deepEqual([none.status, none.headers['x-none'], none.body.length], [204, '1', 0]);
	const head = await ask(front.url, { method: 'HEAD' });
	assert.deepEqual([head.status, head.body.length], [418, 0]);
	const large = 'x'.repeat(20 * MIB);
	await ask(front.url, { method: 'POST' }, large);
	assert.equal(seen.body, large);
	assert.equal((await ask(front.url, { method: 'POST', headers: { 'content-length': 65 * MIB } })).status, 413);
});

test('many requests at once pass one recorder, and each gets its own answer', async t => {
	const waiting = [], ids = [...Array(20).keys()];
	const url = await upstream(t, (req, res, body) => {
		waiting.push({ res, id: JSON.parse(body).id });
		// None is answered before all are there; then the last one first.
		if (waiting.length === ids.length)
			for (const { res, id } of waiting.reverse())
				if (id % 2) res.writeHead(200, { 'content-type': 'application/json' }).end(result(id));
				else res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${result(id)}\n\n`);
	});
	const front = await recorder(t, url);
	const answers = await Promise.all(ids.map(id => ask(front.url, { method: 'POST' }, call(id))));
	assert.deepEqual(answers.map(a => JSON.parse(String(a.body).replace('data: ', '')).id), ids);
	const lines = messages(front.file);
	for (const dir of ['>', '<']) assert.deepEqual(lines.filter(l => l.dir === dir).map(l => l.msg.id).sort((a, b) => a - b), ids);
});

/** Sends `total` bytes in parts as fast as they are taken; `sent` says how many. */
function flood(res, part, total) {
	const state = { sent: 0 };
	const go = () => {
		while (state.sent < total && !res.destroyed) {
			state.sent += part.length;
			if (!res.write(part)) return;
		}
		res.end();
	};
	res.on('drain', go);
	go();
	return state;
}

/** Until it has not gone on for a while (or has all been sent): if it goes on later, less is seen, no more. */
async function stalled(state, total) {
	for (let before = -1; before !== state.sent && state.sent < total;) {
		before = state.sent;
		await new Promise(resolve => setTimeout(resolve, 500));
	}
	return state.sent;
}

test('a client that reads slowly gets a huge answer without the recorder keeping it', async t => {
	const total = 192 * MIB, part = Buffer.alloc(64 << 10, 'x');
	let state;
	const url = await upstream(t, (req, res) => {
		res.writeHead(200, { 'content-type': 'application/octet-stream' });
		state = flood(res, part, total);
	});
	const front = await recorder(t, url), { port, pathname } = new URL(front.url);
	let got = 0;
	const socket = net.connect(port, '127.0.0.1');
	await within(once(socket, 'connect'), 'the connection');
	socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
	await within((async () => { while (!state) await new Promise(setImmediate); })(), 'the request');
	// What the system's own buffers hold is not ours.
	assert.ok(await stalled(state, total) < 64 * MIB, `${state.sent} bytes were taken for a client that takes none`);
	socket.on('data', chunk => (got += chunk.length));
	await within(once(socket, 'close'), 'the end of the answer');
	assert.equal(state.sent, total);
	assert.ok(got > total);
});

test('a client on a pipe that reads nothing is not written to without end', async t => {
	const total = 320 * MIB, event = Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { x: 'x'.repeat(MIB) } })}\n\n`);
	let state;
	const url = await upstream(t, (req, res) => {
		res.writeHead(200, { 'content-type': 'text/event-stream' });
		state = flood(res, event, total);
	});
	const child = spawn(cleat, ['record', '-q', '/dev/null', url], { cwd: place(), stdio: ['pipe', 'pipe', 'ignore'] });
	t.use({ end: async () => { child.kill('SIGKILL'); return []; } });
	child.stdin.write(call(1) + '\n');
	await within((async () => { while (!state) await new Promise(setImmediate); })(), 'the request');
	assert.ok(await stalled(state, total) < 160 * MIB, `${state.sent} bytes were taken for a client that takes none`);
});

test('a client that goes away takes its request with it, before the answer and in the middle of it', async t => {
	for (const begun of [false, true]) {
		let opened, closed;
		const open = new Promise(resolve => (opened = resolve)), close = new Promise(resolve => (closed = resolve));
		const url = await upstream(t, (req, res) => {
			res.on('close', () => closed(res.writableFinished));
			if (begun) res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"jsonrpc":"2.0","method":"x"}\n\n');
			opened();
		});
		const front = await recorder(t, url);
		const client = request(front.url, { method: 'POST' }).on('error', () => {});
		const heard = once(client, 'response');
		client.end(call(1));
		await within(open, 'the request');
		if (begun) await within(heard.then(([res]) => once(res, 'data')), 'the beginning of the answer');
		else heard.catch(() => {});
		client.destroy();
		assert.equal(await within(close, 'the end of the request'), false);
		assert.equal(messages(front.file).length, begun ? 2 : 1);
	}
});

test('an answer that breaks off is recognisably not complete, and none is 502', async t => {
	const url = await upstream(t, (req, res) => {
		if (req.url === '/early') return res.destroy();
		res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"jsonrpc":"2.0","method":"x"}\n\n');
		res.write('data: {"jsonrpc"', () => res.destroy());
	});
	const front = await recorder(t, url);
	assert.equal((await ask(new URL('/early', front.url))).status, 502);
	await assert.rejects(ask(front.url, { method: 'POST' }, call(1)), /aborted|hang up|reset/i);
	// What is complete is written down.
	assert.deepEqual(messages(front.file).map(l => l.dir + (l.msg.method ?? '')), ['>tools/call', '<x']);
	assert.equal((await ask(new URL('/early', front.url))).status, 502); // and it goes on
});

// ---- HTTP+SSE ----------------------------------------------------------------------------------------

/** `cleat` with a server of that kind, by its name in a configuration. */
const old = (url, verb, ...args) => run([verb, '--config', 'c.json', 's', ...args], { cwd: place({ 'c.json': JSON.stringify({ mcpServers: { s: { type: 'sse', url } } }) }) });

test('clients of HTTP+SSE (2024-11-05) speak through the recorder', async t => {
	const server = t.use(await NodeServer.start(local('server_v1.mjs', 'sse')));
	const front = await recorder(t, server.url);
	const s = await v1Sse.open({ url: front.url, server: { child: front.child, running: false } }, t.use);
	assert.equal((await s.call('echo', { text: 'hi' })).content[0].text, 'hi');
	await s.client.listTools();
	const lines = messages(front.file);
	assert.deepEqual(lines.filter(l => l.msg?.method).map(l => l.msg.method), ['initialize', 'notifications/initialized', 'tools/call', 'tools/list']);
	assert.equal(lines.filter(l => l.dir === '<' && l.msg?.result).length, 3);
	assert.ok(lines.every(l => l.msg), 'only messages are written down');
	const { code, stdout } = await old(front.url, 'call', 'echo', 'text=again');
	assert.deepEqual([code, stdout], [0, 'again\n']);
	// A configuration that says so is taken as well; a client on a pipe does not speak it.
	const cwd = place({ 'c.json': JSON.stringify({ mcpServers: { s: { type: 'sse', url: server.url } } }) });
	const refused = await run(['record', '--config', 'c.json', 's.ndjson', 's'], { cwd });
	assert.equal(refused.code, 2);
	assert.match(refused.stderr, /--http/);
	const child = start(['record', '--http', '127.0.0.1:0', '--config', 'c.json', 's.ndjson', 's'], { cwd, input: null });
	t.use({ end: async () => { child.kill(); await child.ended; return []; } });
	const again = await old(/http:\S+/.exec(await heard(child, /http:\S+/, 'stderr'))[0], 'call', 'echo', 'text=more');
	assert.deepEqual([again.code, again.stdout], [0, 'more\n']);
});

test('an absolute address for messages leads through the recorder, too', async t => {
	let stream;
	const posted = [];
	const url = await upstream(t, (req, res, body) => {
		if (req.method === 'GET') {
			stream = res.writeHead(200, { 'content-type': 'text/event-stream' });
			return stream.write(`event: endpoint\ndata: http://${req.headers.host}/messages?session=1\n\n`);
		}
		posted.push(req.url);
		res.writeHead(202).end('Accepted');
		const { id, method } = JSON.parse(body);
		if (method === 'initialize') stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'x', version: '1' } } })}\n\n`);
		else if (id !== undefined) stream.write(`event: message\ndata: ${result(id)}\n\n`);
	}, '/sse');
	const front = await recorder(t, url);
	const { code, stderr } = await old(front.url, 'raw', 'ping');
	assert.equal(code, 0, stderr);
	assert.ok(posted.length >= 3 && posted.every(at => at === '/messages?session=1'), posted.join());
	assert.deepEqual(messages(front.file).filter(l => l.dir === '>').map(l => l.msg.method).slice(0, 2), ['initialize', 'notifications/initialized']);
});

await runCases();
