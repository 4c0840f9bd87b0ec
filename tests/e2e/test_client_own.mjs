// Our client with our own server, on every way that leads from one to the other: stdio, TCP, Unix sockets, HTTP,
// HTTPS, with a token; in every revision that both speak.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from './lib/certificate.mjs';
import { Driver, good, names, ours, refusedWith } from './lib/driver.mjs';
import { HttpServer } from './lib/http.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { serverParameters } from './lib/session.mjs';
import { run, test } from './lib/tap.mjs';

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const WATCHED = 'test://watched-resource';
const TOKEN = 'correct-horse-battery-staple';
const { command } = serverParameters({});

const directory = mkdtempSync(join(tmpdir(), 'cleat-own-'));
const { cert, key } = selfSigned(directory);

/** One message per line over a socket: the server's stdio, handed on. */
class Lines {
	constructor(where) {
		this.server = net.createServer(socket => {
			const child = spawn(command, [], { stdio: ['pipe', 'pipe', 'inherit'] });
			socket.pipe(child.stdin).on('error', () => {});
			child.stdout.pipe(socket).on('error', () => child.kill());
			socket.on('error', () => child.kill());
		});
		this.server.listen(where);
	}

	static async start(where) {
		const lines = new Lines(where);
		await once(lines.server, 'listening');
		return lines;
	}

	async end() {
		await new Promise(resolve => this.server.close(resolve));
		return [];
	}
}

let sockets = 0;
const socketPath = () => join(directory, `${sockets++}.sock`);

/** Each gives the options that lead to a new server. */
const ways = {
	stdio: async () => ({ argv: [command] }),
	tcp: async t => {
		const lines = t.use(await Lines.start({ port: 0, host: '127.0.0.1' }));
		return { url: `tcp://127.0.0.1:${lines.server.address().port}` };
	},
	'unix-stream': async t => {
		const path = socketPath();
		t.use(await Lines.start(path));
		return { url: `unix-stream:${path}` };
	},
	http: async t => ({ url: t.use(await HttpServer.start()).url }),
	unix: async t => {
		const path = socketPath();
		t.use(await HttpServer.start({ listen: `unix:${path}` }));
		return { url: `unix:${path}` };
	},
	https: async t => {
		const { url } = t.use(await HttpServer.start({ args: ['--tls-cert', cert, '--tls-key', key] }));
		assert.match(url, /^https:/);
		return { url, ca_file: cert };
	}
};

/** What there is to do with a server, once. */
async function tour(s, revision) {
	assert.equal(await s.text('echo', { text: 'äöü € 漢字 😀' }), 'äöü € 漢字 😀');
	assert.ok(names(await s.list('tools')).includes('forecast'));
	assert.equal(good(await s.call('forecast', { city: 'Köln', days: 1 })).text.includes('Köln'), true);
	assert.equal((await s.call('test_error_handling')).toolError, true);
	assert.notEqual((await s.call('no_such_tool')).status, 'success');
	refusedWith(await s.call('reject', { code: -32050, why: 'because' }), -32050, /because/);
	assert.ok(good(await s.read('test://static-text')).text);
	// A call that reports, and is asked about from another.
	const parked = s.begin({ call: 'park', args: { key: 'k' }, progress: true });
	while ((await s.text('parked', { key: 'k' })) !== 'yes');
	good(await s.call('step', { key: 'k', done: 1, total: 4 }));
	assert.equal((await s.event('progress', e => e.progress === parked.id)).total, 4);
	good(await s.call('release', { key: 'k' }));
	good(await parked.answer);
	// One that is given up.
	const given = s.begin({ call: 'park_until_cancelled', args: { key: 'c' } });
	while ((await s.text('parked', { key: 'c' })) !== 'yes');
	s.tell({ cancel: given.id });
	assert.equal((await given.answer).status, 'cancelled');
	while ((await s.text('parked', { key: 'c' })) === 'yes');
	// What the server asks.
	assert.deepEqual(JSON.parse(await s.text('roots')), [{ uri: 'file:///home/ann', name: 'Ann' }]);
	assert.match(await s.text('test_sampling', { prompt: 'x' }), /Paris/);
	if (revision >= '2025-06-18') assert.equal(await s.text('ask_profile'), 'Ann <ann@example.com>, 30, green');
	// What changes.
	good(await s.ask({ watch: ['tools'], uris: [WATCHED] }));
	await s.heard(e => e.change === 'tools', async () => {
		await s.text('grow');
		await s.text('shrink');
	});
	assert.equal(s.events.count(e => 'end' in e), 0);
}

