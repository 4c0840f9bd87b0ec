// nginx.mjs - nginx in front of a server, as nginx.conf.in says, in a directory of its own.

import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Readable } from 'node:stream';
import { selfSigned } from './certificate.mjs';
import { freePort } from './node_server.mjs'; // nginx does not tell which one it was given
import { PATIENCE, within } from './tap.mjs';

/** Where nginx is; undefined when it is nowhere. Packages put it where only root looks, scripts/setup into .deps/. */
export function findNginx() {
	for (const directory of [...process.env.PATH.split(delimiter), '/usr/sbin', '/usr/local/sbin',
		join(import.meta.dirname, '../../../.deps/nginx.d/usr/sbin')]) {
		const path = join(directory, 'nginx');
		try {
			accessSync(path, constants.X_OK);
			return path;
		} catch {
			// not here
		}
	}
	return undefined;
}

function reachable(port) {
	return new Promise(resolve => {
		const socket = net.connect(port, '127.0.0.1');
		socket.once('connect', () => (socket.destroy(), resolve(true)));
		socket.once('error', () => resolve(false));
	});
}

export class Nginx {
	stderr = '';

	/** backend: what an upstream's `server` takes. */
	static async start(backend) {
		const directory = mkdtempSync(join(tmpdir(), 'cleat-nginx-'));
		const { cert, key } = selfSigned(directory);
		const template = readFileSync(join(import.meta.dirname, '../nginx.conf.in'), 'utf8');
		for (let attempt = 1; ; attempt++) {
			const nginx = new Nginx();
			Object.assign(nginx, { directory, ca: readFileSync(cert), port: await freePort() });
			const filled = { PORT: nginx.port, BACKEND: backend };
			const text = template.replace(/@([A-Z]+)@/g, (_, name) => filled[name]);
			writeFileSync(join(directory, 'nginx.conf'), text);
			writeFileSync(join(directory, 'cert.pem'), nginx.ca);
			writeFileSync(join(directory, 'key.pem'), readFileSync(key));
			if (await nginx.#run()) return nginx;
			// Somebody else may have taken the port meanwhile.
			if (attempt === 3) throw new Error(`nginx does not start: ${nginx.stderr}`);
		}
	}

	/** Did it start? */
	async #run() {
		const { directory } = this;
		this.child = spawn(
			findNginx(),
			['-e', 'stderr', '-p', `${directory}/`, '-c', join(directory, 'nginx.conf')],
			{
				stdio: ['ignore', 'ignore', 'pipe']
			}
		);
		this.child.stderr.on('data', chunk => (this.stderr += chunk));
		this.exit = new Promise(resolve => this.child.once('close', (code, signal) => resolve({ code, signal })));
		const began = performance.now();
		while (performance.now() - began < PATIENCE) {
			if (this.child.exitCode !== null) return false;
			if (await reachable(this.port)) return true;
		}
		return false;
	}

	url(path = '/mcp') {
		return `https://localhost:${this.port}${path}`;
	}

	/** What a connection to it takes. */
	get secure() {
		return { port: this.port, host: '127.0.0.1', servername: 'localhost', ca: this.ca };
	}

	/** fetch() that trusts its certificate. */
	get fetch() {
		const { ca } = this;
		return (url, { method = 'GET', headers, body, signal } = {}) =>
			new Promise((resolve, reject) => {
				const options = {
					method,
					headers: Object.fromEntries(new Headers(headers)),
					ca,
					signal,
					agent: false
				};
				const request = https.request(
					url,
					{ ...options, host: '127.0.0.1', servername: 'localhost' },
					response => {
						const empty = response.statusCode === 204 || method === 'HEAD';
						const fields = Object.entries(response.headers).map(([name, value]) => [
							name,
							String(value)
						]);
						if (empty) response.resume();
						resolve(
							new Response(empty ? null : Readable.toWeb(response), {
								status: response.statusCode,
								headers: fields
							})
						);
					}
				);
				request.once('error', reject);
				request.end(body);
			});
	}

	async end() {
		const problems = [];
		this.child.kill('SIGTERM');
		const { code, signal } = await within(this.exit, 'the end of nginx');
		if (code !== 0) problems.push(new Error(`nginx ended with ${signal ?? `status ${code}`}: ${this.stderr}`));
		rmSync(this.directory, { recursive: true });
		return problems;
	}
}
