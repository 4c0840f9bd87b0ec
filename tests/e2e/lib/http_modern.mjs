// http_modern.mjs - what 2026-07-28 says about HTTP: every request stands alone, headers repeat what it
// says, closing its answer cancels it (basic/transports/streamable-http). For v2 of the SDK.

import assert from 'node:assert/strict';
import { park, refused, text, waits } from './cases.mjs';
import { HttpServer } from './http.mjs';
import { Proxy } from './proxy.mjs';
import { casesOf } from './tap.mjs';
import { v2LegacyHttp } from './v2.mjs';

const AT_ONCE = 10_000; // milliseconds, on a machine that has a lot else to do
const encoded = value => `=?base64?${Buffer.from(value).toString('base64')}?=`;

export function httpModernCases(sdk) {
	const { it, on } = casesOf(sdk);

	on('there is no session and no GET, and headers repeat what the message says', async s => {
		await s.call('echo', { text: 'x' });
		await s.client.listTools();
		await s.client.readResource({ uri: 'test://static-text' });
		assert.ok(s.exchanges.items.length >= 4);
		for (const { method, sent, headers, body, status } of s.exchanges.items) {
			const message = JSON.parse(body);
			assert.deepEqual([method, status], ['POST', 200]);
			assert.equal(headers['mcp-session-id'], undefined);
			assert.equal(sent['mcp-protocol-version'], '2026-07-28');
			assert.equal(sent['mcp-method'], message.method);
			assert.equal(sent['mcp-name'], message.params.name ?? message.params.uri);
		}
	});

	on('an answer is one JSON message, or events when something comes before it', async s => {
		await s.call('echo', { text: 'x' });
		assert.equal(s.exchanges.items.at(-1).type, 'application/json');
		await s.call('progress', { steps: [1] }, { onprogress() {} });
		const { type, headers } = s.exchanges.items.at(-1);
		assert.equal(type, 'text/event-stream');
		assert.equal(headers['x-accel-buffering'], 'no');
		assert.match(headers['cache-control'], /no-cache|no-store/);
	});

	on('a name that is not ASCII travels encoded', async s => {
		const result = await s.call('größe', { text: 'm' });
		assert.deepEqual(JSON.parse(text(result)), { text: 'm' });
		assert.equal(s.exchanges.items.at(-1).sent['mcp-name'], encoded('größe'));
		await refused(s.call('日本語'), -32602, /日本語/);
	});

	on('arguments with x-mcp-header are repeated in headers, of every type', async s => {
		await s.client.listTools();
		for (const [args, headers] of [
			[{ region: 'us-west1' }, { region: 'us-west1' }],
			[{ region: 'Köln', plain: 'x' }, { region: encoded('Köln') }],
			[{ region: ' padded ' }, { region: encoded(' padded ') }],
			[{ region: '=?base64?eA==?=' }, { region: encoded('=?base64?eA==?=') }],
			[{ region: 'two\nlines' }, { region: encoded('two\nlines') }],
			[{ region: '' }, { region: encoded('') }],
			[{ level: -5 }, { level: '-5' }],
			[{ level: 2 ** 53 - 1 }, { level: '9007199254740991' }],
			[{ dry: true }, { 'dry-run': 'true' }],
			[
				{ dry: false, level: 0 },
				{ 'dry-run': 'false', level: '0' }
			],
			[{ place: { city: 'São Paulo' } }, { city: encoded('São Paulo') }],
			[{ plain: 'nothing to repeat' }, {}]
		]) {
			assert.deepEqual(JSON.parse(text(await s.call('headed', args))), args);
			const { sent } = s.exchanges.items.at(-1);
			const params = Object.entries(sent).filter(([name]) => name.startsWith('mcp-param-'));
			assert.deepEqual(
				Object.fromEntries(params.map(([name, value]) => [name.slice('mcp-param-'.length), value])),
				headers
			);
		}
	});

	it('aborting a call is seen by its handler at once, also when events have come before', async t => {
		const server = t.use(await HttpServer.start());
		const s = await t.open(sdk, { server });
		const other = await t.open(sdk, { server });
		for (const began of [false, true]) {
			const abort = new AbortController();
			const options = { signal: abort.signal, onprogress() {} };
			const { call } = await park(s, 'k', options, 'park_until_cancelled');
			if (began) {
				await other.call('step', { key: 'k', done: 1 });
				await s.received.take(m => m.params?.progress === 1, 'progress');
			}
			const start = performance.now();
			abort.abort('enough');
			await assert.rejects(call);
			await waits(other, 'k', 'no');
			assert.ok(performance.now() - start < AT_ONCE);
		}
		assert.equal(
			s.sent.count(m => m.method === 'notifications/cancelled'),
			0
		);
	});

	it('a client that closes, or whose connection is lost, has cancelled its calls', async t => {
		const server = t.use(await HttpServer.start());
		const proxy = t.use(await Proxy.start(server.port));
		const other = await t.open(sdk, { server });
		for (const lose of [s => s.client.close(), () => proxy.cutNow()]) {
			const s = await t.open(sdk, { server, url: proxy.url() });
			s.expectErrors = true;
			// The SDK does not notice that a stream broke off: its call has to be given up.
			const abort = new AbortController();
			const options = { onprogress() {}, signal: abort.signal };
			const { call } = await park(s, 'k', options, 'park_until_cancelled');
			await other.call('step', { key: 'k', done: 1 });
			await s.received.take(m => m.params?.progress === 1, 'progress');
			await lose(s);
			await waits(other, 'k', 'no');
			abort.abort();
			await assert.rejects(call);
			assert.equal(
				s.exchanges.count(x => 'last-event-id' in x.sent),
				0
			);
		}
	});

	it('the server lives on when a client closes in the middle of a subscription', async t => {
		const server = t.use(await HttpServer.start());
		const s = await t.open(sdk, { server });
		const other = await t.open(sdk, { server });
		await s.client.listen({ toolsListChanged: true });
		await other.client.listen({ toolsListChanged: true });
		await s.client.close();
		await other.call('grow');
		await other.notes.take(m => m.method === 'notifications/tools/list_changed', 'tools/list_changed');
	});

	it('--modern-only: this revision is served, and the older ones are told', async t => {
		const server = t.use(await HttpServer.start({ args: ['--modern-only'] }));
		const s = await t.open(sdk, { server });
		assert.equal(text(await s.call('echo', { text: 'x' })), 'x');
		const automatic = await t.open(sdk, { server, mode: 'auto' });
		assert.equal(automatic.client.getProtocolEra(), 'modern');
		await assert.rejects(v2LegacyHttp.open({ server }, () => {}));
		for (const method of ['GET', 'DELETE']) {
			const response = await fetch(server.url, { method, headers: { accept: 'text/event-stream' } });
			assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST']);
		}
	});
}
