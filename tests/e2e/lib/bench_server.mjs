// bench_server.mjs - an MCP server (2026-07-28 over HTTP) that answers byte by byte as a test wants it: the
// path of the URL is the name of a behaviour. Whatever it does, server/discover, tools/list and the first call
// of a tool are answered plainly, so that a client gets as far as the load.

import { once } from 'node:events';
import net from 'node:net';
import { within } from './tap.mjs';

const plain = (body, more = '') =>
	`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunks = (head, ...parts) =>
	`HTTP/1.1 200 OK\r\n${head}Transfer-Encoding: chunked\r\n\r\n` +
	parts.map(p => `${Buffer.byteLength(p).toString(16)}\r\n${p}\r\n`).join('') + '0\r\n\r\n';
const status = (code, body = '') => `HTTP/1.1 ${code} X\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const json = (id, rest) => JSON.stringify({ jsonrpc: '2.0', id, ...rest });
const good = id => json(id, { result: { resultType: 'complete', content: [{ type: 'text', text: '"isError":true}' }] } });
const error = (id, code) => json(id, { error: { code, message: 'no' } });
const STREAM = 'Content-Type: text/event-stream\r\n';
const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}';

// What a call is answered with: bytes, or a function of the socket. `n` counts the calls, from 1.
const behaviours = {
	plain: id => plain(good(id)),
	chunked: id => chunks('Content-Type: application/json\r\n', good(id).slice(0, 7), good(id).slice(7)),
	stream: id => chunks(STREAM, 'id: 1\nretry: 500\ndata: \n\n', `event: message\ndata: ${progress}\n\n`, `: x\n\ndata: ${good(id)}\n`, '\n'),
	closing: id => plain(good(id), 'Connection: close\r\n'),
	slices: id => socket => {
		const bytes = plain(good(id));
		const step = at => at < bytes.length && (socket.write(bytes.slice(at, at + 97)), setImmediate(step, at + 97));
		step(0);
	},
	unavailable: () => status(503, 'busy'),
	refusing: id => plain(error(id, -32602)),
	refusing400: id => status(400, error(id, -32602)),
	failing: id => plain(json(id, { result: { resultType: 'complete', isError: true, content: [] } })),
	asking: id => plain(json(id, { result: { resultType: 'input_required', inputRequests: {} } })),
	confused: id => plain(good(id + 1)),
	garbage: () => plain('{"jsonrpc":"2.0",'),
	silent: () => () => {},
	hangup: () => socket => socket.end(),
	cut: id => socket => socket.end(plain(good(id)).slice(0, -5)),
	nothttp: () => 'SSH-2.0-OpenSSH\r\n',
	delayed: id => socket => setTimeout(() => socket.write(plain(good(id))), 5),
	// Between 2 and 42 ms, each as often; what it really took is written down.
	spread(id, n, s) {
		const came = performance.now();
		return socket => {
			s.over(socket, came);
			setTimeout(() => {
				const answered = performance.now();
				socket.request = { least: answered - came, after: socket.answered ?? s.connected };
				socket.answered = answered;
				socket.write(plain(good(id)));
			}, 2 + (n * 17) % 41);
		};
	},
	// In the middle of it the server is gone.
	leaving: (id, n, s) => (n < 10 ? plain(good(id)) : () => s.leave()),
	// One of them is very late.
	straggling: (id, n) => (n === 3 ? socket => setTimeout(() => socket.write(plain(good(id))), 1500) : plain(good(id))),
	// Everybody waits for 400 ms, once, half a second after the first call.
	stalling(id, n, s) {
		s.began ??= performance.now();
		const since = performance.now() - s.began;
		return since > 500 && since < 900
			? socket => setTimeout(() => socket.write(plain(good(id))), 900 - since)
			: plain(good(id));
	},
};

const answers = {
	'server/discover': id => json(id, { result: { resultType: 'complete', supportedVersions: ['2026-07-28'],
		capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private',
		_meta: { 'io.modelcontextprotocol/serverInfo': { name: 'behaving', version: '1' } } } }),
	'tools/list': id => json(id, { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [
		{ name: 'act', inputSchema: { type: 'object', properties: {
			region: { type: 'string', 'x-mcp-header': 'Region' },
			place: { type: 'object', properties: { floor: { type: 'integer', 'x-mcp-header': 'Floor' } } } } } }] } }),
};

export class BenchServer {
	calls = 0;
	heads = new Set(); // without what changes
	ids = new Set();
	repeated = 0; // ids that came twice
	took = []; // milliseconds, of `spread`: at least and at most, as the other side has to see it
	sockets = new Set();

	static async start() {
		const s = new BenchServer();
		s.server = net.createServer(socket => s.accept(socket)).listen(0, '127.0.0.1');
		await once(s.server, 'listening');
		s.url = `http://127.0.0.1:${s.server.address().port}`;
		return s;
	}

	accept(socket) {
		let text = '';
		this.sockets.add(socket.setNoDelay());
		this.connected ??= performance.now();
		socket.on('close', () => {
			this.over(socket, performance.now());
			this.sockets.delete(socket);
			this.hear?.();
		}).on('error', () => {});
		socket.setEncoding('latin1').on('data', chunk => {
			text += chunk;
			for (;;) {
				const head = text.indexOf('\r\n\r\n');
				const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0;
				if (head < 0 || text.length < head + 4 + Number(length)) return;
				this.answer(socket, text.slice(0, head), JSON.parse(text.slice(head + 4, head + 4 + Number(length))));
				text = text.slice(head + 4 + Number(length));
			}
		});
	}

	answer(socket, head, message) {
		const act = behaviours[/^POST \/(\w+)/.exec(head)?.[1]];
		if (answers[message.method]) {
			socket.write(plain(answers[message.method](message.id)));
			return;
		}
		this.calls++;
		this.last = message;
		this.hear?.();
		this.repeated += this.ids.has(message.id);
		this.ids.add(message.id);
		this.heads.add(head.replace(/content-length: \d+/i, ''));
		const what = this.calls === 1 ? plain(good(message.id)) : act(message.id, this.calls, this);
		if (typeof what === 'function') what(socket);
		else {
			socket.write(what, 'utf8');
			if (/Connection: close/.test(what)) socket.end();
		}
	}

	/** The answer before is known to have been read, now that there is something new on its connection. */
	over(socket, now) {
		if (socket.request) this.took.push({ least: socket.request.least, most: now - socket.request.after });
		delete socket.request;
	}

	#until(done, what) {
		return within(new Promise(resolve => {
			this.hear = () => done() && resolve();
			this.hear();
		}), what);
	}

	/** So many calls have come. */
	called(n) {
		return this.#until(() => this.calls >= n, `${n} calls`);
	}

	/** Nobody is there any more. */
	closed() {
		return this.#until(() => !this.sockets.size, 'the end of all connections');
	}

	leave() {
		for (const socket of this.sockets) socket.destroy();
		return new Promise(resolve => this.server.close(resolve));
	}

	async end() {
		await this.leave();
		return [];
	}
}
