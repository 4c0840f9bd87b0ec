// sessions.mjs - what Streamable HTTP adds for the revisions up to 2025-11-25: sessions, the stream of
// a GET, an answer as a stream of events, coming back after the connection was lost
// (2025-11-25 basic/transports). What is on which stream is in the transcripts of tests/wire.

import assert from 'node:assert/strict';
import { accept, elicits, park, text, waits } from './cases.mjs';
import { HttpServer } from './http.mjs';
import { Proxy } from './proxy.mjs';
import { casesOf, within } from './tap.mjs';

const is = method => note => note.method === method;

export function sessionCases(sdk) {
	const { it, on } = casesOf(sdk);

	on('initialize gives a session id, every later request carries it, and DELETE ends it', async s => {
		const id = s.transport.sessionId;
		assert.match(id, /^[\x21-\x7e]{32,}$/);
		await s.client.ping();
		const [first, ...rest] = s.exchanges.items;
		assert.equal(first.sent['mcp-session-id'], undefined);
		assert.equal(first.headers['mcp-session-id'], id);
		for (const x of rest) assert.equal(x.sent['mcp-session-id'], id);
		assert.deepEqual(await s.end(), []);
		assert.equal(s.exchanges.items.at(-1).method, 'DELETE');
		assert.equal(s.exchanges.items.at(-1).status, 204);
		const later = { headers: { 'Mcp-Session-Id': id, Accept: 'text/event-stream' } };
		assert.equal((await fetch(s.server.url, later)).status, 404);
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

	on('a server may end the connection of a long call: the SDK comes back for the answer', async s => {
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

	on('a cancelled call has no answer, and a client that comes back for it is told so', async s => {
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
		const ann = elicits(() => accept({ username: 'Ann', email: 'ann@example.com' }));
		const s = await t.open(sdk, { server, url: proxy.url(), ...ann });
		s.expectErrors = true;
		const cut = proxy.cut(({ response }) => after(response, '"Whole question?"', -5));
		const answer = s.call('test_elicitation', { message: 'Whole question?' });
		await within(cut, 'the cut');
		assert.match(text(await answer), /"username":"Ann"/);
		assert.equal(s.asked.length, 1);
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
