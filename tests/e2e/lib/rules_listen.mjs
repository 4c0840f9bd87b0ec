// rules_listen.mjs - where a server can be reached: not from elsewhere by accident, over TLS, through a
// socket file.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from './certificate.mjs';
import { bearer } from './ground.mjs';
import { HttpServer } from './http.mjs';
import { call, modernPost, request, Socket } from './raw.mjs';
import { test, within } from './tap.mjs';

const ECHO = modernPost(call(1, 'echo', { text: 'x' }));
const textOf = answer => JSON.parse(answer.body).result.content[0].text;

/** A server that must not start: what it said. */
async function refusal(options) {
	const server = new HttpServer(options);
	const { code, signal } = await within(server.exit, 'the end of a server that cannot start');
	assert.deepEqual([code, signal], [1, null], server.stderr);
	assert.deepEqual(server.urls, []);
	return server.stderr;
}

export function listenCases(ground) {
	const tokens = () => join(ground.directory, 'tokens');
	/** A server with a certificate, and how to reach it: options of tls.connect(). */
	const secure = async t => {
		const { cert, key } = selfSigned(ground.directory);
		const server = t.use(await HttpServer.start({ args: ['--tls-cert', cert, '--tls-key', key] }));
		const { port } = server;
		return { server, where: { port, host: '127.0.0.1', servername: 'localhost', ca: readFileSync(cert) } };
	};

	test('address: one that others can reach is refused without tokens', async () => {
		for (const listen of ['0.0.0.0:0', '[::]:0', 'http://0.0.0.0:0/mcp'])
			assert.match(await refusal({ listen }), /--token-file.*--allow-remote/);
	});

	test('address: with tokens it is served, and with --allow-remote', async t => {
		const guarded = t.use(await HttpServer.start({ listen: '0.0.0.0:0', args: ['--token-file', tokens()] }));
		assert.equal((await ground.ask(ECHO, { server: guarded })).status, 401);
		assert.equal(
			(await ground.ask(modernPost(call(1, 'principal'), bearer('bob')), { server: guarded })).status,
			200
		);
		const open = t.use(await HttpServer.start({ listen: '0.0.0.0:0', args: ['--allow-remote'] }));
		assert.equal(textOf(await ground.ask(ECHO, { server: open })), 'x');
		const origin = { Origin: 'https://evil.example' };
		assert.equal((await ground.send('GET', '/healthz', origin, { server: open })).status, 403);
	});

	test('address: without a host it is the loopback one', async t => {
		const server = t.use(await HttpServer.start({ listen: '0' }));
		assert.equal(new URL(server.url).hostname, '127.0.0.1');
		assert.equal(textOf(await ground.ask(ECHO, { server })), 'x');
	});

	test('address: several are served at once, also with a path of their own', async t => {
		const server = t.use(await HttpServer.start({ listen: ['127.0.0.1:0', 'http://127.0.0.1:0/other/path'] }));
		assert.match(server.urls[1], /\/other\/path$/);
		const port = Number(new URL(server.urls[1]).port);
		const moved = ECHO.replace('/mcp', '/other/path');
		assert.equal(textOf(await ground.ask(ECHO, { server })), 'x');
		assert.equal(textOf(await ground.ask(moved, { where: port })), 'x');
		assert.equal((await ground.ask(ECHO, { where: port })).status, 404);
	});

	test('tokens: a file that is missing, empty or wrong is no start, and none of it is shown', async () => {
		const bad = ground.file('bad', 'alice\n');
		const empty = ground.file('empty', '# nobody\n');
		for (const file of [join(ground.directory, 'missing'), bad, empty])
			assert.match(await refusal({ args: ['--token-file', file] }), /\S/, file);
		const secret = ground.file('secret', 'alice sup3r-secret-t0ken more\n');
		assert.doesNotMatch(await refusal({ args: ['--token-file', secret] }), /sup3r/);
	});

	// ---- TLS ----------------------------------------------------------------------------------

	test('TLS: 1.2 and 1.3 are spoken, with the certificate that was given, and nothing older', async t => {
		const { server, where } = await secure(t);
		assert.match(server.url, /^https:/);
		for (const version of ['TLSv1.2', 'TLSv1.3']) {
			const socket = await Socket.open({ ...where, minVersion: version, maxVersion: version });
			assert.equal(socket.socket.getProtocol(), version);
			for (let i = 0; i < 3; i++) {
				await socket.write(ECHO);
				assert.equal(textOf(await socket.answer()), 'x');
			}
			socket.destroy();
		}
		const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
		await assert.rejects(Socket.open({ ...where, ...old }));
		await assert.rejects(Socket.open({ ...where, ca: undefined }), /self-signed/);
	});

	test('TLS: large and streamed answers, and a request in many records', async t => {
		const { where } = await secure(t);
		const socket = await Socket.open(where);
		const text = 'x'.repeat(3_000_000);
		const bytes = modernPost(call(1, 'echo', { text }));
		for (let at = 0; at < bytes.length; at += 100_000) await socket.write(bytes.slice(at, at + 100_000));
		assert.equal(textOf(await socket.answer()), text);
		await socket.write(modernPost(call(2, 'progress', { steps: [1, 2] }, { _meta: { progressToken: 1 } })));
		const streamed = await socket.answer();
		assert.equal(streamed.headers['content-type'], 'text/event-stream');
		assert.match(streamed.body, /"2 steps"/);
		socket.destroy();
	});

	test('TLS: who speaks plainly, or hangs up in the handshake, is cut off and hurts nobody', async t => {
		const { server, where } = await secure(t);
		const plain = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
		for (const bytes of [plain, '\x16\x03\x01\x00\x05hello', '\x16\x03\x01']) {
			const socket = await Socket.open(server.port);
			await socket.write(bytes);
			if (bytes.length > 3) await socket.end();
			assert.doesNotMatch(socket.bytes, /^ok|200/m);
			socket.destroy();
		}
		assert.equal(textOf(await ground.ask(ECHO, { where })), 'x');
	});

	test('TLS: half a pair, and halves of two pairs, are no start', async () => {
		const one = selfSigned(ground.directory, 'one');
		const two = selfSigned(ground.directory, 'two');
		for (const args of [
			['--tls-cert', one.cert],
			['--tls-key', one.key],
			['--tls-cert', one.cert, '--tls-key', two.key],
			['--tls-cert', one.key, '--tls-key', one.key],
			['--tls-cert', join(ground.directory, 'missing'), '--tls-key', one.key]
		])
			assert.match(await refusal({ args }), /\S/, args.join(' '));
		assert.match(await refusal({ listen: 'https://127.0.0.1:0' }), /--tls-cert/);
	});

	// ---- a socket file ------------------------------------------------------------------------

	test("unix: a socket file is served, is only its owner's, and goes with the server", async () => {
		const path = join(ground.directory, 'mcp.sock');
		const server = await HttpServer.start({ listen: `unix:${path}` });
		assert.equal(statSync(path).mode & 0o777, 0o600);
		assert.equal(textOf(await ground.ask(ECHO, { where: path })), 'x');
		const evil = request('GET', '/healthz', { Host: 'evil.example' });
		assert.equal((await ground.ask(evil, { where: path })).status, 403);
		assert.deepEqual(await server.end(), []);
		assert.ok(!existsSync(path));
	});

	test('unix: a file that is there is not taken away, unless it is a socket nobody serves', async () => {
		const file = ground.file('precious', 'data');
		await refusal({ listen: `unix:${file}` });
		assert.equal(readFileSync(file, 'utf8'), 'data');
		const path = join(ground.directory, 'twice.sock');
		const server = await HttpServer.start({ listen: `unix:${path}` });
		await refusal({ listen: `unix:${path}` });
		assert.equal(textOf(await ground.ask(ECHO, { where: path })), 'x');
		server.child.kill('SIGKILL');
		await server.exit;
		const next = await HttpServer.start({ listen: `unix:${path}` });
		assert.equal(textOf(await ground.ask(ECHO, { where: path })), 'x');
		assert.deepEqual(await next.end(), []);
	});
}
