// The official TypeScript SDK, v1, against our server over HTTP+SSE, the transport of 2024-11-05: what
// clients fall back to that do not find a newer one.

import assert from 'node:assert/strict';
import { askCases } from './lib/asks.mjs';
import { commonCases, park, text, waits } from './lib/cases.mjs';
import { HttpServer } from './lib/http.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { legacyCases } from './lib/legacy.mjs';
import { Proxy } from './lib/proxy.mjs';
import { run, test } from './lib/tap.mjs';
import { v1Http, v1Sse } from './lib/v1.mjs';

const it = (name, body) => test(`${v1Sse.name}: ${name}`, body);

commonCases(v1Sse);
askCases(v1Sse);
legacyCases(v1Sse);

it('every message is accepted with 202 and answered on the stream of /sse', async t => {
	const s = await t.open(v1Sse);
	await s.call('echo', { text: 'x' });
	const [first, ...rest] = s.exchanges.items;
	assert.deepEqual([first.method, first.status, first.type], ['GET', 200, 'text/event-stream']);
	assert.ok(rest.length >= 3);
	for (const x of rest) assert.deepEqual([x.method, x.status], ['POST', 202]);
});

it('clients of both transports share a server, and are told of its changes', async t => {
	const server = t.use(await HttpServer.start());
	const [old, other] = [await t.open(v1Sse, { server }), await t.open(v1Http, { server })];
	await old.call('grow');
	for (const s of [old, other])
		await s.notes.take(n => n.method === 'notifications/tools/list_changed', 'tools/list_changed');
	assert.equal(text(await other.call('grown')), 'grown');
});

it('the end of the connection is the end of the session: its calls are cancelled', async t => {
	const server = t.use(await HttpServer.start());
	const proxy = t.use(await Proxy.start(server.port));
	const other = await t.open(v1Sse, { server });
	const s = await t.open(v1Sse, { server, url: proxy.url('/sse') });
	s.expectErrors = true;
	await park(s, 'k', {}, 'park_until_cancelled');
	const endpoint = s.transport._endpoint;
	assert.ok(proxy.cutNow(c => c.request.includes('GET /sse')) === 1);
	await waits(other, 'k', 'no');
	await s.client.close();
	const late = await fetch(new URL(endpoint.pathname + endpoint.search, server.url), {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: '{"jsonrpc":"2.0","id":1,"method":"ping"}'
	});
	assert.equal(late.status, 404);
});

it('--no-old-sse: it is not there', async t => {
	const server = t.use(await HttpServer.start({ args: ['--no-old-sse'] }));
	await assert.rejects(
		v1Sse.open({ server }, () => {}),
		/404/
	);
	const s = await t.open(v1Http, { server });
	assert.equal(text(await s.call('echo', { text: 'x' })), 'x');
});

leftoverCase();
await run();
