// Our server behind nginx, with the configuration that docs/guides/deploying.md recommends: TLS ends
// there, events pass through it unbuffered, and who hangs up there has hung up here.
//
// nginx is the machine's, or what scripts/setup has unpacked into .deps/: installing the package would start a
// web server on the machine.

import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { park, text, waits } from './lib/cases.mjs';
import { HttpServer } from './lib/http.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { findNginx, Nginx } from './lib/nginx.mjs';
import { call, exchange, modern, modernHeaders, modernPost, request, Socket } from './lib/raw.mjs';
import { run, test, within } from './lib/tap.mjs';
import { v1Http } from './lib/v1.mjs';
import { v2LegacyHttp, v2ModernHttp } from './lib/v2.mjs';

if (!findNginx()) {
	console.log('1..0 # SKIP there is no nginx (scripts/setup --for test)');
	process.exit();
}

const is = method => note => note.method === method;
const form = { elicitation: { form: {} } };

/** A server, nginx in front of it, and how an SDK reaches it. */
async function behind(t, options) {
	const server = t.use(await HttpServer.start(options));
	const nginx = t.use(
		await Nginx.start(server.urls[0].startsWith('unix:') ? server.url : `127.0.0.1:${server.port}`)
	);
	return { server, nginx, through: { server, url: nginx.url(), transport: { fetch: nginx.fetch } } };
}

for (const sdk of [v1Http, v2LegacyHttp]) {
	test(`${sdk.name}: a session, its calls, questions and changes pass nginx`, async t => {
		const { through } = await behind(t);
		const answers = {
			'elicitation/create': () => ({
				action: 'accept',
				content: { username: 'Ann', email: 'a@example.com' }
			})
		};
		const s = await t.open(sdk, { ...through, capabilities: form, answers });
		assert.match(s.transport.sessionId, /^[0-9a-f]{32}$/);
		assert.equal(text(await s.call('echo', { text: 'grüße' })), 'grüße');
		assert.match(text(await s.call('test_elicitation', { message: 'Who?' })), /Ann/);
		await s.call('grow');
		await s.notes.take(is('notifications/tools/list_changed'), 'tools/list_changed');
		const calls = Array.from({ length: 20 }, (_, i) => s.call('block', { text: `${i}` }));
		assert.deepEqual(
			(await Promise.all(calls)).map(text),
			calls.map((_, i) => `${i}`)
		);
	});

	test(`${sdk.name}: events pass nginx one by one, not when there are enough of them`, async t => {
		const { through, server } = await behind(t);
		const s = await t.open(sdk, through);
		const other = await t.open(sdk, { server }); // directly
		const { call: waiting } = await park(s, 'k', { onprogress() {} });
		for (const done of [1, 2, 3]) {
			await other.call('step', { key: 'k', done });
			await s.received.take(m => m.params?.progress === done, `step ${done}`);
			await waits(other, 'k', 'yes'); // and there is no answer yet
		}
		await other.call('release', { key: 'k' });
		assert.equal(text(await waiting), 'parked k');
	});

	test(`${sdk.name}: a call whose connection the server ends is found again through nginx`, async t => {
		const { through } = await behind(t);
		const s = await t.open(sdk, through);
		assert.equal(text(await s.call('test_reconnection')), 'Reconnection test completed');
	});
}

test(`${v2ModernHttp.name}: calls, headers and subscriptions pass nginx`, async t => {
	const { through } = await behind(t);
	const s = await t.open(v2ModernHttp, through);
	await s.client.listTools();
	assert.equal(JSON.parse(text(await s.call('headed', { region: 'Köln' }))).region, 'Köln');
	await s.client.listen({ toolsListChanged: true });
	await s.call('grow');
	await s.notes.take(is('notifications/tools/list_changed'), 'tools/list_changed');
});

