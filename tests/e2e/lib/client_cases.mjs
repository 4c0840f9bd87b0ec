// client_cases.mjs - what our client has to be able to do with any server. The server is a program of
// somebody else's SDK (server_v1.mjs, server_v2.mjs, tests/interop) that has:
//
//	tools      echo(text)       the text
//	           add(a, b)        structured: {sum}
//	           fail             isError, "it failed"
//	           steps(n)         progress 1 to n of n, with a message "step i"; then "done"
//	           speak(text)      a log message: warning, logger "fixture"; then "spoken"
//	           ask_form         asks for {name, age (30)}, message "Who are you?"; {action, content} as text
//	           ask_model(prompt), ask_roots       "MODEL: TEXT"; the roots as text
//	           wait, cancelled  waits until it is cancelled; how often that was
//	           grow             adds the tool `grown`, and tells; "grew"
//	           touch            tells that test://watched changed
//	resources  test://text "some text", test://blob 00 01 02 ff, test://watched, test://item/{id} "item ID"
//	prompts    greet(name) "Hello NAME", which suggests Ann, Anna, Bob
//
// It calls itself fixture 1.2.3. A `server` here is { name, begin(t, more): the options of open, era, revision,
// without: what it (or its SDK) does not have }.

import assert from 'node:assert/strict';
import { good, names, ours } from './driver.mjs';
import { test } from './tap.mjs';

const roots = [{ uri: 'file:///home/ann', name: 'Ann' }, { uri: 'file:///srv' }];
const answers = { form: { content: { name: 'Ann' } }, url: {}, sampling: { model: 'small-1', text: 'Paris' } };

/** Tools that every such server has. */
const offered = ['echo', 'add', 'fail', 'steps', 'speak', 'ask_form', 'ask_model', 'ask_roots', 'wait', 'cancelled', 'grow', 'touch'];

