// sessions.mjs - what Streamable HTTP adds for the revisions up to 2025-11-25: sessions, the stream of
// a GET, an answer as a stream of events, coming back after the connection was lost
// (2025-11-25 basic/transports). The cases of an SDK, and those that need to see single streams.

import assert from 'node:assert/strict';
import { park, text, waits } from './cases.mjs';
import { HttpServer } from './http.mjs';
import { Proxy } from './proxy.mjs';
import { call, events, message, RawSession, readUntil, rpc } from './raw.mjs';
import { test, within } from './tap.mjs';

const is = method => note => note.method === method;
const form = { elicitation: { form: {} } };
const EVENTS = { Accept: 'text/event-stream, application/json;q=0.5' };

/** A tool whose question tells which call it belongs to. */
const ask = (id, word) => call(id, 'test_elicitation', { message: word });

// ---- with an SDK --------------------------------------------------------------------------------

export function sessionCases(sdk) {
	const it = (name, run) => test(`${sdk.name}: ${name}`, run);
	const bare = s => new RawSession(s.server.url, { 'Mcp-Session-Id': s.transport.sessionId });

	it('initialize gives a session id, every later request carries it, and DELETE ends it', async t => {
		const s = await t.open(sdk);
		const id = s.transport.sessionId;
		const later = bare(s);
		assert.match(id, /^[\x21-\x7e]{32,}$/);
		await s.client.ping();
		const [first, ...rest] = s.exchanges.items;
		assert.equal(first.sent['mcp-session-id'], undefined);
		assert.equal(first.headers['mcp-session-id'], id);
		for (const x of rest) assert.equal(x.sent['mcp-session-id'], id);
		assert.deepEqual(await s.end(), []);
		assert.equal(s.exchanges.items.at(-1).method, 'DELETE');
		assert.equal(s.exchanges.items.at(-1).status, 204);
		assert.equal((await later.post(rpc(1, 'ping'))).status, 404);
		assert.equal((await later.get()).status, 404);
		assert.equal((await later.delete()).status, 404);
	});

	it('DELETE cancels what still runs in the session', async t => {
		const server = t.use(await HttpServer.start());
		const s = await t.open(sdk, { server });
		const other = await t.open(sdk, { server });
		const { call: waiting } = await park(s, 'k', {}, 'park_until_cancelled');
		assert.deepEqual(await s.end(), []);
		await assert.rejects(waiting);
		await waits(other, 'k', 'no');
	});

	it('a client that leaves without DELETE finds its session again', async t => {
		const server = t.use(await HttpServer.start());
		const s = await t.open(sdk, { server });
		await s.client.setLoggingLevel('error');
		const sessionId = s.transport.sessionId;
		await s.client.close();
		const again = t.use(new RawSession(server.url, { 'Mcp-Session-Id': sessionId }));
		const response = await again.post(call(77, 'log_all'));
		const levels = [];
		for await (const event of events(response)) levels.push(message(event).params?.level);
		assert.deepEqual(
			levels.filter(Boolean),
			['error', 'critical', 'alert', 'emergency'],
			'the level that was set before'
		);
		s.ended = true; // nothing is left to be ended but what follows
		assert.equal((await again.delete()).status, 204);
	});

	it('sessions of one server are apart: ids, log levels, subscriptions, roots', async t => {
		const server = t.use(await HttpServer.start());
		const roots = name => ({
			server,
			capabilities: { roots: { listChanged: true } },
			answers: { 'roots/list': () => ({ roots: [{ uri: `file:///${name}` }] }) }
		});
		const [a, b] = [await t.open(sdk, roots('a')), await t.open(sdk, roots('b'))];
		const uri = 'test://watched-resource';
		assert.notEqual(a.transport.sessionId, b.transport.sessionId);
		await a.client.setLoggingLevel('debug');
		await b.client.setLoggingLevel('emergency');
		await a.client.subscribeResource({ uri });
		const said = await Promise.all([a, b].map(s => s.call('roots')));
		assert.deepEqual(said.map(text), ['[{"uri":"file:///a"}]', '[{"uri":"file:///b"}]']);
		await b.call('touch', { uri });
		await b.call('announce', { text: 'for those who asked' });
		await b.call('grow'); // a word to everybody, behind the others
		for (const s of [a, b]) await s.notes.take(is('notifications/prompts/list_changed'), 'the change');
		for (const s of [a, b])
			for (const [method, n] of [
				['notifications/resources/updated', s === a ? 1 : 0],
				['notifications/message', s === a ? 1 : 0],
				['notifications/tools/list_changed', 1]
			])
				assert.equal(s.notes.count(is(method)), n, `${method} to ${s === a ? 'a' : 'b'}`);
	});

	it('an answer is one JSON message, or events when something comes before it', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => ({ action: 'decline' }) }
		});
		const types = () => s.exchanges.items.filter(x => x.body?.includes('tools/call')).map(x => x.type);
		await s.call('echo', { text: 'x' });
		assert.equal(types().at(-1), 'application/json');
		await s.call('progress', { steps: [1] }, { onprogress() {} });
		assert.equal(types().at(-1), 'text/event-stream');
		await s.call('test_elicitation', { message: 'x' });
		assert.equal(types().at(-1), 'text/event-stream');
	});

	it('a server may end the connection of a long call: the SDK comes back for the answer', async t => {
		const s = await t.open(sdk);
		assert.equal(text(await s.call('test_reconnection')), 'Reconnection test completed');
		const back = s.exchanges.items.filter(x => x.sent['last-event-id']);
		assert.equal(back.length, 1);
		assert.equal(back[0].status, 200);
	});

	it('losing the connection is not cancelling', async t => {
		const server = t.use(await HttpServer.start());
		const proxy = t.use(await Proxy.start(server.port));
		const s = await t.open(sdk, { server, url: proxy.url() });
		s.expectErrors = true;
		const { call: lost } = await park(s, 'k', {}, 'park_until_cancelled');
		assert.equal(
			proxy.cutNow(c => c.request.includes('park_until_cancelled')),
			1
		);
		await assert.rejects(lost);
		await s.settle();
		await waits(s, 'k', 'yes');
		assert.equal(text(await s.call('release', { key: 'k' })), 'released k');
	});

	it('wherever the connection is cut, each event and the answer come exactly once', async t => {
		const server = t.use(await HttpServer.start());
		const proxy = t.use(await Proxy.start(server.port));
		const s = await t.open(sdk, { server, url: proxy.url() });
		s.expectErrors = true; // it reports every connection that it loses
		await comesBack(s, proxy);
	});

	it('a cancelled call has no answer, and a client that comes back for it is told so', async t => {
		const s = await t.open(sdk);
		const abort = new AbortController();
		const options = { signal: abort.signal, onprogress() {} };
		const { call: waiting } = await park(s, 'k', options, 'park_until_cancelled');
		await s.call('step', { key: 'k', done: 1 });
		await s.received.take(m => m.params?.progress === 1, 'progress');
		abort.abort('enough');
		await assert.rejects(waiting);
		const back = await s.exchanges.take(x => x.sent['last-event-id'], 'the client coming back');
		assert.equal(back.status, 204);
		await s.settle();
		assert.equal(
			s.exchanges.count(x => x.method === 'GET'),
			2,
			'it does not come again'
		);
	});

	it('a question that was cut off is asked again, and its answer counts', async t => {
		const server = t.use(await HttpServer.start());
		const proxy = t.use(await Proxy.start(server.port));
		let asked = 0;
		const s = await t.open(sdk, {
			server,
			url: proxy.url(),
			capabilities: form,
			answers: {
				'elicitation/create': () => {
					asked++;
					return { action: 'accept', content: { username: 'Ann', email: 'ann@example.com' } };
				}
			}
		});
		s.expectErrors = true;
		const cut = proxy.cut(({ response }) => after(response, '"Whole question?"', -5));
		const answer = s.call('test_elicitation', { message: 'Whole question?' });
		await within(cut, 'the cut');
		assert.match(text(await answer), /"username":"Ann"/);
		assert.equal(asked, 1);
	});

	it('what happens while nobody listens is told when the GET stream is back, once', async t => {
		const server = t.use(await HttpServer.start());
		const proxy = t.use(await Proxy.start(server.port));
		const s = await t.open(sdk, { server, url: proxy.url() });
		s.expectErrors = true;
		const uri = 'test://watched-resource';
		await s.client.subscribeResource({ uri });
		await s.call('touch', { uri });
		await s.notes.take(is('notifications/resources/updated'), 'the first update');
		assert.equal(proxy.cutNow(listens), 1);
		await s.call('grow');
		await s.notes.take(is('notifications/tools/list_changed'), 'what was missed');
		const back = s.exchanges.items.filter(x => x.method === 'GET');
		assert.deepEqual(
			back.map(x => [x.status, 'last-event-id' in x.sent]),
			[
				[200, false],
				[200, true]
			]
		);
		await s.call('touch', { uri });
		await s.notes.take(is('notifications/resources/updated'), 'the second update', 2);
		assert.equal(s.notes.count(is('notifications/resources/updated')), 2);
		assert.equal(s.notes.count(is('notifications/tools/list_changed')), 1);
	});
}

