// rules_messages.mjs - which status a message gets that is wrong: headers that do not say what it says
// (-32020), revisions, capabilities, unknown methods, batches.

import assert from 'node:assert/strict';
import {
	call,
	MODERN,
	modern,
	modernHeaders,
	modernPost,
	plainHeaders,
	RawSession,
	request,
	rpc
} from './raw.mjs';
import { test } from './tap.mjs';

const META = 'io.modelcontextprotocol/';
const base64 = text => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const echo = call(1, 'echo', { text: 'x' });
const headed = args => call(1, 'headed', args);

// [what, message, headers, accepted]
const HEADERS = [
	['as it should be', echo, {}, true],
	['encoded without need', echo, { 'Mcp-Name': base64('echo') }, true],
	['no MCP-Protocol-Version', echo, { 'MCP-Protocol-Version': null }],
	['another MCP-Protocol-Version', echo, { 'MCP-Protocol-Version': '2025-11-25' }],
	['a later MCP-Protocol-Version', echo, { 'MCP-Protocol-Version': '2099-01-01' }],
	['no Mcp-Method', echo, { 'Mcp-Method': null }],
	['another Mcp-Method', echo, { 'Mcp-Method': 'tools/list' }],
	['Mcp-Method in other case', echo, { 'Mcp-Method': 'Tools/Call' }],
	['no Mcp-Name', echo, { 'Mcp-Name': null }],
	['another Mcp-Name', echo, { 'Mcp-Name': 'add' }],
	['Mcp-Name in other case', echo, { 'Mcp-Name': 'Echo' }],
	['an encoded other Mcp-Name', echo, { 'Mcp-Name': base64('add') }],
	['Mcp-Name of bad base64', echo, { 'Mcp-Name': '=?base64?!!!?=' }],
	['Mcp-Name of base64 without padding', echo, { 'Mcp-Name': '=?base64?ZWNobw?=' }],
	['Mcp-Name of bytes that are no text', echo, { 'Mcp-Name': '=?base64?/////w==?=' }],
	[
		'another resource',
		rpc(1, 'resources/read', { uri: 'test://static-text' }),
		{ 'Mcp-Name': 'test://static-binary' }
	],
	['another prompt', rpc(1, 'prompts/get', { name: 'test_simple_prompt' }), { 'Mcp-Name': 'review' }],
	['Mcp-Param', headed({ region: 'eu' }), { 'Mcp-Param-Region': 'eu' }, true],
	['Mcp-Param that says the number otherwise', headed({ level: 10 }), { 'Mcp-Param-Level': '10' }, true],
	[
		'Mcp-Param of an argument inside another',
		headed({ place: { city: 'Rome' } }),
		{ 'Mcp-Param-City': 'Rome' },
		true
	],
	['no Mcp-Param', headed({ region: 'eu' }), {}],
	['another Mcp-Param', headed({ region: 'eu' }), { 'Mcp-Param-Region': 'us' }],
	['Mcp-Param in other case', headed({ region: 'eu' }), { 'Mcp-Param-Region': 'EU' }],
	['Mcp-Param without the argument', headed({}), { 'Mcp-Param-Region': 'eu' }],
	['Mcp-Param of another number', headed({ level: 10 }), { 'Mcp-Param-Level': '11' }],
	['Mcp-Param of no number', headed({ level: 10 }), { 'Mcp-Param-Level': 'ten' }],
	['Mcp-Param of another truth', headed({ dry: true }), { 'Mcp-Param-Dry-Run': 'false' }],
	['Mcp-Param of bad base64', headed({ region: 'eu' }), { 'Mcp-Param-Region': '=?base64?*?=' }]
];

