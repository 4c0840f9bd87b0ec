// rules_gate.mjs - who may come in: by what the request says of itself (Host, Origin, Sec-Fetch-Site), and by its
// token. Browsers are the attacker's tool here: a page that its visitor opens can send requests to servers on the
// visitor's machine. That the rules hold at every door, and follow the program's options; all that passes or
// not is in tests/unit/endpoint/test_policy.c and the transcripts of tests/wire.

import assert from 'node:assert/strict';
import { bearer, PAGE, TOKENS } from './ground.mjs';
import { call, initialize, modernPost, plainHeaders } from './raw.mjs';
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
	const post = (headers, server) =>
		ground.send('POST', '/mcp', { ...plainHeaders, ...headers }, { body: INITIALIZE, server });

	for (const headers of [
		{ Host: 'evil.example:3000' },
		{ Origin: 'https://evil.example' },
		{ Origin: 'null' },
		{ 'Sec-Fetch-Site': 'cross-site' }
	])
		test(`${JSON.stringify(headers)} is refused with 403 on every path and method`, () => knock(headers, {}, 403));

	test('what resembles the page that was allowed is refused with 403 on every path and method', async () => {
		for (const origin of ['https://app.example:444', 'https://app.example/', `${PAGE}, https://evil.example`])
			await knock({ Origin: origin, ...bearer('alice') }, { server: ground.web }, 403);
	});

	test('--allow-host lets one more name pass, and only that one', async () => {
		for (const [host, status] of [
			['MCP.example:443', 200],
			['localhost', 200],
			['x.mcp.example', 403]
		]) {
			const answer = await ground.send('GET', '/healthz', { Host: host }, { server: ground.web });
			assert.equal(answer.status, status, host);
		}
	});

	test('a page elsewhere cannot send what needs no preflight (text/plain, mode no-cors)', async () => {
		const plain = { 'Content-Type': 'text/plain;charset=UTF-8', Accept: '*/*' };
		assert.equal((await post({ ...plain, Origin: 'https://evil.example' })).status, 403);
		assert.equal((await post({ ...plain, 'Sec-Fetch-Site': 'cross-site' })).status, 403);
		assert.equal((await post(plain)).status, 415);
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
		const names = 'authorization,content-type,mcp-session-id';
		const asks = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': names };
		const answer = await ground.send('OPTIONS', '/mcp', { Origin: PAGE, ...asks }, { server: ground.web });
		const told = name => answer.headers[`access-control-${name}`];
		assert.deepEqual([answer.status, told('allow-origin'), told('allow-credentials')], [204, PAGE, undefined]);
		assert.match(answer.headers.vary, /origin/i);
		for (const method of ['POST', 'GET', 'DELETE']) assert.match(told('allow-methods'), new RegExp(method));
		for (const name of names.split(',')) assert.match(told('allow-headers'), new RegExp(name));
	});

	test('CORS: that page may read the answer and the session id, also of errors', async () => {
		for (const [headers, status] of [
			[bearer('alice'), 200],
			[{}, 401]
		]) {
			const answer = await post({ Origin: PAGE, ...headers }, ground.web);
			assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [status, PAGE]);
			assert.match(answer.headers['access-control-expose-headers'], /mcp-session-id/i);
		}
	});

	// ---- tokens -------------------------------------------------------------------------------

	test('token: without one everything but /healthz and OPTIONS is 401 with WWW-Authenticate', async () => {
		for (const [method, path, own, body] of [...DOORS, ['GET', '/metrics', {}]]) {
			const answer = await ground.send(method, path, own, { body, server: ground.guarded });
			const open = path === '/healthz' || method === 'OPTIONS';
			assert.equal(answer.status === 401, !open, `${method} ${path}: ${answer.status}`);
			if (!open) assert.match(answer.headers['www-authenticate'], /^Bearer\b/);
		}
	});

	test('token: a wrong one, a part of one, one in another place is 401', async () => {
		const right = TOKENS.alice;
		for (const authorization of [
			`Bearer ${right}x`,
			`Bearer ${right.slice(0, -1)}`,
			`Bearer ${right.toUpperCase()}`,
			'Bearer alice',
			'Bearer',
			right,
			`Basic ${Buffer.from(`alice:${right}`).toString('base64')}`,
			`Bearer ${right}, Bearer ${right}`
		])
			assert.equal((await post({ Authorization: authorization }, ground.guarded)).status, 401, authorization);
		const query = { server: ground.guarded, body: INITIALIZE };
		assert.equal((await ground.send('POST', `/mcp?access_token=${right}`, plainHeaders, query)).status, 401);
	});

	test('token: the right one says who it is, in both eras', async () => {
		for (const name of ['alice', 'bob', undefined]) {
			const [server, own] = name ? [ground.guarded, bearer(name)] : [ground.server, {}];
			const id = (await post(own, server)).headers['mcp-session-id'];
			const body = JSON.stringify(call(1, 'principal'));
			const headers = { ...plainHeaders, ...own, 'Mcp-Session-Id': id };
			for (const answer of [
				await ground.send('POST', '/mcp', headers, { server, body }),
				await ground.ask(modernPost(call(1, 'principal'), own), { server })
			])
				assert.equal(JSON.parse(answer.body).result.content[0].text, name ?? 'nobody');
		}
	});
}