test(`${v2ModernHttp.name}: who hangs up on nginx has cancelled the call`, async t => {
	const { through, server } = await behind(t);
	const s = await t.open(v2ModernHttp, through);
	const other = await t.open(v2ModernHttp, { server });
	for (const began of [false, true]) {
		const abort = new AbortController();
		const { call: waiting } = await park(
			s,
			'k',
			{ signal: abort.signal, onprogress() {} },
			'park_until_cancelled'
		);
		if (began) {
			await other.call('step', { key: 'k', done: 1 });
			await s.received.take(m => m.params?.progress === 1, 'progress');
		}
		abort.abort('enough');
		await assert.rejects(waiting);
		await waits(other, 'k', 'no');
	}
});

test('HTTP/2 to nginx: events come one by one', async t => {
	const { server, nginx } = await behind(t);
	const other = await t.open(v2ModernHttp, { server });
	const client = http2.connect(nginx.url(''), { ca: nginx.ca });
	t.use({ end: async () => (client.destroy(), []) });
	const whole = modern(call(1, 'park', { key: 'h2' }, { _meta: { progressToken: 1 } }));
	const stream = client.request({ ':method': 'POST', ':path': '/mcp', ...modernHeaders(whole) });
	let came = '';
	const ears = new Set();
	stream.setEncoding('utf8').on('data', chunk => {
		came += chunk;
		for (const ear of ears) ear();
	});
	const heard = word => within(new Promise(resolve => ears.add(() => came.includes(word) && resolve())), word);
	stream.end(JSON.stringify(whole));
	await waits(other, 'h2', 'yes');
	for (const done of [1, 2]) {
		const hearing = heard(`"step ${done}"`);
		await other.call('step', { key: 'h2', done });
		await hearing;
	}
	const hearing = heard('parked h2');
	await other.call('release', { key: 'h2' });
	await hearing;
	assert.equal(JSON.parse(came.trim().split('data: ').at(-1)).id, 1);
});

test('nginx keeps its connections to the server, and large bodies pass', async t => {
	const { nginx } = await behind(t);
	const socket = await Socket.open(nginx.secure);
	const big = 'x'.repeat(3_000_000);
	for (const word of ['a', big, 'b']) {
		await socket.write(modernPost(call(1, 'echo', { text: word }), { Host: 'localhost' }));
		const answer = await socket.answer();
		assert.equal(answer.status, 200);
		assert.ok(JSON.parse(answer.body).result.content[0].text === word);
	}
	socket.destroy();
});

test('what nginx does not let through: other names, other paths, what is too large', async t => {
	const { nginx } = await behind(t);
	const ask = (method, path, headers, body) => exchange(nginx.secure, request(method, path, headers, body));
	assert.equal((await ask('GET', '/healthz', { Host: 'localhost' })).status, 404);
	assert.equal((await ask('POST', '/mcp', { Host: 'localhost', 'Content-Length': 5_000_000 })).status, 413);
	assert.equal((await ask('GET', '/mcp', { Host: 'evil.example' })).status, 421);
	await assert.rejects(Socket.open({ ...nginx.secure, servername: 'evil.example' }));
});

test('what our server refuses, it refuses behind nginx as well: Origin, sessions', async t => {
	const { nginx } = await behind(t);
	const ask = (method, headers) =>
		exchange(nginx.secure, request(method, '/mcp', { Host: 'localhost', ...headers }));
	assert.equal((await ask('POST', { Origin: 'https://evil.example' })).status, 403);
	assert.equal(
		(await ask('GET', { Accept: 'text/event-stream', 'Mcp-Session-Id': '0'.repeat(32) })).status,
		404
	);
	assert.equal((await ask('PUT', {})).status, 405);
});

test('behind nginx over a socket file', async t => {
	const path = join(tmpdir(), `cleat-${process.pid}.sock`);
	const { nginx } = await behind(t, { listen: `unix:${path}` });
	const answer = await exchange(nginx.secure, modernPost(call(1, 'echo', { text: 'x' }), { Host: 'localhost' }));
	assert.equal(JSON.parse(answer.body).result.content[0].text, 'x');
});

leftoverCase();
await run();
