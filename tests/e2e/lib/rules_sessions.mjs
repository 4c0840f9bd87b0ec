// rules_sessions.mjs - whose is it? Tokens, sessions and their streams: ids are looked up, never
// recognised; what belongs to somebody else is as unknown as what never was; nobody gets an answer, an
// event or a stream that is another's.

import assert from 'node:assert/strict';
import { bearer, TOKENS } from './ground.mjs';
import {
	call,
	events,
	initialize,
	message,
	modernPost,
	plainHeaders,
	RawSession,
	readUntil,
	request,
	rpc,
	Socket
} from './raw.mjs';
import { test, within } from './tap.mjs';

const EVENTS = { Accept: 'text/event-stream' };
const PREFER_EVENTS = { Accept: 'text/event-stream, application/json;q=0.5' };
const UNKNOWN = '0123456789abcdef0123456789abcdef';
const PING = JSON.stringify(rpc(1, 'ping'));
const INITIALIZE = JSON.stringify(initialize(1));

/** An answer without what differs by chance. */
const bytes = answer => answer.raw.replace(/^date: .*\r\n/im, '');

/** All that can be done with a session id, as text. */
function uses(id, headers = {}) {
	const own = { 'Mcp-Session-Id': id, ...headers };
	return {
		POST: request('POST', '/mcp', { ...plainHeaders, ...own }, PING),
		GET: request('GET', '/mcp', { ...EVENTS, ...own }),
		'GET with Last-Event-ID': request('GET', '/mcp', { ...EVENTS, ...own, 'Last-Event-ID': '00000000.1.1' }),
		DELETE: request('DELETE', '/mcp', own),
		'POST initialize': request('POST', '/mcp', { ...plainHeaders, ...own }, INITIALIZE)
	};
}

const textOf = answer => answer.result.content[0].text;

