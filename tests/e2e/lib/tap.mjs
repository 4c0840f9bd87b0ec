// tap.mjs - runs cases one after the other and speaks TAP on standard output.
//
// Every case has a deadline, so that a server that never answers is a failure with a name. A case
// opens sessions through its argument; they are closed when it ends, however it ends, and closing
// checks them too (see session.mjs, http.mjs).

import { inspect } from 'node:util';

/** Milliseconds after which something that was to happen will not happen any more. Machines that have a lot else
 * to do take long for everything: only a program that is broken gets there. */
export const PATIENCE = 60_000;
const CASE_MS = 2 * PATIENCE;
const cases = [];
/** For whoever looks into one: a regular expression for the names of cases. */
const only = process.env.CLEAT_ONLY && new RegExp(process.env.CLEAT_ONLY);

/** A case: `run(t)` fails by throwing. `t.open(sdk, options)` opens a session; `t.use(thing)` takes care
 * of anything else that has `async end()`, which gives a list of what was not right. */
export function test(name, run) {
	if (!only || only.test(name)) cases.push({ name, run });
}

/** The cases of one SDK: `it` as above; `on(name, [options,] run(s, t))` is one on a session that is open already. */
export function casesOf(sdk) {
	const it = (name, run) => test(`${sdk.name}: ${name}`, run);
	const on = (name, ...more) =>
		it(name, async t => more.at(-1)(await t.open(sdk, more.length > 1 ? more[0] : {}), t));
	return { it, on };
}

function deadline(ms, what) {
	let timer;
	const expired = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
	});
	return { expired, clear: () => clearTimeout(timer) };
}

/** The promise, or an error when it takes too long. */
export async function within(promise, what, ms = PATIENCE) {
	const d = deadline(ms, what);
	try {
		return await Promise.race([promise, d.expired]);
	} finally {
		d.clear();
	}
}

/** Waits until it is so. */
export async function eventually(holds, what) {
	for (const began = performance.now(); !(await holds()); await new Promise(resolve => setTimeout(resolve, 10)))
		if (performance.now() - began > PATIENCE) throw new Error(`in vain: ${typeof what === 'function' ? what() : what}`);
}

async function runCase(run) {
	const used = [];
	const t = {
		open: (sdk, options = {}) => within(sdk.open(options, s => used.push(s)), 'connecting'),
		use: thing => (used.push(thing), thing)
	};
	const problems = [];
	try {
		await within(run(t), 'the case', CASE_MS);
	} catch (error) {
		problems.push(error);
	}
	// What was opened last may live on what was opened before.
	for (const thing of used.reverse()) problems.push(...(await thing.end()));
	return problems;
}

function comment(text) {
	process.stdout.write(text.replace(/^/gm, '# ') + '\n');
}

/** Runs what test() was given. The exit status says whether all passed. */
export async function run() {
	let failed = 0;
	// What a failed case left behind must not end the others.
	process.on('unhandledRejection', error => {
		failed++;
		comment(`a rejection that nobody looked at: ${inspect(error)}`);
	});
	process.stdout.write(`1..${cases.length}\n`);
	for (const [i, { name, run: body }] of cases.entries()) {
		const problems = await runCase(body);
		process.stdout.write(`${problems.length ? 'not ok' : 'ok'} ${i + 1} - ${name}\n`);
		for (const p of problems) comment(p instanceof Error ? (p.stack ?? inspect(p)) : String(p));
		if (problems.length) failed++;
	}
	process.exitCode = failed ? 1 : 0;
}
