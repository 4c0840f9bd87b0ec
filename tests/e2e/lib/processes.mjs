// processes.mjs - who is there: all processes that carry a mark in their environment, whosever children they
// are by now.

import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { PATIENCE } from './tap.mjs';

/** A name and value for the environment of a process; what it starts inherits it. */
export const mark = () => `CLEAT_TEST_MARK=${randomUUID()}`;

const read = (pid, what) => {
	try {
		return readFileSync(`/proc/${pid}/${what}`, 'latin1');
	} catch {
		return ''; // it ended meanwhile
	}
};

/** Process ids, without zombies (those have no environment any more). */
export function marked(setting) {
	return readdirSync('/proc')
		.filter(name => /^\d+$/.test(name) && read(name, 'environ').split('\0').includes(setting))
		.map(Number);
}

/** Waits until that many are there. */
export async function until(setting, wanted, ms = PATIENCE) {
	const began = performance.now();
	for (;;) {
		const there = marked(setting);
		if (there.length === wanted) return there;
		if (performance.now() - began > ms)
			throw new Error(`${there.length} processes, not ${wanted}: ${there.map(pid => read(pid, 'cmdline').replaceAll('\0', ' ')).join('; ')}`);
		await new Promise(resolve => setTimeout(resolve, 10));
	}
}