export function sessionRules(ground) {
	const open = (t, server = ground.server, options) => RawSession.open(server.url, options).then(s => t.use(s));

	// ---- tokens -------------------------------------------------------------------------------

	test('token: without one everything but /healthz and OPTIONS is 401 with WWW-Authenticate', async () => {
		const server = ground.guarded;
		for (const [method, path] of [
			['POST', '/mcp'],
			['GET', '/mcp'],
			['DELETE', '/mcp'],
			['PUT', '/mcp'],
			['GET', '/sse'],
			['POST', '/messages'],
			['GET', '/nothing'],
			['GET', '/metrics']
		]) {
			const answer = await ground.send(
				method,
				path,
				{ ...plainHeaders, Accept: '*/*' },
				{ server, body: method === 'POST' ? INITIALIZE : '' }
			);
			assert.equal(answer.status, 401, `${method} ${path}`);
			assert.match(answer.headers['www-authenticate'], /^Bearer\b/);
		}
		assert.equal((await ground.send('GET', '/healthz', {}, { server })).status, 200);
	});

	test('token: a wrong one, a part of one, one in another place is 401', async () => {
		const right = TOKENS.alice;
		for (const authorization of [
			'Bearer wrong',
			`Bearer ${right}x`,
			`Bearer ${right.slice(0, -1)}`,
			`Bearer ${right.toUpperCase()}`,
			`Bearer alice ${right}`,
			'Bearer alice',
			'Bearer ',
			'Bearer',
			right,
			`Basic ${Buffer.from(`alice:${right}`).toString('base64')}`,
			`Bearer ${right}, Bearer ${right}`,
			`Bearer ${'x'.repeat(8000)}`
		]) {
			const answer = await ground.send(
				'POST',
				'/mcp',
				{ ...plainHeaders, Authorization: authorization },
				{ server: ground.guarded, body: INITIALIZE }
			);
			assert.equal(answer.status, 401, authorization);
		}
		for (const path of [`/mcp?access_token=${right}`, `/mcp?token=${right}`]) {
			const answer = await ground.send('POST', path, plainHeaders, {
				server: ground.guarded,
				body: INITIALIZE
			});
			assert.equal(answer.status, 401, 'in the query');
		}
		const two = [
			...Object.entries(plainHeaders),
			['Authorization', `Bearer ${right}`],
			['Authorization', 'Bearer wrong']
		];
		assert.equal(
			(await ground.send('POST', '/mcp', two, { server: ground.guarded, body: INITIALIZE })).status,
			401
		);
	});

	test('token: the right one says who it is, in both eras and to the older transport', async t => {
		for (const name of ['alice', 'bob']) {
			const session = await open(t, ground.guarded, { headers: bearer(name) });
			assert.equal(textOf(await session.ask(call(1, 'principal'))), name);
			const modern = await ground.ask(modernPost(call(1, 'principal'), bearer(name)), {
				server: ground.guarded
			});
			assert.equal(textOf(JSON.parse(modern.body)), name);
		}
		const lower = { Authorization: `bearer ${TOKENS.alice}` };
		assert.equal(
			textOf(await (await open(t, ground.guarded, { headers: lower })).ask(call(1, 'principal'))),
			'alice'
		);
		assert.equal(textOf(await (await open(t)).ask(call(1, 'principal'))), 'nobody');
	});

	test('token: on a connection that is kept, each request is judged by its own', async () => {
		const socket = await Socket.open(ground.guarded.port);
		for (const [headers, wanted] of [
			[bearer('alice'), 'alice'],
			[bearer('bob'), 'bob'],
			[{}, 401],
			[bearer('alice'), 'alice']
		]) {
			await socket.write(modernPost(call(1, 'principal'), headers));
			const answer = await socket.answer();
			ground.answers.push(answer.raw);
			assert.equal(answer.status === 200 ? textOf(JSON.parse(answer.body)) : answer.status, wanted);
		}
		socket.destroy();
	});

	// ---- ids ----------------------------------------------------------------------------------

	test('session: an id that was never given is 404, whatever it looks like and whatever is done with it', async () => {
		for (const id of [UNKNOWN, 'x', 'f'.repeat(32), '../../etc/passwd', `${UNKNOWN}${UNKNOWN}`, 'é'])
			for (const [what, sent] of Object.entries(uses(id))) {
				const answer = await ground.ask(sent);
				assert.equal(answer.status, 404, `${what} ${id}`);
				assert.equal(answer.headers['mcp-session-id'], undefined);
			}
	});

	test('session: after DELETE it is as if it had never been, byte for byte', async t => {
		const session = await open(t);
		const { id } = session;
		assert.equal((await session.delete()).status, 204);
		const before = uses(UNKNOWN);
		for (const [what, sent] of Object.entries(uses(id)))
			assert.equal(bytes(await ground.ask(sent)), bytes(await ground.ask(before[what])), what);
	});

	// ---- whose --------------------------------------------------------------------------------

	test("session: another's is the same 404 as an unknown one, byte for byte, on POST, GET, DELETE and resuming", async t => {
		const server = ground.guarded;
		const session = await open(t, server, { headers: bearer('alice') });
		const stream = events(await session.get());
		const { value: first } = await stream.next();
		const bobs = uses(session.id, { ...bearer('bob'), 'Last-Event-ID': first.id });
		const unknown = uses(UNKNOWN, { ...bearer('bob'), 'Last-Event-ID': first.id });
		for (const [what, sent] of Object.entries(bobs)) {
			const answer = await ground.ask(sent, { server });
			assert.equal(answer.status, 404, what);
			assert.equal(bytes(answer), bytes(await ground.ask(unknown[what], { server })), what);
		}
		for (const [what, sent] of Object.entries(uses(session.id)))
			assert.equal((await ground.ask(sent, { server })).status, 401, `${what} without a token`);
		// Its owner has not noticed anything, and has the stream still.
		await session.ask(call(1, 'grow'));
		await readUntil(stream, e => message(e).method?.endsWith('list_changed'), 'the change');
		await session.ask(call(2, 'shrink'));
	});

	test("session: of the older transport, another's is the same 404 as an unknown one", async t => {
		const server = ground.guarded;
		const response = await fetch(new URL('/sse', server.url), { headers: { ...EVENTS, ...bearer('alice') } });
		t.use({ end: async () => (await response.body.cancel().catch(() => {}), []) });
		const stream = events(response);
		const { value: where } = await stream.next();
		assert.equal(where.event, 'endpoint');
		const post = (path, name) =>
			ground.send('POST', path, { ...plainHeaders, ...bearer(name) }, { server, body: INITIALIZE });
		const [path, id] = where.data.split('sessionId=');
		const foreign = await post(where.data, 'bob');
		assert.equal(foreign.status, 404);
		assert.equal(bytes(foreign), bytes(await post(`${path}sessionId=${UNKNOWN}`, 'bob')));
		assert.match(id, /^[0-9a-f]{32}$/);
		assert.equal((await post(where.data, 'alice')).status, 202);
		assert.equal(message((await within(stream.next(), 'the answer')).value).id, 1);
	});

	// ---- streams ------------------------------------------------------------------------------

	test("stream: a Last-Event-ID that is none, or unknown, or another session's, is the same 404", async t => {
		const [session, other] = [await open(t), await open(t)];
		const seen = [];
		for (const s of [session, other]) {
			const response = await s.post(call(1, 'echo', { text: 'private' }), PREFER_EVENTS);
			seen.push((await readUntil(events(response), e => message(e).id === 1, 'the answer')).at(-1).id);
		}
		const [own, foreign] = seen;
		const resume = id =>
			ground.ask(request('GET', '/mcp', { ...EVENTS, 'Mcp-Session-Id': session.id, 'Last-Event-ID': id }));
		const [mark, stream, event] = own.split('.');
		const wrong = [
			foreign,
			`${mark}.${stream}.${Number(event) + 1}`,
			`${mark}.999.1`,
			`${mark}.${stream}`,
			`${mark}.${stream}.`,
			`${mark}.${stream}.-1`,
			`${mark}.${stream}.1x`,
			`${mark}.${stream}.99999999999999999999999999`,
			`${mark}..1`,
			`x${own}`,
			'0',
			'not an id',
			'\u00ff',
			'a'.repeat(5000)
		];
		const answers = await Promise.all(wrong.map(resume));
		for (const [i, answer] of answers.entries()) {
			assert.equal(answer.status, 404, wrong[i]);
			assert.equal(bytes(answer), bytes(answers[0]), wrong[i]);
			assert.ok(!answer.body.includes('private'));
		}
		// The other one can have its own.
		const right = await other.get({ 'Last-Event-ID': foreign.replace(/\d+$/, '0') });
		assert.equal(right.status, 200);
		assert.equal(message((await events(right).next()).value).result.content[0].text, 'private');
	});

	test('stream: events that are not kept any more are an error, never a gap', async t => {
		const session = await open(t);
		const ids = [];
		for (let i = 0; i < 6; i++) {
			const response = await session.post(call(i, 'echo', { text: `${i}`.repeat(300_000) }), PREFER_EVENTS);
			ids.push((await readUntil(events(response), e => message(e).id === i, 'the answer'))[0].id);
		}
		const first = await session.get({ 'Last-Event-ID': ids[0] });
		assert.equal(first.status, 404);
		assert.equal(first.headers.get('content-type'), 'application/json');
		const last = await session.get({ 'Last-Event-ID': ids[5] });
		assert.equal(message((await events(last).next()).value).result.content[0].text, '5'.repeat(300_000));
	});

	// ---- ids of requests ----------------------------------------------------------------------

	test('ids: clients that use the same ones at the same time get each their own answers', async t => {
		const clients = await Promise.all(Array.from({ length: 8 }, () => open(t)));
		const waiting = clients.map((s, i) => s.ask(call(1, 'park', { key: `same ${i}` })));
		for (const i of clients.keys())
			while (textOf(await clients[i].ask(call(2, 'parked', { key: `same ${i}` }))) !== 'yes');
		for (const i of [...clients.keys()].reverse())
			await clients[0].ask(call(3, 'release', { key: `same ${i}` }));
		assert.deepEqual(
			(await Promise.all(waiting)).map(textOf),
			clients.map((_, i) => `parked same ${i}`)
		);
	});

	test('ids: also with 2026-07-28, where nothing but the connection tells them apart', async () => {
		const sockets = await Promise.all(Array.from({ length: 8 }, () => Socket.open(ground.server.port)));
		await Promise.all(sockets.map((s, i) => s.write(modernPost(call(1, 'park', { key: `modern ${i}` })))));
		const ask = async message => textOf(JSON.parse((await ground.ask(modernPost(message))).body));
		for (const i of sockets.keys()) while ((await ask(call(1, 'parked', { key: `modern ${i}` }))) !== 'yes');
		for (const i of [...sockets.keys()].reverse()) await ask(call(1, 'release', { key: `modern ${i}` }));
		for (const [i, s] of sockets.entries()) {
			assert.equal(textOf(JSON.parse((await s.answer()).body)), `parked modern ${i}`);
			s.destroy();
		}
	});

	test("ids: nobody can cancel another's call, or answer its question", async t => {
		const capabilities = { elicitation: { form: {} } };
		const [victim, attacker] = [
			await open(t, ground.server, { capabilities }),
			await open(t, ground.server, { capabilities })
		];
		const parked = victim.post(call(7, 'park_until_cancelled', { key: 'mine' }));
		while (textOf(await attacker.ask(call(1, 'parked', { key: 'mine' }))) !== 'yes');
		const stream = events(await victim.post(call(8, 'test_elicitation', { message: 'Who?' })));
		const question = message((await readUntil(stream, e => message(e).method, 'the question')).at(-1));
		const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
		const answer = username => ({
			jsonrpc: '2.0',
			id: question.id,
			result: { action: 'accept', content: { username, email: 'a@example.com' } }
		});
		await attacker.post(cancel);
		await attacker.post(answer('Mallory'));
		assert.equal(textOf(await attacker.ask(call(2, 'parked', { key: 'mine' }))), 'yes');
		await victim.post(answer('Ann'));
		const result = message((await readUntil(stream, e => message(e).id === 8, 'the answer')).at(-1));
		assert.match(textOf(result), /"username":"Ann"/);
		await attacker.ask(call(3, 'release', { key: 'mine' }));
		assert.equal((await (await parked).json()).id, 7);
	});
}