// ---- cutting ------------------------------------------------------------------------------------

/** The offset behind what is found, moved by some bytes; undefined while it is not there. */
function after(response, found, moved = 0) {
	const at = response.indexOf(found);
	return at < 0 ? undefined : at + found.length + moved;
}

/** Is the latest request on this connection a GET? */
const listens = ({ request }) => request.lastIndexOf('GET /') > request.lastIndexOf('POST /');

/** The offset behind the event in which it is found. */
function afterEvent(response, found, moved = 0) {
	const at = response.indexOf(found);
	const end = at < 0 ? -1 : response.indexOf('\n\n', at);
	return end < 0 ? undefined : end + 2 + moved;
}

// Call number i reports the steps 100*i+1, +2, +3. Where its connections are cut, one after the other.
const step = (i, n) => `"message":"step ${100 * i + n}"`;
const cuts = {
	'behind the first event, that only has an id': [
		(i, r) => (r.includes(step(i, 1)) ? (afterEvent(r, '\nretry: ') ?? afterEvent(r, 'id: ')) : undefined)
	],
	'in the first event with a message': [(i, r) => after(r, step(i, 1), -4)],
	'between two events': [(i, r) => afterEvent(r, step(i, 1))],
	'one byte before an event is complete': [(i, r) => afterEvent(r, step(i, 2), -1)],
	'in the first byte of the last event before the answer': [(i, r) => afterEvent(r, step(i, 2), 8)],
	'behind the last event before the answer': [(i, r) => afterEvent(r, step(i, 3))],
	'in the answer': [(i, r) => after(r, `parked cut-${i}.`, -3)],
	'one byte before the answer is complete': [(i, r) => afterEvent(r, `parked cut-${i}.`, -1)],
	'behind the answer, before the end of the stream': [(i, r) => afterEvent(r, `parked cut-${i}.`)],
	twice: [(i, r) => afterEvent(r, step(i, 1)), (i, r) => after(r, step(i, 3), -2)],
	'three times': [
		(i, r) => after(r, step(i, 1), -1),
		(i, r) => after(r, step(i, 2), -1),
		(i, r) => after(r, `parked cut-${i}.`, -1)
	]
};

