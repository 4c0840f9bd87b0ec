// modern.mjs - what only 2026-07-28 has: server/discover, results that ask (input_required),
// subscriptions/listen, log levels per request, results that may be kept. For v2 of the SDK.

import assert from 'node:assert/strict';
import { accept, elicits, noModel, samples, text } from './cases.mjs';
import { casesOf, within } from './tap.mjs';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const is = method => note => note.method === method;

export function modernCases(sdk) {
	const stdio = sdk.link === 'stdio';
	const { it, on } = casesOf(sdk);

	// ---- discovery ----------------------------------------------------------------------------

	on('server/discover shows revisions, capabilities, instructions and how long they hold', async s => {
		assert.equal(s.client.getProtocolEra(), 'modern');
		assert.equal(s.client.getNegotiatedProtocolVersion(), '2026-07-28');
		const found = await s.client.discover();
		assert.ok(found.supportedVersions.includes('2026-07-28'));
		assert.equal(found.instructions, 'Ask "anything" – politely.');
		assert.deepEqual(found.capabilities.tools, { listChanged: true });
		const { result } = s.answer('server/discover');
		assert.equal(result.resultType, 'complete');
		assert.equal(typeof result.ttlMs, 'number');
		assert.match(result.cacheScope, /^(public|private)$/);
		assert.equal(result._meta['io.modelcontextprotocol/serverInfo'].name, 'sdk-server');
	});

	on('auto negotiation finds the modern era', { mode: 'auto' }, async s => {
		assert.equal(s.client.getProtocolEra(), 'modern');
		assert.equal(text(await s.call('echo', { text: 'hi' })), 'hi');
	});

	it('what was discovered before serves the next connection without a round trip', async t => {
		const first = await t.open(sdk);
		const discover = first.client.getDiscoverResult();
		const s = await t.open(sdk, { prior: { kind: 'modern', discover } });
		assert.equal(s.sent.items.length, 0);
		assert.equal(text(await s.call('echo', { text: 'at once' })), 'at once');
		assert.equal(s.sent.items.length, 1);
	});

	on('a client of the old era is served by the same program', { prior: { kind: 'legacy' } }, async s => {
		assert.equal(s.client.getProtocolEra(), 'legacy');
		assert.equal((await s.call('whoami')).structuredContent.revision, '2025-11-25');
	});

	// ---- results that ask -----------------------------------------------------------------------

	const agrees = elicits(() => accept({ ok: true }));
	on('a question is a result, and its answer a new request with the state given back', agrees, async s => {
		assert.equal(text(await s.call('test_input_required_result_request_state')), 'state-ok');
		const [first, second] = s.sent.items.filter(m => m.method === 'tools/call');
		const { result } = s.received.items.find(m => m.id === first.id);
		assert.equal(result.resultType, 'input_required');
		assert.equal(result.inputRequests.confirm.method, 'elicitation/create');
		assert.notEqual(second.id, first.id);
		assert.equal(second.params.requestState, result.requestState);
		assert.deepEqual(Object.keys(second.params.inputResponses), ['confirm']);
	});

	const byHand = { capabilities: { elicitation: { form: {} } }, client: { inputRequired: { autoFulfill: false } } };
	on('questions can be answered by hand, too', byHand, async s => {
		const name = 'test_input_required_result_elicitation';
		const asks = await s.client.callTool({ name, arguments: {} }, { allowInputRequired: true });
		assert.equal(asks.resultType, 'input_required');
		assert.equal(asks.inputRequests.user_name.params.message, 'What is your name?');
		const done = await s.client.callTool({
			name,
			arguments: {},
			inputResponses: { user_name: { action: 'accept', content: { name: 'Ann' } } },
			requestState: asks.requestState
		});
		assert.equal(text(done), 'Hello, Ann!');
	});

	on("an error of the client's handler ends the call there, and the server lives on", samples(noModel), async s => {
		await assert.rejects(s.call('test_sampling', { prompt: 'x' }), /no model today/);
		assert.equal(text(await s.call('echo', { text: 'alive' })), 'alive');
	});

	// ---- subscriptions ----------------------------------------------------------------------------

	on('listen tells of changed lists, only of those asked for, under its own id', async s => {
		const sub = await s.client.listen({ toolsListChanged: true, resourcesListChanged: true });
		assert.deepEqual(sub.honoredFilter, { toolsListChanged: true, resourcesListChanged: true });
		await s.call('grow');
		await s.notes.take(is('notifications/tools/list_changed'), 'tools/list_changed');
		await s.notes.take(is('notifications/resources/list_changed'), 'resources/list_changed');
		await s.settle();
		assert.equal(s.notes.count(is('notifications/prompts/list_changed')), 0);
		const { id } = s.sent.items.find(m => m.method === 'subscriptions/listen');
		for (const m of s.received.items.filter(m => m.method)) assert.equal(m.params._meta[SUBSCRIPTION], id);
		assert.equal(s.received.items.find(m => m.method).method, 'notifications/subscriptions/acknowledged');
	});

	on('listen tells of changed resources, until it is closed', async s => {
		const uri = 'test://watched-resource';
		const sub = await s.client.listen({ resourceSubscriptions: [uri] });
		assert.deepEqual(sub.honoredFilter, { resourceSubscriptions: [uri] });
		await s.call('touch', { uri: 'test://static-text' });
		await s.call('touch', { uri });
		const { params } = await s.notes.take(is('notifications/resources/updated'), 'updated');
		assert.equal(params.uri, uri);
		await sub.close();
		assert.equal(await sub.closed, 'local');
		await s.call('touch', { uri });
		await s.call('grow');
		await s.settle();
		assert.equal(s.notes.items.length, 1);
		const { id } = s.sent.items.find(m => m.method === 'subscriptions/listen');
		assert.equal(s.received.count(m => m.id === id), 0); // no answer to what was cancelled
	});

	on('two subscriptions are told apart, and closing one leaves the other', async s => {
		const tools = await s.client.listen({ toolsListChanged: true });
		await s.client.listen({ promptsListChanged: true });
		const [first, second] = s.sent.items.filter(m => m.method === 'subscriptions/listen').map(m => m.id);
		await s.call('grow');
		const told = await s.received.take(is('notifications/prompts/list_changed'), 'prompts');
		assert.equal(told.params._meta[SUBSCRIPTION], second);
		const other = await s.received.take(is('notifications/tools/list_changed'), 'tools');
		assert.equal(other.params._meta[SUBSCRIPTION], first);
		await tools.close();
		await s.call('shrink');
		await s.notes.take(is('notifications/prompts/list_changed'), 'prompts again', 2);
		await s.settle();
		assert.equal(s.notes.count(is('notifications/tools/list_changed')), 1);
	});

	it('the SDK refreshes its list of tools when it changes', async t => {
		let refreshed;
		const tools = new Promise((resolve, reject) => {
			refreshed = (error, list) => (error ? reject(error) : resolve(list));
		});
		const s = await t.open(sdk, {
			client: { listChanged: { tools: { onChanged: refreshed, autoRefresh: true, debounceMs: 0 } } }
		});
		assert.deepEqual(s.client.autoOpenedSubscription.honoredFilter, { toolsListChanged: true });
		await s.call('grow');
		assert.ok((await within(tools, 'the new list')).some(x => x.name === 'grown'));
	});

	on('a server that stops ends subscriptions gracefully', async s => {
		const sub = await s.client.listen({ toolsListChanged: true });
		process.kill(s.pid, 'SIGTERM');
		assert.equal(await within(sub.closed, 'the end of the subscription'), 'graceful');
		assert.deepEqual(await s.exit, { code: 0, signal: null });
	});

	if (stdio)
		on('the server ends when the client closes with a subscription open', async s => {
			await s.client.listen({ toolsListChanged: true });
			assert.deepEqual(await s.end(), []);
		});

	// ---- log levels ---------------------------------------------------------------------------------

	on('log messages come with the request that asked for them, from its level on', async s => {
		const call = level =>
			s.client.callTool({ name: 'log_all', arguments: {}, ...(level && { _meta: { [LOG_LEVEL]: level } }) });
		await call();
		assert.equal(s.notes.items.length, 0);
		await call('critical');
		assert.deepEqual(
			s.notes.items.map(n => n.params.level),
			['critical', 'alert', 'emergency']
		);
		await call();
		assert.equal(s.notes.items.length, 3);
		await call('debug');
		assert.equal(s.notes.items.length, 3 + 8);
	});

	// ---- results that may be kept --------------------------------------------------------------------

	const minute = { env: { SERVER_TTL: '60000' } };
	on('the SDK keeps what may be kept, and asks again when told that it changed', minute, async s => {
		const asked = () => s.sent.count(m => m.method === 'tools/list');
		await s.client.listTools();
		await s.client.listTools();
		assert.equal(asked(), 1);
		await s.client.listen({ toolsListChanged: true });
		await s.call('grow');
		await s.notes.take(is('notifications/tools/list_changed'), 'tools/list_changed');
		assert.ok((await s.client.listTools()).tools.some(x => x.name === 'grown'));
		assert.equal(asked(), 2);
	});

	on('the SDK does not keep what may not be kept', async s => {
		await s.client.readResource({ uri: 'test://static-text' });
		await s.client.readResource({ uri: 'test://static-text' });
		assert.equal(s.sent.count(m => m.method === 'resources/read'), 2);
		await s.client.readResource({ uri: 'shape://full' });
		await s.client.readResource({ uri: 'shape://full' });
		assert.equal(s.sent.count(m => m.method === 'resources/read'), 3);
	});

	on('a structured result may be any JSON value', async s => {
		const result = await s.call('structured_list');
		assert.deepEqual(result.structuredContent, [1, 'two']);
	});

}
