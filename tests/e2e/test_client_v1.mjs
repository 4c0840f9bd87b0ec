// Our client with servers of the official TypeScript SDK, v1: stdio, Streamable HTTP in its varieties,
// HTTP+SSE.

import assert from 'node:assert/strict';
import { clientCases } from './lib/client_cases.mjs';
import { good, ours } from './lib/driver.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { NodeServer, local } from './lib/node_server.mjs';
import { Proxy } from './lib/proxy.mjs';
import { run, test } from './lib/tap.mjs';

const legacy = { era: 'legacy', revision: '2025-11-25' };

clientCases({ ...legacy, name: 'v1 stdio', begin: async () => ({ argv: local('server_v1.mjs', 'stdio') }) });

/** One server for several cases. */
const servers = new Map();
async function shared(...options) {
	const key = options.join(' ');
	if (!servers.has(key)) servers.set(key, await NodeServer.start(local('server_v1.mjs', ...options)));
	return servers.get(key);
}
const at = (...options) => async () => ({ url: (await shared(...options)).url });

clientCases({ ...legacy, name: 'v1 http', begin: at('http') });
clientCases({ ...legacy, name: 'v1 sse', begin: at('sse'), revision: '2025-11-25' });

// What is said while a call runs goes nowhere without streams; questions come on the GET stream.
clientCases({ ...legacy, name: 'v1 http, JSON answers', begin: at('http', '--json'), without: ['progress'] });

const it = (name, body) => test(`v1 http: ${name}`, body);

it('an older revision is spoken when it is asked for', async t => {
	for (const protocol of ['2025-06-18', '2025-03-26', '2024-11-05']) {
		const s = await t.open(ours, { ...(await at('http')()), protocol });
		assert.equal(s.info.revision, protocol);
		assert.equal(await s.text('echo', { text: protocol }), protocol);
	}
});

it('a session that the server has forgotten is begun anew', async t => {
	const s = await t.open(ours, await at('http')());
	await s.text('forget');
	assert.equal(await s.text('echo', { text: 'again' }), 'again');
	assert.equal(await s.text('echo', { text: 'and again' }), 'and again');
});

it('a server without sessions is served, too', async t => {
	// Such a server makes a new one of itself for each request.
	const s = await t.open(ours, { ...(await at('http', '--stateless')()), era: 'legacy' });
	assert.equal(await s.text('echo', { text: 'x' }), 'x');
	good(await s.list('tools'));
});

it('the session is ended with the client', async t => {
	const server = await shared('http');
	const proxy = t.use(await Proxy.start(server.port));
	const s = await t.open(ours, { url: proxy.url() });
	await s.text('echo', { text: 'x' });
	assert.deepEqual(await s.end(), []);
	assert.ok(proxy.connections.some(c => /DELETE \/mcp HTTP/.test(c.request)));
});

it('a server that hangs up in the middle of a call is asked for the rest', async t => {
	const s = await t.open(ours, await at('http', '--store')());
	assert.equal(await s.text('hang_up'), 'still here');
	assert.equal(await s.text('echo', { text: 'x' }), 'x');
});

it('a connection that is cut in the middle of an answer is resumed', async t => {
	const server = await shared('http', '--store');
	const proxy = t.use(await Proxy.start(server.port));
	const s = await t.open(ours, { url: proxy.url() });
	await s.text('echo', { text: 'warm' });
	// After the second event with a message: two progress notifications, then nothing.
	const cut = proxy.cut(c => {
		const at = c.response.indexOf('step 3');
		return at < 0 ? undefined : at;
	});
	const { id, answer } = s.begin({ call: 'steps', args: { n: 5 }, progress: true });
	assert.equal(good(await answer).text, 'done');
	await cut;
	assert.deepEqual(s.events.items.filter(e => e.progress === id).map(e => e.done), [1, 2, 3, 4, 5]);
	assert.ok(proxy.connections.some(c => /GET \/mcp HTTP/.test(c.request) && /^last-event-id: e\d+/im.test(c.request)));
});

it('a connection that is cut where nothing can be resumed is a failure of the call, not of the client', async t => {
	const server = await shared('http');
	const proxy = t.use(await Proxy.start(server.port));
	const s = await t.open(ours, { url: proxy.url() });
	await s.text('echo', { text: 'warm' });
	const cut = proxy.cut(c => {
		const at = c.response.indexOf('step 3');
		return at < 0 ? undefined : at;
	});
	const failed = await s.call('steps', { n: 5 }, { progress: true });
	await cut;
	assert.notEqual(failed.status, 'success');
	assert.equal(await s.text('echo', { text: 'alive' }), 'alive');
});

for (const options of [['http'], ['http', '--store']])
	test(`v1 ${options.join(' ')}: when the stream for what the server says is cut, no change goes unnoticed`, async t => {
		const server = await shared(...options);
		const proxy = t.use(await Proxy.start(server.port));
		const s = await t.open(ours, { url: proxy.url() });
		const streams = () => proxy.connections.filter(c => /GET \/mcp HTTP/.test(c.request) && /event-stream/.test(c.response));
		good(await s.ask({ watch: ['tools'] }));
		await s.until('the stream', () => streams().length, () => s.text('echo', { text: 'x' }));
		assert.equal(proxy.cutNow(c => streams().includes(c)), 1);
		await s.text('grow');
		await s.event('change', e => e.change === 'tools' || e.change === 'missed');
	});

test('the servers are ended', async () => {
	for (const server of servers.values()) await server.end();
});
leftoverCase();
await run();
