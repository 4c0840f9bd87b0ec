// Our client with servers of the official TypeScript SDK, v2, in both eras, over stdio and HTTP.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from './lib/certificate.mjs';
import { clientCases } from './lib/client_cases.mjs';
import { good, names, ours, refusedWith } from './lib/driver.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { NodeServer, local } from './lib/node_server.mjs';
import { Proxy } from './lib/proxy.mjs';
import { run, test } from './lib/tap.mjs';

const modern = { era: 'modern', revision: '2026-07-28' };
const legacy = { era: 'legacy', revision: '2025-11-25' };

const servers = new Map();
async function shared(...options) {
	const key = options.join(' ');
	if (!servers.has(key)) servers.set(key, await NodeServer.start(local('server_v2.mjs', 'http', ...options)));
	return servers.get(key);
}
const at = (...options) => async () => ({ url: (await shared(...options)).url });
const stdio = (...options) => async () => ({ argv: local('server_v2.mjs', 'stdio', ...options) });

clientCases({ ...modern, name: 'v2 stdio', begin: stdio() });
clientCases({ ...modern, name: 'v2 http', begin: at() });
clientCases({ ...legacy, name: 'v2 stdio, legacy', begin: stdio(), options: { era: 'legacy' } });
// Without sessions: nothing can be asked, and nothing comes by itself.
clientCases({
	...legacy,
	name: 'v2 http, legacy',
	begin: at(),
	options: { era: 'legacy' },
	without: ['asking', 'changes', 'logging', 'cancelling']
});

for (const [how, begin] of [['stdio', stdio()], ['http', at()]]) {
	const it = (name, body) => test(`v2 ${how}: ${name}`, body);

	it('rounds of questions, several at once, with a state that comes back as it was', async t => {
		const s = await t.open(ours, {
			...(await begin()),
			roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }],
			answers: { form: { content: { name: 'Ann' } }, url: {}, sampling: { model: 'm', text: 'Paris' } },
			trace: true
		});
		assert.equal(await s.text('ask_all'), 'Ann, Paris, 2, accept');
		const rounds = s.wire(true).filter(m => m.params?.name === 'ask_all');
		assert.equal(rounds.length, 3);
		assert.equal(new Set(rounds.map(m => m.id)).size, 3);
		assert.equal(rounds[1].params.requestState, 'one "\\ é \u{1F600}');
		assert.deepEqual(Object.keys(rounds[1].params.inputResponses).sort(), ['model', 'roots', 'who']);
		assert.equal('inputResponses' in rounds[0].params || 'requestState' in rounds[0].params, false);
		assert.equal(await s.text('come_back'), 'back');
	});

	it('a server that never stops asking is left', async t => {
		const s = await t.open(ours, { ...(await begin()), max_rounds: 3, answers: { form: { content: { name: 'Ann' } } } });
		const result = await s.call('ask_forever');
		assert.notEqual(result.status, 'success');
		assert.equal(s.events.count(e => e.asked === 'form'), 3);
		assert.equal(await s.text('echo', { text: 'alive' }), 'alive');
	});

	it('every request says who asks, and in which revision', async t => {
		const s = await t.open(ours, { ...(await begin()), name: 'me', version: '7', trace: true });
		await s.text('echo', { text: 'x' });
		const calls = s.wire(true).filter(m => m.id !== undefined);
		assert.ok(calls.length >= 2);
		for (const { params } of calls) {
			assert.equal(params._meta['io.modelcontextprotocol/protocolVersion'], '2026-07-28');
			assert.deepEqual(params._meta['io.modelcontextprotocol/clientInfo'], { name: 'me', version: '7' });
			assert.ok(params._meta['io.modelcontextprotocol/clientCapabilities']);
		}
	});

	it('a client of the old era alone is refused by a server of the new one alone', async t => {
		const strict = how === 'stdio' ? stdio('--reject') : at('--reject');
		const s = await t.open(ours, await strict());
		assert.equal(s.info.era, 'modern');
		assert.equal(await s.text('echo', { text: 'x' }), 'x');
		const old = t.use(new (s.constructor)());
		const refused = await old.open({ ...(await strict()), era: 'legacy' });
		assert.notEqual(refused.status, 'success');
		assert.match(refused.error.message, /2026-07-28|version|revision/i);
	});
}

const it = (name, body) => test(`v2 http: ${name}`, body);

it('arguments that are headers are sent as headers', async t => {
	const s = await t.open(ours, await at()());
	const said = async args => JSON.parse(await s.text('headers', args));
	// A tool that was never listed is looked up, or repaired after the server says what is missing.
	assert.deepEqual((await said({ region: 'eu west', level: 3, dry: true })).headers, {
		'mcp-method': 'tools/call',
		'mcp-name': 'headers',
		'mcp-param-region': 'eu west',
		'mcp-param-level': '3',
		'mcp-param-dry-run': 'true',
		'mcp-protocol-version': '2026-07-28'
	});
	good(await s.list('tools'));
	const odd = await said({ region: ' ä\n', level: -1 });
	assert.deepEqual(odd.args, { region: ' ä\n', level: -1 });
	assert.match(odd.headers['mcp-param-region'], /^=\?base64\?.*\?=$/);
	assert.equal(odd.headers['mcp-param-level'], '-1');
	assert.equal('mcp-param-dry-run' in odd.headers, false);
});

