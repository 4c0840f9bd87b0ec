// session.mjs - one connection of an SDK's client to a server process of its own, whatever the SDK.
//
// Beside the client it keeps what crossed the wire, the notifications in the order they came, and
// what the SDK complained about. Ending a session checks that the server went by itself, with
// status 0, when its input was closed; that nothing is left of it; and that neither the SDK nor the
// server had anything to complain about.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { within } from './tap.mjs';

const build = process.env.CLEAT_BUILD_DIR;
if (!build) throw new Error('CLEAT_BUILD_DIR says where the server programs are; set it');

/** A queue of things that come when they come. */
export class Inbox {
	items = [];
	#waiting = [];

	push(item) {
		this.items.push(item);
		this.#waiting = this.#waiting.filter(w => !w(item));
	}

	count(matches) {
		return this.items.filter(matches).length;
	}

	/** The n-th one that matches: from those that are there, else when it comes. */
	take(matches, what, n = 1) {
		const found = this.items.filter(matches)[n - 1];
		if (found) return Promise.resolve(found);
		const coming = new Promise(resolve => {
			this.#waiting.push(item => {
				if (!matches(item) || this.count(matches) < n) return false;
				resolve(item);
				return true;
			});
		});
		return within(coming, what);
	}
}

/** The command line of a server, in the form that both SDKs take. */
export function serverParameters({ program = 'tests/server_sdk', env = {}, args = [] }) {
	const command = join(build, program);
	if (!existsSync(command)) throw new Error(`${command} is not built`);
	const passed = {};
	for (const [name, value] of Object.entries(process.env))
		if (/^(A|L|T|UB)SAN_OPTIONS$|^LD_LIBRARY_PATH$/.test(name)) passed[name] = value;
	return { command, args, env: { ...passed, ...env }, stderr: 'pipe' };
}

function alive(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

export class Session {
	notes = new Inbox(); // notifications, as the SDK's handlers saw them
	received = new Inbox(); // messages, as they came
	sent = new Inbox();
	errors = []; // what the SDK reported through onerror
	stderr = '';
	ended = false;
	expectErrors = false; // for cases that provoke complaints

	constructor(client, transport) {
		this.client = client;
		this.transport = transport;
		const send = transport.send.bind(transport);
		transport.send = (message, options) => {
			this.sent.push(message);
			return send(message, options);
		};
		transport.onmessage = message => this.received.push(message);
		transport.stderr?.on('data', chunk => (this.stderr += chunk));
		client.onerror = error => this.errors.push(error);
	}

	/** Connects; from then on the process is known. */
	async connect(connectOptions) {
		await this.client.connect(this.transport, connectOptions);
		this.child = this.transport._process; // no other way to see how it ends
		this.pid = this.child.pid;
		this.exit = new Promise(resolve => {
			this.child.once('exit', (code, signal) => resolve({ code, signal }));
		});
	}

	/** What the server had to say before this has come: it answers and tells in order. */
	async settle() {
		await this.call('echo', { text: 'settled' });
		await this.call('echo', { text: 'settled' });
	}

	/** The answer that came for the latest request of a method. */
	answer(method) {
		const request = this.sent.items.findLast(m => m.method === method);
		return this.received.items.find(m => m.id === request.id && !m.method);
	}

	/** Closes; a list of what was not right. Once. */
	async end() {
		if (this.ended) return [];
		this.ended = true;
		const problems = [];
		try {
			await within(this.client.close(), 'closing');
			if (this.pid) problems.push(...(await this.#checkExit()));
		} catch (error) {
			problems.push(error);
		}
		if (this.pid && alive(this.pid)) {
			problems.push(new Error(`process ${this.pid} is still there`));
			process.kill(this.pid, 'SIGKILL');
		}
		if (this.errors.length && !this.expectErrors) problems.push('the SDK complained:', ...this.errors);
		if (this.stderr) problems.push(`the server wrote to standard error: ${this.stderr}`);
		return problems;
	}

	async #checkExit() {
		const { code, signal } = await within(this.exit, 'the end of the server');
		if (this.child.killed) return [new Error('the SDK lost patience and killed the server')];
		if (code === 0) return [];
		return [new Error(`the server ended with ${signal ?? `status ${code}`}, not 0`)];
	}
}
