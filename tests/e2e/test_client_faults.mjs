// Our client and real processes that end, are killed, come back, or were never there.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Driver, good, ours } from './lib/driver.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { NodeServer, freePort, local } from './lib/node_server.mjs';
import { Pipe } from './lib/pipe.mjs';
import { mark, marked, until } from './lib/processes.mjs';
import { run, test, within } from './lib/tap.mjs';

const v1 = local('server_v1.mjs', 'stdio');
const v2 = local('server_v2.mjs', 'stdio');

/** Started as npx and the like do it: through a shell, which has a helper of its own that does not care about
 * standard input and holds the pipes open. Three processes. */
const wrapped = argv => ['/bin/sh', '-c', 'sleep 1000 & "$@"', 'wrapper', ...argv];

// ---- nothing stays behind -----------------------------------------------------------------------------

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGABRT'])
	test(`a client that ends by ${signal} takes the whole tree of its server with it`, async t => {
		const tag = mark();
		const driver = new Driver({ ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:disable_coredump=1` });
		t.use({ end: async () => [] });
		good(await driver.open({ argv: wrapped(v1), env: [tag] }));
		await until(tag, 3);
		driver.child.kill(signal);
		await within(driver.exit, 'the end of the driver');
		await until(tag, 0);
	});

test('so does one that frees its client', async t => {
	const tag = mark();
	const s = await t.open(ours, { argv: wrapped(v1), env: [tag] });
	assert.equal(await s.text('echo', { text: 'x' }), 'x');
	await until(tag, 3);
	good(await s.ask({ close: true }));
	// Freeing waits: whatever is gone is gone by now.
	assert.deepEqual(marked(tag), []);
});

test('only its own: another client of the same program is left alone', async t => {
	const [one, two] = [mark(), mark()];
	const a = await t.open(ours, { argv: wrapped(v1), env: [one] });
	const b = await t.open(ours, { argv: wrapped(v1), env: [two] });
	await until(two, 3);
	good(await a.ask({ close: true }));
	assert.deepEqual(marked(one), []);
	assert.equal(marked(two).length, 3);
	assert.equal(await b.text('echo', { text: 'alive' }), 'alive');
});

// ---- a program that dies --------------------------------------------------------------------------------

for (const [name, argv] of [['v1', v1], ['v2', v2]]) {
	test(`${name}: a server that is killed in the middle of a call is a failure that says so`, async t => {
		const s = await t.open(ours, { argv });
		const waiting = s.ask({ call: 'wait' });
		await s.text('echo', { text: 'begun' });
		process.kill(s.info.pid, 'SIGKILL');
		const result = await waiting;
		assert.notEqual(result.status, 'success');
		assert.equal(result.step, 'exchange');
		assert.match(result.error.message, /signal 9|SIGKILL|killed/i);
		const lost = await s.event('state');
		assert.notEqual(lost.status, 'success');
	});

	test(`${name}: one that is to be restarted is, and only calls under way are lost`, async t => {
		const s = await t.open(ours, { argv, restart: true });
		const waiting = s.ask({ call: 'wait' });
		await s.text('echo', { text: 'begun' });
		const before = s.info.pid;
		process.kill(before, 'SIGKILL');
		assert.notEqual((await waiting).status, 'success');
		assert.equal(await s.text('echo', { text: 'again' }), 'again');
		const { pid } = await s.ask({ state: true });
		assert.notEqual(pid, before);
	});

	test(`${name}: one that exits says with which status`, async t => {
		const s = await t.open(ours, { argv });
		const result = await s.call('exit', { code: 3 });
		assert.notEqual(result.status, 'success');
		assert.match(result.error.message, /status 3|code 3|\b3\b/);
	});
}

test('a program that is not there is named', async t => {
	const s = t.use(new Driver());
	const answer = await s.open({ argv: ['/no/such/program'] });
	assert.notEqual(answer.status, 'success');
	assert.match(answer.error.message, /\/no\/such\/program/);
	const call = await s.call('echo', { text: 'x' });
	assert.deepEqual([call.status === 'success', call.step], [false, 'spawn']);
	assert.equal(call.error.errno, 2);
});

test('a program that ends at once, and one that is no server, are told apart', async t => {
	const ends = t.use(new Driver());
	const ended = await ends.open({ argv: ['/bin/sh', '-c', 'echo no luck >&2; exit 7'] });
	assert.notEqual(ended.status, 'success');
	assert.match(ended.error.message, /7/);
	await ends.event('stderr', e => e.stderr === 'no luck');
	const cat = t.use(new Driver());
	const answer = await cat.open({ argv: ['cat'], connect_timeout_ms: 2000, probe_timeout_ms: 300 });
	assert.notEqual(answer.status, 'success');
});

test('lines that are no messages are noted, and passed over', async t => {
	const s = await t.open(ours, { argv: ['/bin/sh', '-c', 'echo Welcome; echo "{not json"; echo; exec "$@"', 'sh', ...v1] });
	assert.equal(await s.text('echo', { text: 'x' }), 'x');
	await s.event('note', e => /Welcome/.test(e.note));
});

test('a server that takes its time to start is not taken for another one', async t => {
	// The first question is given up before anybody reads it; what is read later are all questions at once.
	for (const [argv, era] of [
		[v1, 'legacy'],
		[v2, 'legacy'], // the last question counts
		[local('server_v2.mjs', 'stdio', '--reject'), 'modern']
	]) {
		const s = t.use(new Driver()), pipe = new Pipe();
		const opened = s.open({ argv: ['/bin/sh', '-c', 'read go <"$0"; exec "$@"', t.use(pipe).path, ...argv], probe_timeout_ms: 100, trace: true });
		await s.event('message', e => e.out && /"initialize"/.test(e.message));
		await pipe.open();
		pipe.write('go\n');
		assert.equal(good(await opened).era, era);
		assert.equal(await s.text('echo', { text: 'x' }), 'x');
	}
});

test('what a server writes to standard error arrives in lines', async t => {
	const s = await t.open(ours, { argv: ['/bin/sh', '-c', 'printf "one\\ntwo" >&2; exec "$@"', 'sh', ...v1] });
	await s.event('stderr', e => e.stderr === 'one');
	good(await s.ask({ close: true }));
	await s.event('stderr', e => e.stderr === 'two');
});

// ---- HTTP -----------------------------------------------------------------------------------------------

for (const [name, file] of [['v1', 'server_v1.mjs'], ['v2', 'server_v2.mjs']])
	test(`${name} http: a server that was killed and is back is served on, and what may have changed is said`, async t => {
		const PORT = String(await freePort());
		const start = async () => t.use(await NodeServer.start(local(file, 'http'), { env: { PORT } }));
		const first = await start();
		const s = await t.open(ours, { url: first.url });
		good(await s.ask({ watch: ['tools'] }));
		const waiting = s.ask({ call: 'wait' });
		await s.text('echo', { text: 'begun' });
		await first.kill('SIGKILL');
		assert.notEqual((await waiting).status, 'success');
		const refused = await s.call('echo', { text: 'x' });
		assert.deepEqual([refused.status === 'success', refused.step], [false, 'connect']);
		await start();
		assert.equal(await s.text('echo', { text: 'again' }), 'again');
		await s.event('change', e => e.change === 'missed');
		await s.heard(e => e.change === 'tools', () => s.call('grow')); // v1 refuses the second time
	});

/** A server that gives every request the same answer. */
async function answering(t, status, headers, body) {
	const http = createServer((req, res) => req.resume().on('end', () => res.writeHead(status, headers).end(body)));
	http.listen(0, '127.0.0.1');
	await once(http, 'listening');
	t.use({ end: async () => (http.closeAllConnections(), http.close(), []) });
	return `http://127.0.0.1:${http.address().port}/mcp`;
}

test('addresses where there is no server are told apart', async t => {
	const html = { 'content-type': 'text/html' };
	for (const [where, step, http] of [
		[`http://127.0.0.1:${await freePort()}/mcp`, 'connect', 0],
		['http://no-such-host.invalid/mcp', 'dns', 0],
		['gopher://127.0.0.1/', 'arguments', 0],
		[await answering(t, 401, { 'www-authenticate': 'Bearer' }, ''), 'auth', 401],
		[await answering(t, 403, {}, 'no'), 'auth', 403],
		[await answering(t, 500, html, '<h1>Sorry</h1>'), 'http', 500],
		[await answering(t, 503, {}, ''), 'http', 503]
	]) {
		const s = t.use(new Driver());
		const opened = await s.open({ url: where, connect_timeout_ms: 40_000 });
		assert.notEqual(opened.status, 'success', where);
		const call = await s.call('echo', { text: 'x' });
		assert.notEqual(call.status, 'success', where);
		assert.deepEqual([call.step, call.http], [step, http], `${where}: ${call.error.message}`);
	}
});

test('a web page is not taken for a server', async t => {
	const s = t.use(new Driver());
	const url = await answering(t, 200, { 'content-type': 'text/html' }, '<!doctype html><h1>Hi</h1>');
	assert.notEqual((await s.open({ url, connect_timeout_ms: 40_000 })).status, 'success');
	assert.notEqual((await s.call('echo')).status, 'success');
});

leftoverCase();
await run();
