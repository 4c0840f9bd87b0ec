// raw.mjs - a client without an SDK: HTTP as bytes on a socket, and the messages of MCP.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { within } from './tap.mjs';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const META = 'io.modelcontextprotocol/';
const BOTH = 'application/json, text/event-stream';

// ---- bytes --------------------------------------------------------------------------------------

/** What has been read of an answer: {status, headers, body, text}, and where it ends; undefined while
 * it is not complete. Names of headers in lower case; repeated ones as a list. */
function parseAnswer(bytes, { head = false, closed = false } = {}) {
	const end = bytes.indexOf('\r\n\r\n');
	if (end < 0) return undefined;
	const [line, ...fields] = bytes.slice(0, end).split('\r\n');
	const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(line) ?? [];
	assert.ok(status, `no status line: ${JSON.stringify(line)}`);
	const headers = {};
	for (const field of fields) {
		const [, name, value] = /^([^:]+):[ \t]*(.*)$/.exec(field);
		const key = name.toLowerCase();
		headers[key] = key in headers ? [headers[key], value].flat() : value;
	}
	const answer = { status: Number(status), headers };
	const bodiless = head || status < 200 || status === '204' || status === '304';
	const body = bodiless ? { body: '', at: end + 4 } : readBody(bytes, end + 4, headers, closed);
	if (!body) return undefined;
	const text = Buffer.from(body.body, 'latin1').toString();
	return { ...answer, body: text, raw: bytes.slice(0, body.at), end: body.at };
}

function readBody(bytes, at, headers, closed) {
	if (headers['transfer-encoding'] === 'chunked') {
		let body = '';
		for (;;) {
			const eol = bytes.indexOf('\r\n', at);
			const size = parseInt(bytes.slice(at, eol), 16);
			if (eol < 0 || bytes.length < eol + 2 + size + 2) return undefined;
			body += bytes.slice(eol + 2, eol + 2 + size);
			at = eol + 2 + size + 2;
			if (size === 0) return { body, at };
		}
	}
	if ('content-length' in headers) {
		const end = at + Number(headers['content-length']);
		return bytes.length >= end ? { body: bytes.slice(at, end), at: end } : undefined;
	}
	return closed ? { body: bytes.slice(at), at: bytes.length } : undefined;
}

/** A connection on which a test writes what it likes. */
export class Socket {
	bytes = ''; // that came and were not read yet, as latin1
	closed = false;
	ended = false; // the server has closed its half
	reset = false;
	#ears = new Set();

	constructor(socket) {
		this.socket = socket;
		socket.on('data', chunk => this.#tell((this.bytes += chunk.latin1Slice())));
		socket.on('end', () => this.#tell((this.ended = true)));
		socket.on('error', error => (this.reset ||= error.code === 'ECONNRESET' || error.code === 'EPIPE'));
		socket.on('close', () => this.#tell((this.closed = true)));
	}

	/** where: a port of the loopback address, a path of a socket file, or options of tls.connect(). */
	static async open(where) {
		const secure = typeof where === 'object';
		const socket = secure
			? tls.connect(where)
			: net.connect(typeof where === 'number' ? { port: where, host: '127.0.0.1' } : { path: where });
		const opened = new Socket(socket);
		socket.setNoDelay?.(true);
		await within(once(socket, secure ? 'secureConnect' : 'connect'), 'a connection');
		return opened;
	}

	#tell() {
		for (const ear of this.#ears) ear();
	}

	write(bytes) {
		return new Promise(resolve => this.socket.write(bytes, 'latin1', resolve));
	}

	/** Waits until `done()` gives something. */
	until(done, what, ms) {
		const waiting = new Promise(resolve => {
			const ear = () => {
				const found = done();
				if (!found) return;
				this.#ears.delete(ear);
				resolve(found);
			};
			this.#ears.add(ear);
			ear();
		});
		return within(waiting, what, ms);
	}

	/** The next answer, taken off. */
	async answer({ ms, ...options } = {}) {
		const found = await this.until(
			() => {
				const closed = this.ended || this.closed;
				const answer = parseAnswer(this.bytes, { ...options, closed });
				if (!answer && closed) return { none: true };
				return answer;
			},
			'an answer',
			ms
		);
		if (found.none) throw new Error(`the connection ended without an answer: ${JSON.stringify(this.bytes)}`);
		this.bytes = this.bytes.slice(found.end);
		return found;
	}

	/** Waits for the server to close. */
	async end() {
		await this.until(() => this.ended || this.closed, 'the end of the connection');
	}

	destroy() {
		this.socket.destroy();
	}
}

/** A request as text. Headers: [name, value] pairs, or an object. Host and Content-Length are added
 * unless they are given; null leaves one out. */
export function request(method, path, headers = {}, body = '') {
	const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
	const has = name => pairs.some(([n]) => n.toLowerCase() === name);
	const bytes = Buffer.from(body).latin1Slice();
	const lines = [`${method} ${path} HTTP/1.1`];
	if (!has('host')) lines.push('Host: 127.0.0.1');
	for (const [name, value] of pairs) if (value !== null) lines.push(`${name}: ${value}`);
	if ((bytes || method === 'POST') && !has('content-length') && !has('transfer-encoding'))
		lines.push(`Content-Length: ${bytes.length}`);
	return `${lines.join('\r\n')}\r\n\r\n${bytes}`;
}

/** One request on a connection of its own; its answer. */
export async function exchange(where, bytes, options) {
	const socket = await Socket.open(where);
	try {
		await socket.write(bytes);
		return await socket.answer(options);
	} finally {
		socket.destroy();
	}
}

// ---- messages -----------------------------------------------------------------------------------

const rpc = (id, method, params) => ({ jsonrpc: '2.0', id, method, ...(params && { params }) });
export const call = (id, name, args = {}, more = {}) => rpc(id, 'tools/call', { name, arguments: args, ...more });

/** The message as 2026-07-28 wants it. */
export function modern(message, meta = {}) {
	const _meta = {
		[META + 'protocolVersion']: MODERN,
		[META + 'clientInfo']: { name: 'raw', version: '1' },
		[META + 'clientCapabilities']: {},
		...message.params?._meta,
		...meta
	};
	return { ...message, params: { ...message.params, _meta } };
}

/** The headers that go with it. */
export function modernHeaders({ method, params }) {
	const name = method === 'resources/read' ? params?.uri : params?.name;
	return {
		...plainHeaders,
		'MCP-Protocol-Version': MODERN,
		'Mcp-Method': method,
		...(name !== undefined && { 'Mcp-Name': name })
	};
}

export const plainHeaders = { 'Content-Type': 'application/json', Accept: BOTH };

export function initialize(id) {
	return rpc(id, 'initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
}

/** A POST of 2026-07-28 as text. */
export function modernPost(message, headers = {}) {
	const whole = modern(message);
	return request('POST', '/mcp', { ...modernHeaders(whole), ...headers }, JSON.stringify(whole));
}
