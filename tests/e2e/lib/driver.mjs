// driver.mjs - our client, as a process of its own (client_driver.c) that is led by lines of JSON.
//
// What a command gives back is a promise; what happens by itself is in `events`, in the order it came.
// Ending a driver checks that it went with status 0 when its input was closed (which under a sanitizer
// also means that nothing leaked) and that it had nothing to complain about.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Inbox, serverParameters } from './session.mjs';
import { PATIENCE, within } from './tap.mjs';

export class Driver {
	events = new Inbox(); // all lines but answers
	stderr = ''; // of the driver itself; what the server writes is an event
	#next = 1;
	#open = new Map(); // id -> { resolve, blocks }
	ended = false;

	constructor(env = {}) {
		const { command } = serverParameters({ program: 'tests/client_driver' });
		this.child = spawn(command, [], { env: { ...process.env, ...env }, stdio: 'pipe' });
		this.pid = this.child.pid;
		this.exit = new Promise(resolve => {
			this.child.once('close', (code, signal) => resolve({ code, signal }));
		});
		this.child.stderr.setEncoding('utf8').on('data', chunk => (this.stderr += chunk));
		this.child.stdin.on('error', () => {}); // it says by its exit status what was wrong
		createInterface({ input: this.child.stdout }).on('line', line => this.#hear(JSON.parse(line)));
	}

	#hear(line) {
		if ('block' in line) return this.#open.get(line.block)?.blocks.push(line);
		if (!('id' in line)) return this.events.push(line);
		const waiting = this.#open.get(line.id);
		this.#open.delete(line.id);
		waiting?.resolve({ ...line, blocks: waiting.blocks });
	}

	/** Sends a command as it is. */
	tell(command) {
		this.child.stdin.write(JSON.stringify(command) + '\n');
	}

	/** A command, and its id: the answer comes with `answer(id)`. */
	begin(command) {
		const id = this.#next++;
		const coming = new Promise(resolve => this.#open.set(id, { resolve, blocks: [] }));
		this.tell({ id, ...command });
		return { id, answer: within(coming, `the answer to ${JSON.stringify(command).slice(0, 200)}`) };
	}

	ask(command) {
		return this.begin(command).answer;
	}

	open(options) {
		return this.ask({ open: options });
	}

	call(name, args, more = {}) {
		return this.ask({ call: name, args, ...more });
	}

	list(what, more = {}) {
		return this.ask({ list: what, ...more });
	}

	request(method, params, more = {}) {
		return this.ask({ request: method, params, ...more });
	}

	read(uri) {
		return this.ask({ read: uri });
	}

	prompt(name, args) {
		return this.ask({ prompt: name, args });
	}

	complete(ref, argument, typed, context) {
		return this.ask({ complete: ref, argument, typed, context });
	}

	/** The text of a call that has to succeed. */
	async text(name, args, more) {
		return good(await this.call(name, args, more)).text;
	}

	/** The n-th event that has this member (and matches). */
	event(key, matches = () => true, n = 1) {
		return this.events.take(e => key in e && matches(e), `the event ${key}`, n);
	}

	/** Does something until it has had its effect: there is nothing that says when a server is ready for it. */
	async until(what, done, again) {
		const began = performance.now();
		while (!done()) {
			assert.ok(performance.now() - began < PATIENCE, `${what} did not happen`);
			await again();
		}
	}

	/** The same, until there is an event that matches. */
	async heard(matches, again) {
		await this.until('the event', () => this.events.count(matches), again);
		return this.events.items.find(matches);
	}

	/** Messages on the wire, parsed, when it was opened with `trace`. */
	wire(out) {
		return this.events.items.filter(e => e.message !== undefined && e.out === out).map(e => JSON.parse(e.message));
	}

	async end() {
		if (this.ended) return [];
		this.ended = true;
		const problems = [];
		this.child.stdin.end();
		try {
			const { code, signal } = await within(this.exit, 'the end of the driver');
			if (code !== 0) problems.push(new Error(`the driver ended with ${signal ?? `status ${code}`}, not 0`));
		} catch (error) {
			problems.push(error);
			this.child.kill('SIGKILL');
		}
		if (this.stderr) problems.push(`the driver wrote to standard error: ${this.stderr}`);
		const fatal = this.events.items.filter(e => 'fatal' in e);
		if (fatal.length) problems.push(`the driver could not: ${JSON.stringify(fatal)}`);
		return problems;
	}
}

/** For t.open(ours, { argv | url, ... }): a driver with a client that is ready. `env` of the options is
 * the server's. */
export const ours = {
	open: async (options, opened) => {
		const driver = new Driver();
		opened(driver);
		driver.info = good(await driver.open(options));
		return driver;
	}
};

/** A result that is one; else an error that says why not. */
export function good(result) {
	assert.equal(result.status, 'success', `${result.error?.message ?? ''} (${result.step ?? ''})\n${JSON.stringify(result)}`);
	return result;
}

/** A refusal by the server, with this code. */
export function refusedWith(result, code, message = /./) {
	assert.equal(result.status, 'the other side answered with an error', JSON.stringify(result));
	assert.equal(result.error.code, code, JSON.stringify(result.error));
	assert.match(result.error.message, message);
	return result;
}

/** The names of what was listed. */
export const names = result => good(result).items.map(x => x.name ?? x.uriTemplate ?? x.uri);
