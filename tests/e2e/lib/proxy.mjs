// proxy.mjs - the network between a client and a server, which can be cut at any byte.
//
// It forwards what it gets. A rule looks at what has come on a connection so far and says where to cut
// it: the client gets exactly the bytes before, then both sides find the connection gone.

import { once } from 'node:events';
import net from 'node:net';

export class Proxy {
	connections = []; // { request, response }: all bytes so far, as latin1
	#rules = [];
	#server;

	/** In front of this port of the loopback address. */
	static async start(port) {
		const proxy = new Proxy();
		proxy.#server = net.createServer(socket => proxy.#accept(socket, port));
		proxy.#server.listen(0, '127.0.0.1');
		await once(proxy.#server, 'listening');
		return proxy;
	}

	url(path = '/mcp') {
		return `http://127.0.0.1:${this.#server.address().port}${path}`;
	}

	/** `where(connection)`: the offset in the response at which to cut, or undefined. Each rule cuts once.
	 * Gives a promise of the connection, when it has been cut. */
	cut(where) {
		return new Promise(resolve => this.#rules.push({ where, resolve }));
	}

	/** Cuts all connections that are there now and match. */
	cutNow(matches = () => true) {
		const now = this.connections.filter(c => !c.closed && matches(c));
		for (const connection of now) connection.close();
		return now.length;
	}

	#accept(client, port) {
		const server = net.connect(port, '127.0.0.1');
		const connection = { request: '', response: '', closed: false };
		connection.close = () => {
			connection.closed = true;
			client.destroy();
			server.destroy();
		};
		this.connections.push(connection);
		client.on('data', chunk => {
			connection.request += chunk.latin1Slice();
			server.write(chunk);
		});
		server.on('data', chunk => this.#answer(connection, client, chunk));
		for (const [one, other] of [
			[client, server],
			[server, client]
		]) {
			one.on('end', () => other.end());
			one.on('error', () => other.destroy());
			one.on('close', () => {
				connection.closed = true;
				other.destroySoon();
			});
		}
	}

	#answer(connection, client, chunk) {
		if (connection.closed) return;
		const before = connection.response.length;
		connection.response += chunk.latin1Slice();
		const rule = this.#rules.find(r => (r.at = r.where(connection)) !== undefined);
		if (!rule) return client.write(chunk);
		this.#rules.splice(this.#rules.indexOf(rule), 1);
		connection.closed = true;
		connection.response = connection.response.slice(0, rule.at);
		client.write(chunk.subarray(0, Math.max(0, rule.at - before)), () => {
			connection.close();
			rule.resolve(connection);
		});
	}

	async end() {
		for (const connection of this.connections) connection.close();
		this.#server.close();
		return [];
	}
}
