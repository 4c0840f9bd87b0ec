// http.mjs - a server process that is reached over HTTP.
//
// The system chooses the port; the server says which one on standard error. Ending it checks what
// ending a session over stdio checks: that it goes on SIGTERM, with status 0 (which under a sanitizer
// also means that nothing leaked), and that it had nothing to complain about.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { serverParameters } from './session.mjs';
import { PATIENCE, within } from './tap.mjs';

export class HttpServer {
	urls = []; // where it can be reached, in the order of `listen`
	stderr = ''; // all that it wrote, but for those
	#out = '';

	constructor({ listen = ['127.0.0.1:0'], before = [], args = [], ...server }) {
		const addresses = [listen].flat();
		const { command, env } = serverParameters(server);
		const options = [...before, ...addresses.flatMap(a => ['--http', a]), ...args];
		this.child = spawn(command, options, { env, stdio: ['ignore', 'ignore', 'pipe'] });
		this.pid = this.child.pid;
		this.exit = new Promise(resolve => {
			this.child.once('close', (code, signal) => resolve({ code, signal }));
		});
		this.ready = new Promise(resolve => {
			this.child.stderr.setEncoding('utf8').on('data', chunk => {
				this.#hear(chunk);
				if (this.urls.length === addresses.length) resolve();
			});
		});
	}

	#hear(chunk) {
		const lines = (this.#out + chunk).split('\n');
		this.#out = lines.pop();
		for (const line of lines) {
			const [, url] = /: listening on (\S+)$/.exec(line) ?? [];
			if (url) this.urls.push(url);
			else this.stderr += `${line}\n`;
		}
	}

	/** options: listen (one address or several), args, before (words before the addresses), program, env. */
	static async start(options = {}) {
		const server = new HttpServer(options);
		const early = server.exit.then(({ code, signal }) => {
			throw new Error(`the server ended at once (${signal ?? `status ${code}`}): ${server.stderr}`);
		});
		await within(Promise.race([server.ready, early]), 'the start of a server');
		early.catch(() => {});
		return server;
	}

	get url() {
		return this.urls[0];
	}

	get port() {
		return Number(new URL(this.url).port);
	}

	get running() {
		return this.child.exitCode === null && this.child.signalCode === null;
	}

	async end() {
		const problems = [];
		// A second signal would end it at once.
		if (this.running && !this.child.killed) this.child.kill('SIGTERM');
		try {
			const { code, signal } = await within(this.exit, 'the end of the server');
			if (code !== 0) problems.push(new Error(`the server ended with ${signal ?? `status ${code}`}, not 0`));
		} catch (error) {
			problems.push(error);
			this.child.kill('SIGKILL');
			await once(this.child, 'close');
		}
		this.stderr += this.#out;
		if (this.stderr) problems.push(`the server wrote to standard error: ${this.stderr}`);
		return problems;
	}
}

/** Waits until a server that is stopping accepts no more connections. */
export async function noConnection({ port }) {
	const refused = () =>
		new Promise(resolve => {
			const socket = net.connect(port, '127.0.0.1');
			socket.once('connect', () => (socket.destroy(), resolve(false)));
			socket.once('error', () => resolve(true));
		});
	const began = performance.now();
	while (!(await refused())) assert.ok(performance.now() - began < PATIENCE, 'it still accepts connections');
}

/** fetch() that tells `exchanges` about every answer it gets, before the body is read. */
export function recording(exchanges, base = fetch) {
	return async (url, init = {}) => {
		const response = await base(url, init);
		exchanges.push({
			method: init.method ?? 'GET',
			sent: Object.fromEntries(new Headers(init.headers)),
			body: init.body,
			status: response.status,
			headers: Object.fromEntries(response.headers),
			type: response.headers.get('content-type')
		});
		return response;
	};
}