export function clientCases(server) {
	const { name, era, revision, begin, without = [], options = {} } = server;
	const it = (what, body, ...needs) => {
		if (!needs.some(n => without.includes(n))) test(`${name}: ${what}`, body);
	};
	const open = async (t, more = {}) => t.open(ours, { ...(await begin(t)), ...options, ...more });

	it('is found out to be what it is', async t => {
		const { info } = await open(t);
		assert.deepEqual([info.era, info.revision], [era, revision]);
		assert.deepEqual([info.name, info.version], ['fixture', '1.2.3']);
		if (!without.includes('instructions')) assert.equal(info.instructions, 'Ask "anything" – politely.');
	});

	it('lists, reads, prompts and completes', async t => {
		const s = await open(t);
		const tools = names(await s.list('tools'));
		for (const tool of offered) assert.ok(without.includes(tool) || tools.includes(tool), tool);
		assert.deepEqual(names(await s.list('resources')).sort(), ['blob', 'text', 'watched']);
		assert.deepEqual(good(await s.list('templates')).items.map(x => x.uriTemplate), ['test://item/{id}']);
		assert.deepEqual(names(await s.list('prompts')), ['greet']);
		assert.equal(good(await s.read('test://text')).text, 'some text');
		const [blob] = good(await s.read('test://blob')).blocks;
		assert.deepEqual([blob.size, blob.mime, blob.uri], [4, 'application/octet-stream', 'test://blob']);
		assert.equal(good(await s.read('test://item/7')).text, 'item 7');
		assert.equal((await s.read('test://none')).status, 'the other side answered with an error');
		const greeting = good(await s.prompt('greet', { name: 'Ann' }));
		assert.equal(greeting.text, 'Hello Ann');
		assert.equal(greeting.blocks[0].role, 'user');
		if (!without.includes('completions')) assert.deepEqual(good(await s.complete('greet', 'name', 'An')).items, ['Ann', 'Anna']);
	});

	it('calls tools', async t => {
		const s = await open(t);
		for (const text of ['äöü € 漢字 😀', 'line\nfeed "quotes" \\ \u2028', '', 'x'.repeat(300_000)])
			assert.equal(await s.text('echo', { text }), text);
		assert.deepEqual(good(await s.call('add', { a: 2, b: 40 })).json, { sum: 42 });
		const failed = await s.call('fail');
		assert.deepEqual([failed.status, failed.toolError, failed.text], ['the other side answered with an error', true, 'it failed']);
		assert.notEqual((await s.call('no_such_tool')).status, 'success');
		assert.notEqual((await s.call('echo', { text: 7 })).status, 'success');
		// With which code is a matter of taste, it seems.
		assert.equal((await s.request('no/such/method', {})).status, 'the other side answered with an error');
		const many = Array.from({ length: 50 }, (_, i) => s.text('echo', { text: String(i) }));
		assert.deepEqual(await Promise.all(many), many.map((_, i) => String(i)));
	});

	it('hears of progress', async t => {
		const s = await open(t);
		const { id, answer } = s.begin({ call: 'steps', args: { n: 3 }, progress: true });
		assert.equal(good(await answer).text, 'done');
		assert.deepEqual(
			s.events.items.filter(e => e.progress === id).map(e => [e.done, e.total, e.message]),
			[[1, 3, 'step 1'], [2, 3, 'step 2'], [3, 3, 'step 3']]
		);
	}, 'progress');

	it('hears log messages, of the level that it asked for', async t => {
		const s = await open(t, { log_level: 'info' });
		good(await s.call('speak', { text: 'hello' }));
		const { log, logger, data } = await s.event('log', e => e.data === 'hello');
		assert.deepEqual([log, logger, data], ['warning', 'fixture', 'hello']);
		if (without.includes('levels')) return; // nor does the server
		const quiet = await open(t, { log_level: 'error' });
		good(await quiet.call('speak', { text: 'hello' }));
		good(await quiet.call('echo', { text: 'x' }));
		assert.equal(quiet.events.count(e => e.data === 'hello'), 0);
	}, 'logging');

	it('answers what the server asks', async t => {
		const s = await open(t, { roots, answers });
		assert.deepEqual(JSON.parse(await s.text('ask_form')), { action: 'accept', content: { name: 'Ann', age: 30 } });
		const { params } = await s.event('asked', e => e.asked === 'form');
		assert.equal(params.message, 'Who are you?');
		assert.deepEqual(params.requestedSchema.required, ['name']);
		assert.equal(await s.text('ask_model', { prompt: 'Capital?' }), 'small-1: Paris');
		assert.deepEqual(JSON.parse(await s.text('ask_roots')).map(r => r.uri), roots.map(r => r.uri));
		s.tell({ answers: { form: { action: 'decline' } } });
		assert.equal(JSON.parse(await s.text('ask_form')).action, 'decline');
		s.tell({ answers: { form: { action: 'cancel' } } });
		assert.equal(JSON.parse(await s.text('ask_form')).action, 'cancel');
	}, 'asking');

	it('answers later, and does other things meanwhile', async t => {
		const s = await open(t, { answers: { ...answers, form: { action: 'wait' } } });
		const asking = s.ask({ call: 'ask_form' });
		const { waiting } = await s.event('waiting');
		assert.equal(await s.text('echo', { text: 'meanwhile' }), 'meanwhile');
		s.tell({ reply: waiting, kind: 'form', with: { content: { name: 'Bob', age: 4 } } });
		assert.deepEqual(JSON.parse(good(await asking).text).content, { name: 'Bob', age: 4 });
	}, 'asking');

	it('a client that cannot be asked is not, and the call fails', async t => {
		const s = await open(t);
		for (const tool of ['ask_form', 'ask_roots']) assert.notEqual((await s.call(tool)).status, 'success');
		assert.notEqual((await s.call('ask_model', { prompt: 'x' })).status, 'success');
		assert.equal(await s.text('echo', { text: 'alive' }), 'alive');
		assert.equal(s.events.count(e => 'asked' in e), 0);
	}, 'asking');

	it('gives up a call, and the server stops', async t => {
		const s = await open(t);
		const before = Number(await s.text('cancelled'));
		const waiting = s.begin({ call: 'wait' });
		await s.text('echo', { text: 'it has begun' });
		s.tell({ cancel: waiting.id });
		assert.equal((await waiting.answer).status, 'cancelled');
		while (Number(await s.text('cancelled')) === before);
		const late = await s.call('wait', undefined, { timeout_ms: 1000 });
		assert.deepEqual([late.status, late.step], ['timed out', 'timeout']);
		while (Number(await s.text('cancelled')) === before + 1);
	}, 'cancelling');

	it('hears of changes', async t => {
		const s = await open(t);
		good(await s.ask({ watch: ['tools', 'prompts', 'resources'], uris: ['test://watched'] }));
		const { uri } = await s.heard(e => e.change === 'resource', () => s.text('touch'));
		assert.equal(uri, 'test://watched');
		await s.text('grow');
		await s.event('change', e => e.change === 'tools');
		assert.ok(names(await s.list('tools')).includes('grown'));
		assert.equal(await s.text('grown'), 'grown');
	}, 'changes');
}