export function messageCases(ground) {
	const json = async (sent, status) => {
		const answer = await ground.ask(sent);
		assert.equal(answer.status, status, answer.raw);
		return JSON.parse(answer.body);
	};

	for (const [what, message, headers, accepted] of HEADERS)
		test(`2026-07-28 headers: ${what} is ${accepted ? 'accepted' : '400 with -32020'}`, async () => {
			const answer = await json(modernPost(message, headers), accepted ? 200 : 400);
			if (accepted) assert.ok(answer.result, JSON.stringify(answer));
			else assert.deepEqual([answer.id, answer.error?.code], [1, -32020], JSON.stringify(answer));
		});

	test('2026-07-28 headers: one that stands twice is 400 with -32020', async () => {
		const whole = modern(echo);
		for (const name of ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name']) {
			const pairs = Object.entries(modernHeaders(whole));
			const twice = [...pairs, pairs.find(([n]) => n === name)];
			const answer = await json(request('POST', '/mcp', twice, JSON.stringify(whole)), 400);
			assert.equal(answer.error.code, -32020, name);
		}
		const twice = [
			...Object.entries(modernHeaders(modern(headed({ region: 'eu' })))),
			['Mcp-Param-Region', 'eu'],
			['Mcp-Param-Region', 'eu']
		];
		const answer = await json(
			request('POST', '/mcp', twice, JSON.stringify(modern(headed({ region: 'eu' })))),
			400
		);
		assert.equal(answer.error.code, -32020);
	});

	test('2026-07-28: an unknown method is 404 with -32601', async () => {
		for (const method of ['no/such', 'initialize', 'ping', 'logging/setLevel', 'resources/subscribe']) {
			const answer = await json(modernPost(rpc(9, method, {})), 404);
			assert.deepEqual([answer.id, answer.error.code], [9, -32601], method);
		}
	});

	test('2026-07-28: what the client cannot do is 400 with -32021 and what it would need', async () => {
		const answer = await json(modernPost(call(9, 'ask_url')), 400);
		assert.deepEqual([answer.id, answer.error.code], [9, -32021]);
		assert.ok(answer.error.data.requiredCapabilities.elicitation);
	});

	test('2026-07-28: a revision that is not spoken is 400 with -32022 and those that are', async () => {
		const message = modern(echo, { [META + 'protocolVersion']: '2099-01-01' });
		const headers = { ...modernHeaders(message), 'MCP-Protocol-Version': '2099-01-01' };
		const answer = await json(request('POST', '/mcp', headers, JSON.stringify(message)), 400);
		assert.equal(answer.error.code, -32022);
		assert.ok(answer.error.data.supported.includes(MODERN));
	});

	test('2026-07-28: what is no message is 400', async () => {
		const headers = { ...plainHeaders, 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'tools/list' };
		const post = body => json(request('POST', '/mcp', headers, body), 400);
		for (const [body, code] of [
			['', -32700],
			['{', -32700],
			['{"jsonrpc":"2.0","id":1,"method":"tools/list",}', -32700],
			['\ufeff{"jsonrpc":"2.0","id":1,"method":"tools/list"}', -32700],
			['null', -32600],
			['"text"', -32600],
			['{}', -32600],
			['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600],
			['{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600],
			['{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}', -32600],
			['[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600],
			['[]', -32600],
			['['.repeat(100_000), -32700]
		])
			assert.equal((await post(body)).error.code, code, body.slice(0, 60));
	});

	test('2026-07-28: a notification is 202 without a body', async () => {
		const message = modern({ jsonrpc: '2.0', method: 'notifications/anything' });
		const answer = await ground.send('POST', '/mcp', modernHeaders(message), {
			body: JSON.stringify(message)
		});
		assert.deepEqual([answer.status, answer.body], [202, '']);
	});

	// ---- sessions -----------------------------------------------------------------------------

	test('sessions: an MCP-Protocol-Version that is not spoken is 400, none is taken for what was agreed', async t => {
		const session = t.use(await RawSession.open(ground.server.url));
		const post = headers => session.post(rpc(1, 'ping'), headers);
		for (const version of ['2019-01-01', 'junk', '', '2025-11-25 ', '2025-11-25, 2025-06-18'])
			if (version.trim() !== '2025-11-25')
				assert.equal((await post({ 'MCP-Protocol-Version': version })).status, 400, version);
		delete session.revision;
		assert.equal((await post({})).status, 200);
	});

	test('sessions: a batch is answered in 2025-03-26, and 400 with -32600 in every other', async t => {
		const batch = [
			rpc(1, 'ping'),
			{ jsonrpc: '2.0', method: 'notifications/anything' },
			call(2, 'echo', { text: 'x' })
		];
		for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
			const session = t.use(await RawSession.open(ground.server.url, { revision }));
			const response = await session.post(batch, { Accept: 'application/json' });
			const answer = await response.json();
			if (revision === '2025-03-26') {
				assert.equal(response.status, 200);
				assert.deepEqual(answer.map(m => m.id).sort(), [1, 2]);
			} else {
				assert.deepEqual([response.status, answer.error?.code], [400, -32600], revision);
			}
		}
	});

	test('sessions: a batch of 2025-03-26 has at least one message and at most a hundred', async t => {
		const session = t.use(await RawSession.open(ground.server.url, { revision: '2025-03-26' }));
		for (const n of [0, 101]) {
			const batch = Array.from({ length: n }, (_, i) => rpc(i, 'ping'));
			const response = await session.post(batch, { Accept: 'application/json' });
			assert.equal(response.status, 400, `${n} messages`);
		}
	});

	test('sessions: responses and notifications are 202 without a body', async t => {
		const session = t.use(await RawSession.open(ground.server.url));
		for (const message of [
			{ jsonrpc: '2.0', id: 'unknown', result: {} },
			{ jsonrpc: '2.0', id: 'unknown', error: { code: 1, message: 'x' } },
			{ jsonrpc: '2.0', method: 'notifications/anything' },
			{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'unknown' } }
		]) {
			const response = await session.post(message);
			assert.deepEqual([response.status, await response.text()], [202, ''], JSON.stringify(message));
		}
	});
}
