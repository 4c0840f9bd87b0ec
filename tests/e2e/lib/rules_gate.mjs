// rules_gate.mjs - who may come in, by what the request says of itself: Host, Origin, Sec-Fetch-Site,
// Content-Type, Accept, method, path. Browsers are the attacker's tool here: a page that its visitor
// opens can send requests to servers on the visitor's machine.

import assert from 'node:assert/strict';
import { bearer, PAGE } from './ground.mjs';
import { initialize, plainHeaders } from './raw.mjs';
import { test } from './tap.mjs';

const INITIALIZE = JSON.stringify(initialize(1));
const EVENTS = { Accept: 'text/event-stream' };

// Everything that can be asked for: none of it is outside of the gate.
const DOORS = [
	['POST', '/mcp', plainHeaders, INITIALIZE],
	['GET', '/mcp', EVENTS],
	['DELETE', '/mcp', { 'Mcp-Session-Id': '0'.repeat(32) }],
	['OPTIONS', '/mcp', { 'Access-Control-Request-Method': 'POST' }],
	['GET', '/sse', EVENTS],
	['POST', '/messages?sessionId=0', plainHeaders, INITIALIZE],
	['GET', '/healthz', {}],
	['HEAD', '/healthz', {}],
	['GET', '/nothing', {}],
	['PUT', '/mcp', {}]
];

const corsOf = ({ headers }) =>
	Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

