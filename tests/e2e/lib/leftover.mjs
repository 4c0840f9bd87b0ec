// leftover.mjs - the last case of a file: no process that it started is still there.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { PATIENCE, test } from './tap.mjs';

function children(parent) {
	const found = [];
	for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
		let stat;
		try {
			stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
		} catch {
			continue; // it ended meanwhile
		}
		// "pid (name) state ppid ..."; the name may hold anything.
		const [, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		if (Number(ppid) === parent) found.push(Number(pid));
	}
	return found;
}

export function leftoverCase() {
	test('no process is left over', async () => {
		// One that has been told to end may not have done so yet.
		let left = children(process.pid);
		for (const began = performance.now(); left.length && performance.now() - began < PATIENCE; left = children(process.pid))
			await new Promise(resolve => setTimeout(resolve, 10));
		for (const pid of left) process.kill(pid, 'SIGKILL');
		assert.deepEqual(left, []);
	});
}
