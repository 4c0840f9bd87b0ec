// bad_http.mjs - a server on HTTP (2025-11-25) that does what no server should, by the first part of its path:
//
//   /silent   never answers a call
//   /nothing  never answers anything
//   /cuts     ends the connection in the middle of a call
//   /garbage  answers a call with something that is no result
//   /page     answers everything with a page of HTML
//   /broken   status 500
//   /missing  status 404
//   /closed   status 401;  /forbidden  status 403
//   /fails    a tool that fails

import http from 'node:http';
import { once } from 'node:events';

const STATUS = { broken: 500, missing: 404, closed: 401, forbidden: 403 };

function answer(mode, { method }) {
	if (method === 'initialize')
		return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'bad', version: '1' } } };
	if (method === 'tools/list') return { result: { tools: [{ name: 'tool', inputSchema: { type: 'object' } }] } };
	if (method === 'tools/call' && mode === 'garbage') return { result: [1, 2, 3] };
	if (method === 'tools/call') return { result: { isError: true, content: [{ type: 'text', text: 'it is broken' }] } };
	return { error: { code: -32601, message: 'not here' } };
}

export class BadServer {
	#server = http.createServer((request, response) => this.#serve(request, response));
	called = new Promise(resolve => { this.hear = resolve; });

	async listen() {
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
		return this;
	}

	url(mode) {
		return `http://127.0.0.1:${this.#server.address().port}/${mode}`;
	}

	async #serve(request, response) {
		const mode = request.url.slice(1);
		let text = '';
		for await (const chunk of request) text += chunk;
		if (mode === 'nothing') return;
		if (mode === 'page') return response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html><body>Hello</body></html>');
		if (STATUS[mode]) return response.writeHead(STATUS[mode], { 'Content-Type': 'text/plain' }).end('no');
		if (request.method !== 'POST') return response.writeHead(405).end();
		const message = JSON.parse(text);
		if (message.method === 'tools/call') this.hear();
		if (message.id === undefined) return response.writeHead(202).end();
		if (message.method === 'tools/call' && mode === 'silent') return;
		if (message.method === 'tools/call' && mode === 'cuts') return request.socket.destroy();
		response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer(mode, message) }));
	}

	async end() {
		this.#server.closeAllConnections();
		this.#server.close();
		return [];
	}
}
