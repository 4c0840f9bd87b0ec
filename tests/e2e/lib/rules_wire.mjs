// rules_wire.mjs - HTTP itself: what is too large, too slow or ambiguous is refused while it is being
// read, and the connection closed; what HTTP/1.1 allows works.

import assert from 'node:assert/strict';
import { bearer } from './ground.mjs';
import { call, modernPost, request, plainHeaders, Socket } from './raw.mjs';
import { test, within } from './tap.mjs';

const MIB = 1024 * 1024;
const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n';
const SMUGGLED = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const ECHO = modernPost(call(1, 'echo', { text: 'x' }));

/** Writes pieces until there is an answer; how many bytes that were. */
async function writeUntilAnswered(socket, piece, most) {
	let sent = 0;
	while (!socket.bytes && !socket.closed && sent < most) {
		await within(
			Promise.race([socket.write(piece), socket.until(() => socket.bytes || socket.closed, 'an answer')]),
			'writing'
		);
		sent += piece.length;
		await new Promise(setImmediate); // a look at what has come
	}
	return sent;
}

// Each is ambiguous to some parser: two of them in a row see different requests. [what, bytes, status]
const AMBIGUOUS = [
	[
		'Content-Length and Transfer-Encoding',
		`${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
	],
	[
		'Transfer-Encoding and Content-Length',
		`${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`
	],
	['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
	['a list of lengths', `${HEAD}Content-Length: 2, 2\r\n\r\n{}`],
	['a length with a sign', `${HEAD}Content-Length: +2\r\n\r\n{}`],
	['a negative length', `${HEAD}Content-Length: -2\r\n\r\n{}`],
	['a length in hexadecimal', `${HEAD}Content-Length: 0x2\r\n\r\n{}`],
	['a length with a space in it', `${HEAD}Content-Length: 2 2\r\n\r\n{}`],
	['no length', `${HEAD}Content-Length:\r\n\r\n{}`],
	['a length beyond 64 bits', `${HEAD}Content-Length: 99999999999999999999999\r\n\r\n{}`],
	['chunked, and not last', `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
	['chunked twice', `${HEAD}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
	['chunked in two fields', `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
	['not quite chunked', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
	['chunked with something before it', `${HEAD}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
	['another coding', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
	['chunked in HTTP/1.0', `${HEAD.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
	['a space before the colon', `${HEAD}Content-Length : 2\r\n\r\n{}`],
	['a folded field', `${HEAD}X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`],
	['a folded first field', 'GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n'],
	['lines that end with LF', 'GET /healthz HTTP/1.1\nHost: localhost\n\n'],
	['a field that ends with LF', `${HEAD}X: a\nContent-Length: 2\r\n\r\n{}`],
	['a field that ends with CR', `${HEAD}X: a\rContent-Length: 2\r\n\r\n{}`],
	['NUL in a value', `${HEAD}X: a\0b\r\nContent-Length: 2\r\n\r\n{}`],
	['a control character in a name', `${HEAD}X\x01: a\r\nContent-Length: 2\r\n\r\n{}`],
	['a field without a name', `${HEAD}: a\r\nContent-Length: 2\r\n\r\n{}`],
	['a field without a colon', `${HEAD}Xa\r\nContent-Length: 2\r\n\r\n{}`],
	['a request line with two spaces', 'GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
	['a tab in the request line', 'GET\t/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
	['a request without a version', 'GET /healthz\r\n\r\n'],
	['a version that is none', 'GET /healthz HTTP/1.x\r\nHost: localhost\r\n\r\n'],
	['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
	['HTTP/3.0', 'GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n', 505],
	['a chunk size that is none', chunked('g\r\n{}\r\n')],
	['a chunk size with 0x', chunked('0x2\r\n{}\r\n')],
	['a chunk size with a sign', chunked('+2\r\n{}\r\n')],
	['a chunk size with an underscore', chunked('0_2\r\n{}\r\n')],
	['a chunk size with a space', chunked(' 2\r\n{}\r\n')],
	['a chunk size with many digits', chunked('00000000000000002\r\n{}\r\n')],
	['a chunk size that overflows', chunked('fffffffffffffffff\r\n{}\r\n')],
	['a chunk size that ends with LF', chunked('2\n{}\r\n')],
	['a chunk that is longer than it says', chunked('2\r\n{}x\r\n')],
	['a chunk that ends with LF', chunked('2\r\n{}\n0\r\n\r\n')],
	['a large chunk extension', chunked(`2;${'x'.repeat(20000)}\r\n{}\r\n`)]
];

function chunked(body) {
	return `${HEAD}Transfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`;
}

/** Connections that are slow from the very beginning of the file; see the last case. */
export async function startSlow(ground) {
	const open = async bytes => {
		const socket = await Socket.open(ground.server.port);
		await socket.write(bytes);
		return socket;
	};
	const began = performance.now();
	const slow = {
		'a request line that does not end': await open('GET /healt'),
		'a header that does not end': await open('POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: '),
		'a header that comes byte by byte': await open('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: '),
		'a body that does not come': await open(`${HEAD}Content-Length: 5\r\n\r\n`),
		'a body that stops': await open(`${HEAD}Content-Length: 50\r\n\r\n{"jsonrpc"`),
		'a chunk that does not come': await open(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n`)
	};
	const drip = slow['a header that comes byte by byte'];
	const timer = setInterval(() => drip.closed || drip.bytes || drip.write('a'), 500);
	timer.unref();
	return { slow, began, stop: () => clearInterval(timer) };
}

export function slowCase(started) {
	test('slow: who does not finish header or body within 10 s gets 408 and is cut off', async () => {
		const { slow, began, stop } = started;
		for (const [what, socket] of Object.entries(slow)) {
			const answer = await socket.answer();
			assert.equal(answer.status, 408, what);
			await socket.end();
			socket.destroy();
		}
		stop();
		assert.ok(performance.now() - began > 9_000, 'and not before');
	});
}

export function wireCases(ground) {
	// ---- size ---------------------------------------------------------------------------------

	test('body: over 4 MiB by Content-Length is 413 before any of it is sent', async () => {
		for (const path of ['/mcp', '/messages?sessionId=0', '/sse', '/nothing']) {
			const bytes = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${5 * MIB}\r\n\r\n`;
			await ground.refuses(bytes, 413, path);
		}
	});

	test('body: over 4 MiB in chunks is 413 while it is being read', async () => {
		const socket = await Socket.open(ground.server.port);
		await socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
		const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
		const sent = await writeUntilAnswered(socket, chunk, 64 * MIB);
		assert.ok(sent > 4 * MIB && sent < 16 * MIB, `${sent} bytes`);
		assert.equal((await socket.answer()).status, 413);
		await socket.end();
		socket.destroy();
	});

	test('body: in small chunks its limit is the same', async () => {
		const socket = await Socket.open(ground.server.port);
		await socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
		const sent = await writeUntilAnswered(socket, '10\r\n0123456789abcdef\r\n'.repeat(10_000), 64 * MIB);
		assert.ok(sent > 4 * MIB && sent < 32 * MIB, `${sent} bytes`);
		assert.equal((await socket.answer()).status, 413);
		socket.destroy();
	});

	test('body: 4 MiB to the byte is read', async () => {
		const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'.padEnd(4 * MIB);
		const answer = await ground.send('POST', '/mcp', plainHeaders, { body });
		assert.equal(answer.status, 400); // and understood: there is no session
		assert.match(answer.body, /Mcp-Session-Id/);
		await ground.refuses(`${HEAD}Content-Length: ${4 * MIB + 1}\r\n\r\n`, 413, 'one byte more');
	});

	test('body: who may not come in is told before the body is read', async () => {
		for (const [headers, status, server] of [
			['Host: evil.example', 403, ground.server],
			['Host: localhost\r\nOrigin: https://evil.example', 403, ground.server],
			['Host: localhost', 401, ground.guarded]
		]) {
			const socket = await Socket.open(server.port);
			await socket.write(
				`POST /mcp HTTP/1.1\r\n${headers}\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n`
			);
			const answer = await socket.answer();
			ground.answers.push(answer.raw);
			assert.equal(answer.status, status, headers);
			socket.destroy();
		}
	});

	test('header: over 16 KiB, in one field, in many or in the target, is 431', async () => {
		const big = 'a'.repeat(17 * 1024);
		await ground.refuses(request('GET', '/healthz', { X: big }), 431, 'one field');
		await ground.refuses(request('GET', `/${big}`), 431, 'the target');
		const many = Array.from({ length: 90 }, (_, i) => [`X-${i}`, 'a'.repeat(200)]);
		await ground.refuses(request('GET', '/healthz', many), 431, 'many fields');
		const socket = await Socket.open(ground.server.port);
		await socket.write('GET /healthz HTTP/1.1\r\nX: ');
		await writeUntilAnswered(socket, 'a'.repeat(4096), 64 * MIB);
		assert.equal((await socket.answer()).status, 431, 'a field that never ends');
		socket.destroy();
	});

	test('header: 100 fields are read, 101 are 431', async () => {
		const fields = n => Array.from({ length: n - 1 }, (_, i) => [`X-${i}`, '1']); // and Host
		assert.equal((await ground.send('GET', '/healthz', fields(100))).status, 200);
		await ground.refuses(request('GET', '/healthz', fields(101)), 431, '101 fields');
	});

	test('header: a trailer has limits, too', async () => {
		const trailer = 'X: a\r\n'.repeat(5000);
		await ground.refuses(
			`${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n${trailer}\r\n`,
			431,
			'a large trailer'
		);
	});

	// ---- smuggling ----------------------------------------------------------------------------

	test('smuggling: what two parsers may read differently is 400, and nothing behind it is looked at', async () => {
		for (const [what, bytes, status = 400] of AMBIGUOUS) await ground.refuses(bytes + SMUGGLED, status, what);
	});

	test('smuggling: also when it comes byte by byte', async () => {
		for (const [what, bytes, status = 400] of AMBIGUOUS.slice(0, 3)) {
			const socket = await Socket.open(ground.server.port);
			for (const byte of bytes + SMUGGLED) if (!socket.bytes) await socket.write(byte);
			assert.equal((await socket.answer()).status, status, what);
			await socket.end();
			assert.equal(socket.bytes, '', what);
			socket.destroy();
		}
	});

	// ---- what works ---------------------------------------------------------------------------

	test('HTTP/1.0 is answered, and the connection closed; with keep-alive it is kept', async () => {
		const socket = await Socket.open(ground.server.port);
		await socket.write('GET /healthz HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n');
		assert.equal((await socket.answer()).body, 'ok\n');
		await socket.write('GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n');
		assert.equal((await socket.answer()).body, 'ok\n');
		await socket.end();
		socket.destroy();
	});

	test('Connection: close is kept to, with calls as well', async () => {
		const socket = await Socket.open(ground.server.port);
		await socket.write(modernPost(call(1, 'echo', { text: 'x' }), { Connection: 'close' }));
		const answer = await socket.answer();
		assert.equal(answer.status, 200);
		assert.match(answer.headers.connection, /close/i);
		await socket.end();
		socket.destroy();
	});

	test('pipelining: answers come in the order of the requests', async () => {
		const socket = await Socket.open(ground.server.port);
		const words = ['one', 'two', 'three', 'four'];
		await socket.write(words.map((text, i) => modernPost(call(i, 'echo', { text }))).join(''));
		for (const [i, text] of words.entries()) {
			const { id, result } = JSON.parse((await socket.answer()).body);
			assert.deepEqual([id, result.content[0].text], [i, text]);
		}
		socket.destroy();
	});

	test('pipelining: a thousand requests in one go do not hurt', async () => {
		const socket = await Socket.open(ground.server.port);
		socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000));
		for (let i = 0; i < 1000; i++) assert.equal((await socket.answer()).status, 200);
		socket.destroy();
	});

	test('byte by byte a request is the same', async () => {
		const socket = await Socket.open(ground.server.port);
		for (const byte of ECHO) await socket.write(byte);
		assert.equal(JSON.parse((await socket.answer()).body).result.content[0].text, 'x');
		socket.destroy();
	});

	test('a body in chunks is one body', async () => {
		const [head, body] = ECHO.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked').split('\r\n\r\n');
		const pieces = body.match(/.{1,7}/g).map(piece => `${piece.length.toString(16)};x=y\r\n${piece}\r\n`);
		const answer = await ground.ask(`${head}\r\n\r\n${pieces.join('')}0\r\nX-Trailer: 1\r\n\r\n`);
		assert.equal(JSON.parse(answer.body).result.content[0].text, 'x');
	});

	test('Expect: 100-continue is answered before the body is sent, unless it is not wanted', async () => {
		const [head, body] = ECHO.split('\r\n\r\n');
		const socket = await Socket.open(ground.server.port);
		await socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
		assert.equal((await socket.answer()).status, 100);
		await socket.write(body);
		assert.equal((await socket.answer()).status, 200);
		socket.destroy();
		const expect = 'Expect: 100-continue\r\n\r\n';
		await ground.refuses(`${HEAD}Content-Length: ${5 * MIB}\r\n${expect}`, 413, 'too large');
		await ground.refuses(`${HEAD}Content-Length: 4000000\r\n${expect}`, 401, 'no token', ground.guarded);
		await ground.refuses(`${HEAD}Content-Length: 2\r\nExpect: 200-ok\r\n\r\n`, 417, 'something else');
	});

	test('half close: who has asked with Connection: close and says no more still gets the answer', async () => {
		const socket = await Socket.open(ground.server.port);
		socket.socket.end(modernPost(call(1, 'block', { text: 'later' }), { Connection: 'close' }));
		assert.equal(JSON.parse((await socket.answer()).body).result.content[0].text, 'later');
		await socket.end();
	});

	test('who hangs up in the middle of a request or of an answer leaves no trace', async () => {
		for (const bytes of [
			'GET',
			ECHO.slice(0, 100),
			ECHO.slice(0, -3),
			ECHO,
			modernPost(call(1, 'park', { key: 'gone' }))
		])
			for (const how of ['destroy', 'resetAndDestroy', 'end']) {
				const socket = await Socket.open(ground.server.port);
				await socket.write(bytes);
				socket.socket[how]();
			}
		const [count] = JSON.parse((await ground.ask(modernPost(call(1, 'release_all')))).body).result.content;
		assert.match(count.text, /^released \d+$/);
	});

	test('garbage is refused, whatever it is', async () => {
		for (const [bytes, status] of [
			['\0\0\0\0\r\n\r\n', 400],
			['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400], // TLS
			['{"jsonrpc":"2.0"}\r\n\r\n', 400],
			['HTTP/1.1 200 OK\r\n\r\n', 501],
			['\r\n'.repeat(20_000), 400]
		])
			await ground.refuses(bytes, status, JSON.stringify(bytes.slice(0, 40)));
	});

	test('the names in an answer tell nothing that helps an attacker', async () => {
		const { headers } = await ground.send('GET', '/healthz');
		assert.equal(headers.server, undefined);
		assert.equal(headers['x-powered-by'], undefined);
		const guarded = await ground.send('GET', '/nothing', bearer('alice'), { server: ground.guarded });
		assert.equal(guarded.status, 404);
	});
}