export function gateCases(ground) {
	const knock = async (headers, options, wanted) => {
		for (const [method, path, own, body] of DOORS) {
			const answer = await ground.send(method, path, { ...own, ...headers }, { body, ...options });
			assert.equal(answer.status, wanted, `${method} ${path} ${JSON.stringify(headers)}`);
			assert.equal(answer.headers['mcp-session-id'], undefined);
			assert.deepEqual(corsOf(answer), {});
		}
	};

	// ---- Host ---------------------------------------------------------------------------------

	test('Host: another name is refused with 403 on every path and method', () =>
		knock({ Host: 'evil.example:3000' }, {}, 403));

	test('Host: names of this machine pass, with any port', async () => {
		for (const host of ['127.0.0.1', '127.0.0.1:80', 'localhost', 'LocalHost:1234', '[::1]', '[::1]:8080'])
			assert.equal((await ground.send('GET', '/healthz', { Host: host })).status, 200, host);
	});

	test('Host: what only looks like this machine is refused', async () => {
		for (const host of [
			'localhost.evil.example',
			'127.0.0.1.evil.example',
			'evil-localhost',
			'localhost.evil.example:80',
			'0.0.0.0',
			'10.0.0.1',
			'169.254.169.254',
			'[::2]',
			'128.0.0.1',
			''
		])
			assert.equal((await ground.send('GET', '/healthz', { Host: host })).status, 403, host);
	});

	test('Host: what is none, none at all, or two are refused with 400, and the connection is closed', async () => {
		for (const host of [
			'localhost@evil.example',
			'localhost:80:80',
			'localhost:99999',
			'a b',
			'127.1',
			'[::1',
			'x/y'
		])
			await ground.refuses(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400, host);
		await ground.refuses('GET /healthz HTTP/1.1\r\n\r\n', 400, 'no Host');
		await ground.refuses(
			'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
			400,
			'two Hosts'
		);
	});

	test('Host: a target that names another host is refused', async () => {
		const hosts = 'Host: 127.0.0.1\r\n\r\n';
		await ground.refuses(`GET http://evil.example/healthz HTTP/1.1\r\n${hosts}`, 400, 'absolute target');
		await ground.refuses(`CONNECT evil.example:443 HTTP/1.1\r\n${hosts}`, 501, 'CONNECT');
	});

	test('Host: --allow-host lets one more name pass, and only that one', async () => {
		const server = ground.web;
		for (const [host, status] of [
			['mcp.example', 200],
			['MCP.example:443', 200],
			['localhost', 200],
			['x.mcp.example', 403],
			['mcp.example.evil', 403]
		])
			assert.equal((await ground.send('GET', '/healthz', { Host: host }, { server })).status, status, host);
	});

	// ---- Origin -------------------------------------------------------------------------------

	for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', 'file://', 'localhost'])
		test(`Origin: ${origin} is refused with 403 on every path and method`, () =>
			knock({ Origin: origin }, {}, 403));

	test('Origin: two of them are refused', async () => {
		const headers = [
			['Origin', 'http://localhost'],
			['Origin', 'https://evil.example']
		];
		const { status } = await ground.send('GET', '/healthz', headers);
		assert.ok(status === 403 || status === 400, String(status));
	});

	test("Origin: pages of this machine pass, whatever their port, and are told of no one else's", async () => {
		for (const origin of [
			'http://localhost:6274',
			'http://127.0.0.1:9999',
			'https://localhost',
			'http://[::1]:1'
		]) {
			const answer = await ground.send(
				'POST',
				'/mcp',
				{ ...plainHeaders, Origin: origin },
				{ body: INITIALIZE }
			);
			assert.equal(answer.status, 200, origin);
			assert.equal(answer.headers['access-control-allow-origin'] ?? origin, origin);
		}
	});

	test('Sec-Fetch-Site: what another site makes a browser send is refused', async () => {
		await knock({ 'Sec-Fetch-Site': 'cross-site' }, {}, 403);
		for (const site of ['none', 'same-origin'])
			assert.equal((await ground.send('GET', '/healthz', { 'Sec-Fetch-Site': site })).status, 200, site);
	});

	test('a page elsewhere cannot send what needs no preflight (text/plain, mode no-cors)', async () => {
		const headers = { 'Content-Type': 'text/plain;charset=UTF-8', Accept: '*/*' };
		const page = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
		const sent = more => ground.send('POST', '/mcp', { ...headers, ...more }, { body: INITIALIZE });
		assert.equal((await sent(page)).status, 403);
		assert.equal((await sent({ 'Sec-Fetch-Site': 'cross-site' })).status, 403);
		assert.equal((await sent({})).status, 415);
	});

	// ---- CORS ---------------------------------------------------------------------------------

	test('CORS: without an Origin there is no word of it', async () => {
		for (const server of [ground.server, ground.web])
			for (const [method, path, own, body] of DOORS) {
				const answer = await ground.send(method, path, own, { body, server, head: true }); // no more: some are streams
				assert.deepEqual(corsOf(answer), {}, `${method} ${path}`);
			}
	});

	test('CORS: the preflight of a page that was allowed, also where a token is needed', async () => {
		const answer = await ground.send(
			'OPTIONS',
			'/mcp',
			{
				Origin: PAGE,
				'Access-Control-Request-Method': 'POST',
				'Access-Control-Request-Headers': 'authorization,content-type,mcp-session-id'
			},
			{ server: ground.web }
		);
		assert.equal(answer.status, 204);
		assert.equal(answer.headers['access-control-allow-origin'], PAGE);
		assert.match(answer.headers.vary, /origin/i);
		for (const method of ['POST', 'GET', 'DELETE'])
			assert.match(answer.headers['access-control-allow-methods'], new RegExp(method));
		for (const name of ['authorization', 'content-type', 'mcp-session-id'])
			assert.match(answer.headers['access-control-allow-headers'], new RegExp(name));
		assert.equal(answer.headers['access-control-allow-credentials'], undefined);
	});

	test('CORS: that page may read the answer and the session id, also of errors', async () => {
		const post = headers =>
			ground.send(
				'POST',
				'/mcp',
				{ ...plainHeaders, Origin: PAGE, ...headers },
				{ body: INITIALIZE, server: ground.web }
			);
		for (const [headers, status] of [
			[bearer('alice'), 200],
			[{}, 401]
		]) {
			const answer = await post(headers);
			assert.equal(answer.status, status);
			assert.equal(answer.headers['access-control-allow-origin'], PAGE);
			assert.match(answer.headers['access-control-expose-headers'], /mcp-session-id/i);
		}
	});

	test('CORS: what resembles the page that was allowed is not', async () => {
		for (const origin of [
			'http://app.example',
			'https://app.example:444',
			'https://app.example.evil.com',
			'https://evilapp.example',
			'https://app.example/',
			'https://sub.app.example',
			`${PAGE}, https://evil.example`
		])
			await knock({ Origin: origin, ...bearer('alice') }, { server: ground.web }, 403);
	});

	// ---- what is said -------------------------------------------------------------------------

	test('Content-Type: anything but application/json is 415, on /mcp and /messages', async () => {
		for (const path of ['/mcp', '/messages?sessionId=0'])
			for (const type of [
				'text/plain',
				'application/x-www-form-urlencoded',
				'multipart/form-data; boundary=x',
				'application/jsonp',
				'application/json-rpc',
				'text/json',
				'text/plain, application/json',
				'',
				null
			]) {
				const answer = await ground.send(
					'POST',
					path,
					{ ...plainHeaders, 'Content-Type': type },
					{ body: INITIALIZE }
				);
				assert.equal(answer.status, 415, `${path} ${type}`);
			}
	});

	test('Content-Type: parameters and case do not matter; two of them do', async () => {
		const post = headers => ground.send('POST', '/mcp', [['Accept', '*/*'], ...headers], { body: INITIALIZE });
		assert.equal((await post([['Content-Type', 'Application/JSON; charset=utf-8']])).status, 200);
		const two = [
			['Content-Type', 'application/json'],
			['Content-Type', 'text/plain']
		];
		assert.equal((await post(two)).status, 415);
	});

	test('Accept: a client that takes neither JSON nor events is told so (406)', async () => {
		const post = Accept => ground.send('POST', '/mcp', { ...plainHeaders, Accept }, { body: INITIALIZE });
		for (const accept of ['text/html', 'image/*', 'application/json;q=0, text/event-stream;q=0'])
			assert.equal((await post(accept)).status, 406, accept);
		for (const accept of ['application/json', 'text/event-stream', '*/*', 'application/*, text/*'])
			assert.equal((await post(accept)).status, 200, accept);
		for (const path of ['/mcp', '/sse'])
			assert.equal((await ground.send('GET', path, { Accept: 'application/json' })).status, 406, path);
	});

	test('methods: others are 405 with Allow, unknown ones 501', async () => {
		for (const [path, methods, allow] of [
			['/mcp', ['PUT', 'PATCH', 'HEAD', 'TRACE'], ['POST', 'GET', 'DELETE']],
			['/sse', ['POST', 'DELETE', 'PUT'], ['GET']],
			['/messages', ['GET', 'DELETE'], ['POST']],
			['/healthz', ['POST', 'DELETE'], ['GET', 'HEAD']]
		])
			for (const method of methods) {
				const answer = await ground.send(method, path, plainHeaders);
				assert.equal(answer.status, 405, `${method} ${path}`);
				assert.deepEqual(answer.headers.allow.split(', ').sort(), allow.sort(), `${method} ${path}`);
			}
		await ground.refuses('BREW /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n', 501, 'BREW');
	});

	test('methods: 2026-07-28 has neither GET nor DELETE', async () => {
		for (const method of ['GET', 'DELETE']) {
			const answer = await ground.send(method, '/mcp', { ...EVENTS, 'MCP-Protocol-Version': '2026-07-28' });
			assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST']);
		}
	});

	test('paths: what is not the endpoint, to the letter, is 404, and nobody is sent elsewhere', async () => {
		for (const path of [
			'/',
			'/mcp/',
			'//evil.example/mcp',
			'/mcp/../mcp',
			'/./mcp',
			'/MCP',
			'/mcp%2f',
			'/%6dcp',
			'/mcp;x',
			'/mcpx'
		]) {
			const answer = await ground.send('POST', path, plainHeaders, { body: INITIALIZE });
			assert.equal(answer.status, 404, path);
			assert.equal(answer.headers.location, undefined);
		}
	});

	test('/healthz says ok, and to HEAD the same without a body', async () => {
		const get = await ground.send('GET', '/healthz');
		assert.deepEqual([get.status, get.body], [200, 'ok\n']);
		const head = await ground.send('HEAD', '/healthz');
		assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '3', '']);
	});
}