/** The id of the last event that came whole. */
const lastId = response => [...response.matchAll(/id: (\S+)\n[^]*?\n\n/g)].at(-1)?.[1];

async function comesBack(s, proxy) {
	const calls = [];
	for (const name of Object.keys(cuts))
		for (const late of [false, true]) {
			const i = calls.length;
			const c = { i, key: `cut-${i}.`, name: late ? `${name}; later` : name, late, seen: [], lost: [] };
			c.cuts = cuts[name];
			c.waiting = (await park(s, c.key, { onprogress: p => c.seen.push(p.progress) })).call;
			calls.push(c);
			arm(proxy, c, c.cuts);
		}
	const report = ({ i, key }, n) => s.call('step', { key, done: 100 * i + n });
	for (const n of [1, 2]) for (const c of calls) await report(c, n);
	// Either all that is to come comes while the client is away, or the rest when it is back.
	for (const c of calls.toSorted((a, b) => a.late - b.late)) {
		if (c.late && c.lost.length)
			await s.exchanges.take(x => x.sent['last-event-id'] === c.lost[0], 'the client');
		await report(c, 3);
		await s.call('release', { key: c.key });
	}
	for (const c of calls) {
		assert.equal(text(await within(c.waiting, `the answer to "${c.name}"`)), `parked ${c.key}`, c.name);
		assert.deepEqual(
			c.seen,
			[1, 2, 3].map(n => 100 * c.i + n),
			c.name
		);
		assert.equal(c.lost.length, c.cuts.length, `${c.name}: cut`);
	}
	const resumed = s.exchanges.items.filter(x => x.sent['last-event-id']).map(x => x.sent['last-event-id']);
	const expected = calls.flatMap(c => (c.name.startsWith('behind the answer') ? [] : c.lost));
	assert.deepEqual(resumed.sort(), expected.sort());
	const answers = s.received.items.filter(m => m.result?.content?.[0]?.text.startsWith('parked cut-'));
	assert.equal(answers.length, calls.length, 'answers');
}

