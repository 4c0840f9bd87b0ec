// modern.mjs - what only 2026-07-28 has: server/discover, results that ask (input_required),
// subscriptions/listen, log levels per request, results that may be kept. For v2 of the SDK.

import assert from 'node:assert/strict';
import { refused, text } from './cases.mjs';
import { test, within } from './tap.mjs';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const is = method => note => note.method === method;
const form = { elicitation: { form: {} } };

export function modernCases(sdk) {
	const stdio = sdk.link === 'stdio';
	const it = (name, run) => test(`${sdk.name}: ${name}`, run);

	// ---- discovery ----------------------------------------------------------------------------

	it('server/discover shows revisions, capabilities, instructions and how long they hold', async t => {
		const s = await t.open(sdk);
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

	it('auto negotiation finds the modern era', async t => {
		const s = await t.open(sdk, { mode: 'auto' });
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

	it('a client of the old era is served by the same program', async t => {
		const s = await t.open(sdk, { prior: { kind: 'legacy' } });
		assert.equal(s.client.getProtocolEra(), 'legacy');
		assert.equal((await s.call('whoami')).structuredContent.revision, '2025-11-25');
	});

	it('a revision that nobody knows is refused with -32022 and the ones there are', async t => {
		const s = await t.open(sdk);
		const call = s.client.callTool({
			name: 'echo',
			arguments: { text: 'x' },
			_meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
		});
		await assert.rejects(call, error => {
			assert.equal(error.code, -32022);
			assert.equal(error.data.requested, '2099-01-01');
			assert.ok(error.data.supported.includes('2026-07-28'));
			return true;
		});
	});

	it('nothing of the old era is sent: no request of the server, no unasked notification', async t => {
		const s = await t.open(sdk, {
			capabilities: { ...form, roots: { listChanged: true } },
			answers: {
				'elicitation/create': () => ({ action: 'accept', content: { name: 'Ann' } }),
				'roots/list': () => ({ roots: [] })
			}
		});
		await s.call('test_input_required_result_elicitation');
		await s.call('roots');
		await s.call('grow');
		await s.call('touch', { uri: 'test://watched-resource' });
		await s.call('announce', { text: 'x' });
		await s.call('log_all');
		await s.call('shrink');
		await s.settle();
		assert.deepEqual(s.received.items.filter(m => m.method), []);
	});

	it('methods that the revision dropped are refused with -32601', async t => {
		const s = await t.open(sdk);
		s.expectErrors = true; // the SDK does not know the ids
		for (const [i, method] of ['ping', 'logging/setLevel', 'resources/subscribe', 'initialize'].entries()) {
			const id = `raw ${i}`;
			const sending = s.transport.send({
				jsonrpc: '2.0',
				id,
				method,
				params: {
					level: 'debug',
					uri: 'test://static-text',
					_meta: {
						'io.modelcontextprotocol/protocolVersion': '2026-07-28',
						'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
						'io.modelcontextprotocol/clientCapabilities': {}
					}
				}
			});
			if (!stdio) {
				await assert.rejects(sending, /"code":-32601/); // with status 404
				continue;
			}
			await sending;
			const answer = await s.received.take(m => m.id === id, `the answer to ${method}`);
			assert.equal(answer.error?.code, -32601, method);
		}
	});

	// ---- results that ask -----------------------------------------------------------------------

	it('a question is a result, and its answer a new request with the state given back', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => ({ action: 'accept', content: { ok: true } }) }
		});
		assert.equal(text(await s.call('test_input_required_result_request_state')), 'state-ok');
		const [first, second] = s.sent.items.filter(m => m.method === 'tools/call');
		const { result } = s.received.items.find(m => m.id === first.id);
		assert.equal(result.resultType, 'input_required');
		assert.equal(result.inputRequests.confirm.method, 'elicitation/create');
		assert.notEqual(second.id, first.id);
		assert.equal(second.params.requestState, result.requestState);
		assert.deepEqual(Object.keys(second.params.inputResponses), ['confirm']);
	});

	it('questions can be answered by hand, too', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			client: { inputRequired: { autoFulfill: false } }
		});
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

	it('a changed state is refused with -32602', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			client: { inputRequired: { autoFulfill: false } }
		});
		const name = 'test_input_required_result_tampered_state';
		const asks = await s.client.callTool({ name, arguments: {} }, { allowInputRequired: true });
		const { requestState } = asks;
		const at = Math.floor(requestState.length / 2);
		const changed =
			requestState.slice(0, at) + (requestState[at] === 'A' ? 'B' : 'A') + requestState.slice(at + 1);
		const answer = { inputResponses: { confirm: { action: 'accept', content: { ok: true } } } };
		await refused(
			s.client.callTool({ name, arguments: {}, ...answer, requestState: changed }),
			-32602
		);
		const done = await s.client.callTool({ name, arguments: {}, ...answer, requestState });
		assert.equal(text(done), 'state-ok');
	});

	it('an answer that is missing is asked for again', async t => {
		const s = await t.open(sdk, {
			capabilities: { ...form, sampling: {}, roots: {} },
			client: { inputRequired: { autoFulfill: false } }
		});
		const name = 'test_input_required_result_multiple_inputs';
		const asks = await s.client.callTool({ name, arguments: {} }, { allowInputRequired: true });
		assert.deepEqual(Object.keys(asks.inputRequests).sort(), ['capital_question', 'client_roots', 'user_name']);
		const again = await s.client.callTool(
			{
				name,
				arguments: {},
				requestState: asks.requestState,
				inputResponses: {
					user_name: { action: 'accept', content: { name: 'Ann' } },
					client_roots: { roots: [] }
				}
			},
			{ allowInputRequired: true }
		);
		assert.equal(again.resultType, 'input_required');
		assert.deepEqual(Object.keys(again.inputRequests), ['capital_question']);
		const done = await s.client.callTool({
			name,
			arguments: {},
			requestState: again.requestState,
			inputResponses: {
				capital_question: { model: 'm', role: 'assistant', content: { type: 'text', text: 'Paris' } }
			}
		});
		assert.equal(text(done), 'Ann, Paris, 0 roots');
	});

	it('only what the client can be asked is asked', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => ({ action: 'accept', content: { name: 'Ann' } }) }
		});
		assert.equal(text(await s.call('test_input_required_result_capabilities')), 'Asked what could be asked');
		const asks = s.received.items.find(m => m.result?.resultType === 'input_required').result;
		assert.deepEqual(Object.keys(asks.inputRequests), ['user_name']);
	});

	it("an error of the client's handler ends the call there, and the server lives on", async t => {
		const s = await t.open(sdk, {
			capabilities: { sampling: {} },
			answers: {
				'sampling/createMessage': () => {
					throw new Error('no model today');
				}
			}
		});
		await assert.rejects(s.call('test_sampling', { prompt: 'x' }), /no model today/);
		assert.equal(text(await s.call('echo', { text: 'alive' })), 'alive');
	});

	// ---- subscriptions ----------------------------------------------------------------------------

	it('listen tells of changed lists, only of those asked for, under its own id', async t => {
		const s = await t.open(sdk);
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

	it('listen tells of changed resources, until it is closed', async t => {
		const s = await t.open(sdk);
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

	it('two subscriptions are told apart, and closing one leaves the other', async t => {
		const s = await t.open(sdk);
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

	it('a server that stops ends subscriptions gracefully', async t => {
		const s = await t.open(sdk);
		const sub = await s.client.listen({ toolsListChanged: true });
		process.kill(s.pid, 'SIGTERM');
		assert.equal(await within(sub.closed, 'the end of the subscription'), 'graceful');
		assert.deepEqual(await s.exit, { code: 0, signal: null });
	});

	if (stdio)
		it('the server ends when the client closes with a subscription open', async t => {
			const s = await t.open(sdk);
			await s.client.listen({ toolsListChanged: true });
			assert.deepEqual(await s.end(), []);
		});

	// ---- log levels ---------------------------------------------------------------------------------

	it('log messages come with the request that asked for them, from its level on', async t => {
		const s = await t.open(sdk);
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

	it('an unknown log level is refused with -32602', async t => {
		const s = await t.open(sdk);
		const call = s.client.callTool({ name: 'log_all', arguments: {}, _meta: { [LOG_LEVEL]: 'loud' } });
		await refused(call, -32602);
	});

	// ---- results that may be kept --------------------------------------------------------------------

	it('every list and every read says how long it holds', async t => {
		const s = await t.open(sdk, { env: { SERVER_TTL: '60000' } });
		await s.client.listTools();
		await s.client.listPrompts();
		await s.client.listResources();
		await s.client.listResourceTemplates();
		for (const kind of ['tools', 'prompts', 'resources', 'resources/templates']) {
			const { result } = s.answer(`${kind}/list`);
			assert.deepEqual([result.ttlMs, result.cacheScope], [60000, 'public'], kind);
		}
		await s.client.readResource({ uri: 'test://static-text' });
		let { result } = s.answer('resources/read');
		assert.deepEqual([result.ttlMs, result.cacheScope], [0, 'private']);
		await s.client.readResource({ uri: 'shape://full' });
		({ result } = s.answer('resources/read'));
		assert.deepEqual([result.ttlMs, result.cacheScope], [60000, 'public']);
		await s.client.readResource({ uri: 'multi://first' });
		({ result } = s.answer('resources/read'));
		assert.deepEqual([result.ttlMs, result.cacheScope], [5000, 'public']);
	});

	it('the SDK keeps what may be kept, and asks again when told that it changed', async t => {
		const s = await t.open(sdk, { env: { SERVER_TTL: '60000' } });
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

	it('the SDK does not keep what may not be kept', async t => {
		const s = await t.open(sdk);
		await s.client.readResource({ uri: 'test://static-text' });
		await s.client.readResource({ uri: 'test://static-text' });
		assert.equal(s.sent.count(m => m.method === 'resources/read'), 2);
		await s.client.readResource({ uri: 'shape://full' });
		await s.client.readResource({ uri: 'shape://full' });
		assert.equal(s.sent.count(m => m.method === 'resources/read'), 3);
	});

	it('a structured result may be any JSON value', async t => {
		const s = await t.open(sdk);
		const result = await s.call('structured_list');
		assert.deepEqual(result.structuredContent, [1, 'two']);
	});

	it('every result says that it is complete', async t => {
		const s = await t.open(sdk);
		await s.call('nothing');
		await s.client.getPrompt({ name: 'test_simple_prompt' });
		await s.client.complete({
			ref: { type: 'ref/prompt', name: 'review' },
			argument: { name: 'style', value: '' }
		});
		await s.client.listTools();
		await s.client.readResource({ uri: 'test://static-text' });
		assert.deepEqual(new Set(s.received.items.map(m => m.result.resultType)), new Set(['complete']));
	});
}
