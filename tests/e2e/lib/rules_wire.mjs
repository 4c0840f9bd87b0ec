// rules_wire.mjs - HTTP itself: what is too large or ambiguous is refused while it is being read, and the
// connection closed; what HTTP/1.1 allows works. A case of each kind, with the defaults of the program: every
// way to be wrong, and every deadline, is in tests/unit/http and tests/unit/httpd.

import assert from 'node:assert/strict';
import { call, modernPost, request, Socket } from './raw.mjs';
import { test, within } from './tap.mjs';

const MIB = 1024 * 1024;
const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
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
	['two ways to tell the length', `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
	['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
	['another coding', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
	['a folded field', `${HEAD}X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`],
	['lines that end with LF', 'GET /healthz HTTP/1.1\nHost: localhost\n\n'],
	['a chunk that is longer than it says', `${CHUNKED}2\r\n{}x\r\n0\r\n\r\n`],
	['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
	['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03']
];

export function wireCases(ground) {
	test('body: over 4 MiB by Content-Length is 413 before any of it is sent', async () => {
		for (const path of ['/mcp', '/messages?sessionId=0', '/sse', '/nothing']) {
			const bytes = HEAD.replace('/mcp', path) + `Content-Length: ${4 * MIB + 1}\r\n`;
			await ground.refuses(`${bytes}\r\n`, 413, path);
			await ground.refuses(`${bytes}Expect: 100-continue\r\n\r\n`, 413, path);
		}
	});

	test('body: over 4 MiB in chunks is 413 while it is being read', async () => {
		const socket = await Socket.open(ground.server.port);
		await socket.write(CHUNKED);
		const sent = await writeUntilAnswered(socket, `10000\r\n${' '.repeat(0x10000)}\r\n`, 64 * MIB);
		assert.ok(sent > 4 * MIB && sent < 16 * MIB, `${sent} bytes`);
		assert.equal((await socket.answer()).status, 413);
		await socket.end();
		socket.destroy();
	});

	test('body: who may not come in is told before the body is read', async () => {
		for (const [head, status, server] of [
			[HEAD.replace('localhost', 'evil.example'), 403, ground.server],
			[`${HEAD}Origin: https://evil.example\r\n`, 403, ground.server],
			[HEAD, 401, ground.guarded]
		])
			assert.equal((await ground.ask(`${head}Content-Length: 4000000\r\n\r\n`, { server })).status, status, head);
	});

	test('header: over 16 KiB, in one field, in many or in the target, is 431', async () => {
		const big = 'a'.repeat(17 * 1024);
		await ground.refuses(request('GET', '/healthz', { X: big }), 431, 'one field');
		await ground.refuses(request('GET', `/${big}`), 431, 'the target');
		const many = Array.from({ length: 90 }, (_, i) => [`X-${i}`, 'a'.repeat(200)]);
		await ground.refuses(request('GET', '/healthz', many), 431, 'many fields');
	});

	test('smuggling: what two parsers may read differently is refused, and nothing behind it is looked at', async () => {
		for (const [what, bytes, status = 400] of AMBIGUOUS) await ground.refuses(bytes + SMUGGLED, status, what);
	});

	test('one connection serves what is pipelined, comes in chunks, or waits for 100 Continue', async () => {
		const socket = await Socket.open(ground.server.port);
		const words = ['one', 'two', 'three', 'four'];
		const answered = async (id, text) => {
			const answer = JSON.parse((await socket.answer()).body);
			assert.deepEqual([answer.id, answer.result.content[0].text], [id, text]);
		};
		await socket.write(words.map((text, i) => modernPost(call(i, 'echo', { text }))).join(''));
		for (const [i, text] of words.entries()) await answered(i, text);
		const [head, body] = ECHO.split('\r\n\r\n');
		const pieces = body.match(/.{1,7}/g).map(piece => `${piece.length.toString(16)};x=y\r\n${piece}\r\n`);
		const chunked = head.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
		await socket.write(`${chunked}\r\n\r\n${pieces.join('')}0\r\nX-Trailer: 1\r\n\r\n`);
		await answered(1, 'x');
		await socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
		assert.equal((await socket.answer()).status, 100);
		await socket.write(body);
		await answered(1, 'x');
		socket.destroy();
	});

	test('who hangs up in the middle of a request or of an answer leaves no trace', async () => {
		const park = modernPost(call(1, 'park', { key: 'gone' }));
		for (const bytes of ['GET', ECHO.slice(0, 100), ECHO.slice(0, -3), ECHO, park])
			for (const how of ['destroy', 'resetAndDestroy', 'end']) {
				const socket = await Socket.open(ground.server.port);
				await socket.write(bytes);
				socket.socket[how]();
			}
		const [count] = JSON.parse((await ground.ask(modernPost(call(1, 'release_all')))).body).result.content;
		assert.match(count.text, /^released \d+$/);
	});
}