/** One cut after the other; notes the id that the client has to come back with. */
async function arm(proxy, c, [where, ...more]) {
	if (!where) return;
	const { response } = await proxy.cut(connection => where(c.i, connection.response));
	c.lost.push(lastId(response) ?? c.lost.at(-1));
	await arm(proxy, c, more);
}

// ---- stream by stream ---------------------------------------------------------------------------

export function streamCases() {
	const it = (name, run) => test(`streams: ${name}`, run);
	const start = async (t, options) => {
		const server = t.use(await HttpServer.start());
		return t.use(await RawSession.open(server.url, options));
	};
	const listen = async session => {
		const response = await session.get();
		assert.equal(response.status, 200);
		assert.equal(response.headers.get('content-type'), 'text/event-stream');
		return events(response);
	};

	it('GET tells of changed lists and resources, and the answers of calls do not come there', async t => {
		const s = await start(t);
		const stream = await listen(s);
		await s.ask(rpc(1, 'resources/subscribe', { uri: 'test://watched-resource' }));
		await s.ask(call(2, 'touch', { uri: 'test://watched-resource' }));
		await s.ask(call(3, 'grow'));
		const methods = [];
		while (methods.length < 4) {
			const { value: event } = await within(stream.next(), 'the changes');
			assert.ok(!('id' in message(event)));
			if (event.data) methods.push(message(event).method);
		}
		assert.deepEqual(methods.sort(), [
			'notifications/prompts/list_changed',
			'notifications/resources/list_changed',
			'notifications/resources/updated',
			'notifications/tools/list_changed'
		]);
	});

	it('a stream begins with an event that has an id and no data (2025-11-25)', async t => {
		const s = await start(t);
		const { value: first } = await (await listen(s)).next();
		assert.ok(first.id);
		assert.equal(first.data ?? '', '');
		const response = await s.post(call(1, 'echo', { text: 'x' }), EVENTS);
		assert.equal(response.headers.get('content-type'), 'text/event-stream');
		const seen = await readUntil(events(response), e => message(e).id === 1, 'the answer');
		assert.equal(seen.length, 2);
		assert.ok(seen[0].id && !seen[0].data);
		assert.equal(new Set([first, ...seen].map(e => e.id)).size, 3, 'every id is its own');
	});

	it('an older client gets no event without data', async t => {
		const s = await start(t, { revision: '2025-06-18' });
		const response = await s.post(call(1, 'echo', { text: 'x' }), EVENTS);
		const seen = await readUntil(events(response), e => message(e).id === 1, 'the answer');
		assert.equal(seen.length, 1);
	});

	it('progress and log of two calls come each on the stream of its own', async t => {
		const s = await start(t);
		await s.ask(rpc(1, 'logging/setLevel', { level: 'debug' }));
		const stream = await listen(s);
		const posts = ['a', 'b'].map(key => s.post(call(key, 'park', { key }, { _meta: { progressToken: key } })));
		for (const key of ['a', 'b']) while (text((await s.ask(call(8, 'parked', { key }))).result) !== 'yes');
		for (const key of ['a', 'b']) await s.ask(call(9, 'step', { key, done: 5 }));
		await s.ask(call(10, 'release_all'));
		for (const [i, key] of ['a', 'b'].entries()) {
			const own = events(await posts[i]);
			const seen = (await readUntil(own, e => message(e).id === key, `the end of ${key}`)).map(message);
			assert.deepEqual(
				seen.filter(m => m.method).map(m => m.params.progressToken),
				[key]
			);
			assert.ok((await own.next()).done, 'the stream ends with the answer');
		}
		const logs = await s.post(call(11, 'log_all'));
		const said = (await readUntil(events(logs), e => message(e).id === 11, 'the answer')).map(message);
		assert.equal(said.filter(m => m.method === 'notifications/message').length, 8);
		await s.ask(call(12, 'announce', { text: 'the last word' }));
		const general = await readUntil(stream, e => message(e).params?.data === 'the last word', 'the last word');
		assert.equal(general.filter(e => message(e).method).length, 1, 'nothing of the calls on GET');
	});

	it("what a call asks of the client comes on that call's stream", async t => {
		const s = await start(t, { capabilities: { ...form, sampling: {}, roots: {} } });
		const stream = await listen(s);
		const tools = {
			'elicitation/create': id => ask(id, 'Who?'),
			'sampling/createMessage': id => call(id, 'test_sampling', { prompt: 'x' }),
			'roots/list': id => call(id, 'roots')
		};
		const results = {
			'elicitation/create': { action: 'accept', content: { username: 'Ann', email: 'a@example.com' } },
			'sampling/createMessage': { model: 'm', role: 'assistant', content: { type: 'text', text: 'Paris' } },
			'roots/list': { roots: [{ uri: 'file:///a' }] }
		};
		const open = [];
		for (const [i, [method, make]] of Object.entries(tools).entries())
			open.push({ id: i + 1, method, stream: events(await s.post(make(i + 1))) });
		// In another order than they came.
		for (const { id, method, stream: own } of open.toReversed()) {
			const seen = (await readUntil(own, e => message(e).method, method)).map(message);
			const question = seen.at(-1);
			assert.equal(question.method, method);
			const taken = await s.post({ jsonrpc: '2.0', id: question.id, result: results[method] });
			assert.equal(taken.status, 202);
			const [answer] = (await readUntil(own, e => message(e).id === id, 'the answer')).map(message);
			assert.ok(!answer.result.isError, JSON.stringify(answer));
		}
		await s.ask(call(9, 'grow'));
		const general = (await readUntil(stream, e => message(e).method, 'a change')).map(message);
		assert.match(general.at(-1).method, /list_changed$/);
	});

	it('a stream can be read again from any event of it', async t => {
		const s = await start(t);
		const first = await s.post(call(1, 'progress', { steps: [1, 2, 3] }, { _meta: { progressToken: 1 } }));
		const all = [];
		for await (const event of events(first)) all.push(event);
		assert.ok(all.length >= 3, 'the answer, what only has an id, and progress');
		for (const [i, { id }] of all.entries()) {
			const again = await s.get({ 'Last-Event-ID': id });
			const rest = [];
			for await (const event of events(again)) rest.push(event);
			assert.deepEqual(rest, all.slice(i + 1));
			assert.equal(again.status, rest.length ? 200 : 204); // 204: there will be no more
		}
	});

	it('DELETE ends the streams of the session', async t => {
		const s = await start(t);
		const stream = await listen(s);
		await stream.next();
		assert.equal((await s.delete()).status, 204);
		assert.ok((await within(stream.next(), 'the end of the stream')).done);
	});
}
