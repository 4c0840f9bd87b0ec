// rules_stop.mjs - the end of a server that has clients: what runs may finish, for ten seconds; then it is
// told so, in whatever way its client is waiting. (That what finishes in time is answered is among the
// cases of the SDKs.)

import assert from 'node:assert/strict';
import { HttpServer } from './http.mjs';
import { call, events, message, modernPost, RawSession, Socket } from './raw.mjs';
import { test, within } from './tap.mjs';

const TOOL = 'park_until_cancelled';
const progress = { _meta: { progressToken: 1 } };
const textOf = answer => answer.result.content[0].text;

/** The last message of an answer, however it came. */
async function lastMessage(response) {
	if (response.headers.get('content-type') === 'application/json') return response.json();
	let last;
	for await (const event of events(response)) last = message(event);
	return last;
}

async function toEnd(stream) {
	while (!(await within(stream.next(), 'the end of a stream that listens')).done);
}

/** Stops a server of its own while four calls wait in it, none of which will end. */
export async function startStopping() {
	const server = await HttpServer.start();
	const session = await RawSession.open(server.url);
	const listening = events(await session.get());
	const sockets = await Promise.all([1, 2, 3].map(() => Socket.open(server.port)));
	const waiting = {
		'a call of a session': session.post(call(1, TOOL, { key: 'a' })).then(lastMessage),
		'a call of a session that has sent events': session
			.post(call(2, TOOL, { key: 'b' }, progress))
			.then(lastMessage),
		'a call of 2026-07-28': sockets[0].answer().then(a => JSON.parse(a.body)),
		'a call of 2026-07-28 that has sent events': sockets[1]
			.answer()
			.then(a => JSON.parse(a.body.split('data: ').at(-1)))
	};
	await sockets[0].write(modernPost(call(3, TOOL, { key: 'c' })));
	await sockets[1].write(modernPost(call(4, TOOL, { key: 'd' }, progress)));
	for (const key of 'abcd') while (textOf(await session.ask(call(9, 'parked', { key }))) !== 'yes');
	for (const key of 'bd') await session.ask(call(9, 'step', { key, done: 1 }));
	for (const answer of Object.values(waiting)) answer.catch(() => {}); // looked at later
	const began = performance.now();
	server.child.kill('SIGTERM');
	const letGo = Promise.all([sockets[2].end(), toEnd(listening)]).then(() => performance.now() - began);
	letGo.catch(() => {});
	return { server, letGo, waiting: Object.entries(waiting), began };
}

export function stopCase(started) {
	test('stop: who only listens is let go at once, calls after ten seconds, with an error', async () => {
		const { server, letGo, waiting, began } = started;
		assert.ok((await letGo) < 9_000);
		for (const [what, answer] of waiting) {
			const { error } = await within(answer, what);
			assert.deepEqual(
				[error?.code, error?.message],
				[what.includes('2026') ? -32603 : -32800, 'the server is stopping'],
				what
			);
		}
		assert.ok(performance.now() - began > 9_000, 'and not before');
		assert.deepEqual(await server.end(), []);
	});
}
