// legacy.mjs - what only the revisions up to 2025-11-25 have: sessions that are told of changes
// without having asked, resources/subscribe, logging/setLevel, ping, requests from the server.

import assert from 'node:assert/strict';
import { park, refused, text } from './cases.mjs';
import { test } from './tap.mjs';

const is = method => note => note.method === method;

export function legacyCases(sdk) {
	const it = (name, run) => test(`${sdk.name}: ${name}`, run);

	it('ping is answered, also while calls wait', async t => {
		const s = await t.open(sdk);
		const { call } = await park(s, 'k');
		assert.deepEqual(await s.client.ping(), {});
		await s.call('release', { key: 'k' });
		await call;
	});

	it('changes of the lists are told once each, and the lists have changed', async t => {
		const s = await t.open(sdk);
		await s.call('grow');
		for (const kind of ['tools', 'prompts', 'resources'])
			await s.notes.take(is(`notifications/${kind}/list_changed`), `${kind}/list_changed`);
		assert.ok((await s.client.listTools()).tools.some(x => x.name === 'grown'));
		assert.equal(text(await s.call('grown')), 'grown');
		await s.call('shrink');
		assert.ok(!(await s.client.listTools()).tools.some(x => x.name === 'grown'));
		await refused(s.call('grown'), -32602);
		for (const kind of ['tools', 'prompts', 'resources'])
			await s.notes.take(is(`notifications/${kind}/list_changed`), `${kind}/list_changed again`, 2);
		await s.settle();
		for (const kind of ['tools', 'prompts', 'resources'])
			assert.equal(s.notes.count(is(`notifications/${kind}/list_changed`)), 2, kind);
	});

	it('the SDK refreshes its list of tools when it changes', async t => {
		let refreshed;
		const tools = new Promise((resolve, reject) => {
			refreshed = (error, list) => (error ? reject(error) : resolve(list));
		});
		const s = await t.open(sdk, {
			client: { listChanged: { tools: { onChanged: refreshed, autoRefresh: true, debounceMs: 0 } } }
		});
		await s.call('grow');
		assert.ok((await tools).some(x => x.name === 'grown'));
	});

	it('who subscribed to a resource is told that it changed, until unsubscribing', async t => {
		const s = await t.open(sdk);
		const uri = 'test://watched-resource';
		await s.call('touch', { uri });
		await s.client.subscribeResource({ uri });
		await s.call('touch', { uri });
		const { params } = await s.notes.take(is('notifications/resources/updated'), 'updated');
		assert.equal(params.uri, uri);
		await s.call('touch', { uri: 'test://static-text' });
		await s.client.unsubscribeResource({ uri });
		await s.call('touch', { uri });
		await s.settle();
		assert.equal(s.notes.count(is('notifications/resources/updated')), 1);
	});

	it('subscribing to what is not there is refused', async t => {
		const s = await t.open(sdk);
		await assert.rejects(s.client.subscribeResource({ uri: 'test://no-such' }));
		assert.equal(s.answer('resources/subscribe').error.code, -32002);
	});

	it('log messages come from the level on that was set', async t => {
		const s = await t.open(sdk);
		await s.client.setLoggingLevel('error');
		await s.call('log_all');
		assert.deepEqual(
			s.notes.items.map(n => n.params.level),
			['error', 'critical', 'alert', 'emergency']
		);
		await s.client.setLoggingLevel('debug');
		await s.call('log_all');
		assert.equal(s.notes.items.length, 4 + 8);
		assert.equal(s.notes.items.at(-1).params.data, 'at emergency');
	});

	it('log messages of the server itself have a logger', async t => {
		const s = await t.open(sdk);
		await s.client.setLoggingLevel('info');
		await s.call('announce', { text: 'Attention: 5 %s' });
		const { params } = await s.notes.take(is('notifications/message'), 'the message');
		assert.deepEqual(params, { level: 'warning', logger: 'announcer', data: 'Attention: 5 %s' });
	});

	it('a log message of bytes that are no text is still one', async t => {
		const s = await t.open(sdk);
		await s.client.setLoggingLevel('debug');
		await s.call('log_odd');
		const { params } = await s.notes.take(is('notifications/message'), 'the message');
		assert.match(params.data, /"quoted"\n\u0001$/);
	});

	it('an unknown log level is refused with -32602', async t => {
		const s = await t.open(sdk);
		await refused(s.client.setLoggingLevel('loud'), -32602);
	});

	it('changed roots are noticed and asked for anew', async t => {
		let roots = [{ uri: 'file:///before' }];
		const s = await t.open(sdk, {
			capabilities: { roots: { listChanged: true } },
			answers: { 'roots/list': () => ({ roots }) }
		});
		assert.match(text(await s.call('roots')), /before/);
		assert.equal(text(await s.call('roots_changed')), '0');
		roots = [{ uri: 'file:///after' }];
		await s.client.sendRootsListChanged();
		assert.equal(text(await s.call('roots_changed')), '1');
		assert.match(text(await s.call('roots')), /after/);
	});

	it('the end of a URL elicitation is told under the id that was asked with', async t => {
		const asked = [];
		const s = await t.open(sdk, {
			capabilities: { elicitation: { url: {} } },
			answers: {
				'elicitation/create': params => {
					asked.push(params);
					return { action: 'accept' };
				}
			}
		});
		await s.call('ask_url');
		const { params } = await s.notes.take(is('notifications/elicitation/complete'), 'complete');
		assert.ok(asked[0].elicitationId);
		assert.equal(params.elicitationId, asked[0].elicitationId);
	});

	it('cancelling a call takes its open question back from the client', async t => {
		const abort = new AbortController();
		let shown, withdrawn;
		const showing = new Promise(resolve => (shown = resolve));
		const gone = new Promise(resolve => (withdrawn = resolve));
		const s = await t.open(sdk, {
			capabilities: { elicitation: { form: {} } },
			answers: {
				'elicitation/create': (_, context) => {
					const signal = context.signal ?? context.mcpReq.signal;
					shown();
					return new Promise((_, reject) => {
						signal.addEventListener('abort', () => {
							withdrawn();
							reject(new Error('withdrawn'));
						});
					});
				}
			}
		});
		const outcome = assert.rejects(s.call('ask_profile', {}, { signal: abort.signal }));
		await showing;
		abort.abort('never mind');
		await outcome;
		await gone;
		assert.deepEqual(await s.client.ping(), {});
	});

	it("an error of the client's handler is a failure that the tool reports", async t => {
		const s = await t.open(sdk, {
			capabilities: { sampling: {} },
			answers: {
				'sampling/createMessage': () => {
					throw new Error('no model today');
				}
			}
		});
		const result = await s.call('test_sampling', { prompt: 'x' });
		assert.equal(result.isError, true);
		assert.match(text(result), /no model today/);
	});
}