const asked = {
	roots: [{ uri: 'file:///home/ann', name: 'Ann' }],
	answers: {
		form: { content: { name: 'Ann', mail: 'ann@example.com', age: 30, color: 'green', member: false } },
		sampling: { model: 'small-1', text: 'Paris' }
	}
};

for (const [way, begin] of Object.entries(ways)) {
	// All of them on the two ways that differ most; elsewhere the newest of each era.
	for (const revision of way === 'stdio' || way === 'http' ? revisions : revisions.slice(-2))
		test(`${way}, ${revision}: a tour`, async t => {
			const s = await t.open(ours, { ...(await begin(t)), ...asked, protocol: revision });
			assert.equal(s.info.revision, revision);
			await tour(s, revision);
		});
	test(`${way}: by itself it finds the newest`, async t => {
		const s = await t.open(ours, await begin(t));
		assert.deepEqual([s.info.era, s.info.revision], ['modern', '2026-07-28']);
		const many = Array.from({ length: 200 }, (_, i) => s.text('echo', { text: String(i) }));
		assert.deepEqual(await Promise.all(many), many.map((_, i) => String(i)));
	});
}

test('https: a certificate that nobody vouches for is refused, unless it is said that it may be', async t => {
	const { url } = t.use(await HttpServer.start({ args: ['--tls-cert', cert, '--tls-key', key], env: { SERVER_QUIET: '1' } }));
	const s = t.use(new Driver());
	const refused = await s.open({ url, connect_timeout_ms: 40_000 });
	assert.notEqual(refused.status, 'success');
	const call = await s.call('echo', { text: 'x' });
	assert.equal(call.step, 'tls', call.error.message);
	const reckless = await t.open(ours, { url, insecure: true });
	assert.equal(await reckless.text('echo', { text: 'x' }), 'x');
});

test('http: a token opens the door, and only the right one does', async t => {
	const tokens = join(directory, 'tokens');
	writeFileSync(tokens, `ann ${TOKEN}\n`, { mode: 0o600 });
	const { url } = t.use(await HttpServer.start({ args: ['--token-file', tokens] }));
	const s = await t.open(ours, { url, bearer: TOKEN });
	assert.equal(await s.text('principal'), 'ann');
	for (const bearer of [undefined, 'wrong']) {
		const other = t.use(new Driver());
		assert.notEqual((await other.open({ url, bearer, connect_timeout_ms: 40_000 })).status, 'success');
		const call = await other.call('principal');
		assert.deepEqual([call.step, call.http], ['auth', 401]);
		assert.doesNotMatch(call.error.message, /wrong/); // what is secret is in no message
	}
});

test('pages add up, and what the server lets us keep is kept', async t => {
	const all = await t.open(ours, { argv: [command] });
	const paged = await t.open(ours, { argv: [command], env: ['SERVER_PAGE=3', 'SERVER_TTL=60000'] });
	assert.deepEqual(names(await paged.list('tools')), names(await all.list('tools')));
	assert.equal(good(await paged.list('tools')).cached, true);
	assert.equal(good(await paged.list('tools', { no_cache: true })).cached, false);
	assert.equal(good(await all.list('tools')).cached, false);
});

test('the directory is removed', async () => {
	rmSync(directory, { recursive: true });
});
leftoverCase();
await run();
