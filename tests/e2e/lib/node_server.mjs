// node_server.mjs - a server that is not ours, as a process: how it is started, found and ended.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { within } from './tap.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, '..', 'node_modules');

/** The command line of a program of a package, or of a file in here. */
export const packaged = (name, file, ...args) => [process.execPath, join(packages, name, file), ...args];
export const everything = how => packaged('@modelcontextprotocol/server-everything', 'dist/index.js', how);
export const local = (file, ...args) => [process.execPath, join(here, file), ...args];

let port = 20_000 + (process.pid % 1000) * 12;

/** A port that is free, for servers that cannot say which one they got. It is below those that the system gives
 * away by itself, so that no connection of a test that runs at the same time takes it meanwhile; and each process
 * has a dozen of its own to begin with. */
export async function freePort() {
	for (;;) {
		const server = net.createServer().listen(++port, '127.0.0.1');
		try {
			await once(server, 'listening');
		} catch (error) {
			if (error.code === 'EADDRINUSE') continue;
			throw error;
		}
		await new Promise(resolve => server.close(resolve));
		return port;
	}
}

/** A server on HTTP. It has begun when `ready` matches what it writes; the first group, when there is one,
 * is its port. */
export class NodeServer {
	output = '';

	constructor(argv, { env = {}, cwd } = {}) {
		this.argv = argv;
		this.child = spawn(argv[0], argv.slice(1), { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
		this.exit = new Promise(resolve => this.child.once('close', (code, signal) => resolve({ code, signal })));
		for (const stream of [this.child.stdout, this.child.stderr])
			stream.setEncoding('utf8').on('data', chunk => {
				this.output += chunk;
				this.heard?.();
			});
	}

	static async start(argv, { ready = /listening on (\d+)/, port, path = '/mcp', ...options } = {}) {
		const server = new NodeServer(argv, options);
		const begun = new Promise(resolve => {
			server.heard = () => ready.test(server.output) && resolve();
		});
		const early = server.exit.then(({ code }) => {
			throw new Error(`${argv.join(' ')} ended with ${code}: ${server.output}`);
		});
		try {
			await within(Promise.race([begun, early]), `the start of ${argv.slice(1).join(' ')}`);
		} catch (error) {
			await server.end();
			throw error;
		}
		early.catch(() => {});
		server.port = port ?? Number(ready.exec(server.output)[1]);
		server.url = `http://127.0.0.1:${server.port}${path}`;
		return server;
	}

	kill(signal) {
		this.child.kill(signal);
		return this.exit;
	}

	async end() {
		if (this.child.exitCode === null && this.child.signalCode === null) await this.kill('SIGKILL');
		return [];
	}
}