it('a server whose headers have changed is asked for its tools again, and the call is repeated', async t => {
	const server = t.use(await NodeServer.start(local('server_v2.mjs', 'http')));
	const proxy = t.use(await Proxy.start(server.port));
	const s = await t.open(ours, { url: proxy.url() });
	good(await s.list('tools'));
	await s.text('rename_header', { name: 'Zone' });
	const said = JSON.parse(await s.text('headers', { region: 'eu' }));
	assert.equal(said.headers['mcp-param-zone'], 'eu');
	assert.equal('mcp-param-region' in said.headers, false);
	assert.ok(proxy.connections.some(c => /-32020/.test(c.response)));
	// A name that a client must not use: the tool is no tool any more.
	await s.text('rename_header', { name: 'not a token' });
	assert.ok(!names(await s.list('tools')).includes('headers'));
	await s.event('note', e => /headers/.test(e.note));
	const refused = await s.call('headers', { region: 'eu' });
	assert.deepEqual([refused.status === 'success', refused.step], [false, 'arguments']);
});

it('a server that answers without streams, or with nothing else', async t => {
	for (const mode of ['--json', '--sse']) {
		const s = await t.open(ours, await at(mode)());
		assert.equal(await s.text('echo', { text: mode }), mode);
		assert.equal(names(await s.list('prompts'))[0], 'greet');
		refusedWith(await s.request('no/such/method', {}), -32601);
		good(await s.ask({ watch: ['tools'] }));
		await s.heard(e => e.change === 'tools', () => s.text('grow'));
	}
});

it('a subscription survives that its connection is cut', async t => {
	const server = await shared();
	const proxy = t.use(await Proxy.start(server.port));
	const s = await t.open(ours, { url: proxy.url() });
	const listens = () => proxy.connections.filter(c => /subscriptions\/listen/.test(c.request) && /acknowledged/.test(c.response));
	good(await s.ask({ watch: ['tools'], uris: ['test://watched'] }));
	await s.until('the subscription', () => listens().length, () => s.text('echo', { text: 'x' }));
	assert.equal(proxy.cutNow(c => listens().includes(c)), 1);
	await s.event('change', e => e.change === 'missed');
	await s.heard(e => e.change === 'resource', () => s.text('touch'));
});

it('a call whose connection is cut before its answer is not made twice', async t => {
	const server = await shared();
	const proxy = t.use(await Proxy.start(server.port));
	const s = await t.open(ours, { url: proxy.url() });
	await s.text('echo', { text: 'warm' });
	const before = proxy.connections.length;
	const waiting = s.ask({ call: 'wait' });
	const asked = () => proxy.connections.filter(c => /"name":"wait"/.test(c.request));
	while (!asked().length) await new Promise(setImmediate);
	assert.ok(proxy.connections.length >= before);
	proxy.cutNow(c => asked().includes(c));
	const result = await waiting;
	assert.deepEqual([result.status === 'success', result.step], [false, 'exchange']);
	assert.equal(asked().length, 1);
	assert.equal(await s.text('echo', { text: 'alive' }), 'alive');
});

it('what was found out is remembered: no question before the first call', async t => {
	const s = await t.open(ours, { ...(await at()()), known_era: 'modern', trace: true });
	assert.equal(await s.text('echo', { text: 'x' }), 'x');
	assert.equal(s.info.era, 'modern');
});

it('over TLS it speaks HTTP/2, all calls on one connection, unless it is told not to', async t => {
	const directory = mkdtempSync(join(tmpdir(), 'cleat-h2-'));
	t.use({ end: async () => (rmSync(directory, { recursive: true }), []) });
	const { cert, key } = selfSigned(directory);
	const server = t.use(await NodeServer.start(local('server_v2.mjs', 'http', '--tls', cert, key)));
	const proxy = t.use(await Proxy.start(server.port));
	const url = proxy.url().replace('http:', 'https:');
	for (const no_http2 of [false, true]) {
		server.output = '';
		proxy.connections.length = 0;
		const s = await t.open(ours, { url, ca_file: cert, no_http2, answers: { form: { content: { name: 'Ann' } } } });
		const many = Array.from({ length: 50 }, (_, i) => s.text('echo', { text: String(i) }));
		assert.deepEqual(await Promise.all(many), many.map((_, i) => String(i)));
		assert.equal(JSON.parse(await s.text('ask_form')).action, 'accept');
		good(await s.ask({ watch: ['tools'] }));
		await s.heard(e => e.change === 'tools', () => s.text('grow'));
		assert.deepEqual([...new Set(server.output.match(/HTTP\/\S+/g))], [no_http2 ? 'HTTP/1.1' : 'HTTP/2.0']);
		if (!no_http2) assert.equal(proxy.connections.length, 1);
	}
});

test('the servers are ended', async () => {
	for (const server of servers.values()) await server.end();
});
leftoverCase();
await run();
