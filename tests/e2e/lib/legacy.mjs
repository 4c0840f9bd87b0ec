// legacy.mjs - what only the revisions up to 2025-11-25 have: sessions that are told of changes
// without having asked, resources/subscribe, logging/setLevel, ping, requests from the server.

import assert from 'node:assert/strict';
import { accept, elicits, noModel, park, refused, samples, text } from './cases.mjs';
import { casesOf } from './tap.mjs';

const is = method => note => note.method === method;

export function legacyCases(sdk) {
	const { it, on } = casesOf(sdk);

	on('ping is answered, also while calls wait', async s => {
		const { call } = await park(s, 'k');
		assert.deepEqual(await s.client.ping(), {});
		await s.call('release', { key: 'k' });
		await call;
	});

	on('changes of the lists are told once each, and the lists have changed', async s => {
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

	on('who subscribed to a resource is told that it changed, until unsubscribing', async s => {
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

	on('log messages come from the level on that was set', async s => {
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

	on('log messages of the server itself have a logger', async s => {
		await s.client.setLoggingLevel('info');
		await s.call('announce', { text: 'Attention: 5 %s' });
		const { params } = await s.notes.take(is('notifications/message'), 'the message');
		assert.deepEqual(params, { level: 'warning', logger: 'announcer', data: 'Attention: 5 %s' });
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

	const opens = elicits(() => accept(), { url: {} });
	on('the end of a URL elicitation is told under the id that was asked with', opens, async s => {
		await s.call('ask_url');
		const { params } = await s.notes.take(is('notifications/elicitation/complete'), 'complete');
		assert.ok(s.asked[0].elicitationId);
		assert.equal(params.elicitationId, s.asked[0].elicitationId);
	});

	it('cancelling a call takes its open question back from the client', async t => {
		const abort = new AbortController();
		let shown, withdrawn;
		const showing = new Promise(resolve => (shown = resolve));
		const gone = new Promise(resolve => (withdrawn = resolve));
		const asking = elicits((_, context) => {
			const signal = context.signal ?? context.mcpReq.signal;
			shown();
			return new Promise((_, reject) => {
				signal.addEventListener('abort', () => {
					withdrawn();
					reject(new Error('withdrawn'));
				});
			});
		});
		const s = await t.open(sdk, asking);
		const outcome = assert.rejects(s.call('ask_profile', {}, { signal: abort.signal }));
		await showing;
		abort.abort('never mind');
		await outcome;
		await gone;
		assert.deepEqual(await s.client.ping(), {});
	});

	on("an error of the client's handler is a failure that the tool reports", samples(noModel), async s => {
		const result = await s.call('test_sampling', { prompt: 'x' });
		assert.equal(result.isError, true);
		assert.match(text(result), /no model today/);
	});
}
