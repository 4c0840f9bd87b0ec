// session.mjs - one connection of an SDK's client to a server process, whatever the SDK and whatever
// lies between them.
//
// Beside the client it keeps what crossed the wire, the notifications in the order they came, and
// what the SDK complained about. Ending a session checks that neither the SDK nor the server had
// anything to complain about. Over stdio the server is the session's own, and ending it also checks
// that the server went by itself, with status 0, when its input was closed, and that nothing is left
// of it; over HTTP the server lives on (see http.mjs) and is told that the session is over.

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
	asked = []; // the parameters of what the server asked
	errors = []; // what the SDK reported through onerror
	stderr = '';
	ended = false;
	#sending = new Set();
	expectErrors = false; // for cases that provoke complaints
	exchanges = new Inbox(); // HTTP: requests, each when its answer has begun (see recording())

	constructor(client, transport, server) {
		this.client = client;
		this.transport = transport;
		this.server = server; // HTTP only
		const send = transport.send.bind(transport);
		transport.send = (message, options) => {
			this.sent.push(message);
			const sending = send(message, options);
			this.#sending.add(sending);
			return sending.finally(() => this.#sending.delete(sending));
		};
		transport.onmessage = message => this.received.push(message);
		transport.stderr?.on('data', chunk => (this.stderr += chunk));
		client.onerror = error => this.errors.push(error);
	}

	/** Connects; from then on the process is known. */
	async connect(connectOptions) {
		await this.client.connect(this.transport, connectOptions);
		this.child = this.server ? this.server.child : this.transport._process; // no other way to see how it ends
		this.pid = this.child.pid;
		this.exit = new Promise(resolve => {
			this.child.once('close', (code, signal) => resolve({ code, signal }));
		});
	}

	/** Asked by the server. */
	answers(answer, params, context) {
		this.asked.push(params);
		return answer(params, context);
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
			if (this.server) await this.#endSession();
			else await this.#endInput();
			await within(this.client.close(), 'closing');
			if (this.pid && !this.server) problems.push(...(await this.#checkExit()));
		} catch (error) {
			problems.push(error);
		}
		if (this.pid && !this.server && alive(this.pid)) {
			problems.push(new Error(`process ${this.pid} is still there`));
			process.kill(this.pid, 'SIGKILL');
		}
		// Over HTTP the SDKs report requests that they give up themselves when they are closed.
		const complaints = this.errors.filter(e => !this.server || e.name !== 'AbortError');
		if (complaints.length && !this.expectErrors) problems.push('the SDK complained:', ...complaints);
		if (this.stderr) problems.push(`the server wrote to standard error: ${this.stderr}`);
		return problems;
	}

	/** HTTP+SSE has nothing to end: its session is a connection. But an answer may come there before the
	 * request that it answers is over. */
	async #endSession() {
		if (!this.server.running) return;
		if (this.transport.terminateSession) await within(this.transport.terminateSession(), 'ending the session');
		else await within(Promise.allSettled(this.#sending), 'the end of requests');
	}

	/** An SDK that closes waits for two seconds and then sends a signal, which is not long on a machine that has
	 * a lot else to do: the end of the input comes from here. */
	async #endInput() {
		if (!this.pid || !this.transport._process) return;
		this.child.stdin.end();
		await within(this.exit, 'the end of the server');
	}

	async #checkExit() {
		const { code, signal } = await within(this.exit, 'the end of the server');
		if (this.child.killed) return [new Error('the SDK lost patience and killed the server')];
		if (code === 0) return [];
		return [new Error(`the server ended with ${signal ?? `status ${code}`}, not 0`)];
	}
}
