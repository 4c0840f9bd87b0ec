// golden.mjs - outputs as they are to be, one file each in tests/e2e/golden/. With CLEAT_GOLDEN=update they are
// written anew; the difference is then for somebody to read.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const directory = path.join(import.meta.dirname, '..', 'golden');

/** What differs from run to run: times, ports, places. */
export function steady(text, places = {}) {
	let out = text;
	for (const [name, place] of Object.entries(places)) out = out.replaceAll(place, name);
	return out
		.replace(/\d+\.\d+ ms \(least \d+\.\d+, most \d+\.\d+\)/g, '… ms (least …, most …)')
		.replace(/\b\d+(\.\d+)? (ms|s|us)\b/g, '… ms')
		.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
		.replace(/port \d+/g, 'port …');
}

/** The text is that of the file. */
export function golden(name, text) {
	const file = path.join(directory, name);
	if (process.env.CLEAT_GOLDEN === 'update') fs.writeFileSync(file, text);
	assert.ok(fs.existsSync(file), `there is no golden/${name}; CLEAT_GOLDEN=update writes it`);
	const wanted = fs.readFileSync(file, 'utf8');
	if (text === wanted) return;
	const [a, b] = [text.split('\n'), wanted.split('\n')];
	const at = a.findIndex((line, i) => line !== b[i]);
	assert.fail(`golden/${name} is different from line ${at + 1} on:\n- ${b[at]}\n+ ${a[at]}`);
}

/** JSON for a file: indented, so that a difference is a line. */
export const pretty = value => JSON.stringify(value, null, '\t') + '\n';
