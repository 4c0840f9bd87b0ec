// serve.mjs - `cleat serve` behind the official TypeScript client, in both eras, over stdio and over HTTP, and
// behind `cleat call`.

import { cleat, run } from './cli.mjs';
import { test } from './tap.mjs';
import { v1, v1Http } from './v1.mjs';
import { v2Modern, v2ModernHttp } from './v2.mjs';

export const ways = [v1, v2Modern, v1Http, v2ModernHttp];

/** Opens a session with `cleat serve ARGS` by one of the ways; options as in v1.mjs (capabilities, answers,
 * env, client). */
export function serve(t, way, args, options = {}) {
	const words = way.link === 'stdio' ? { args: ['serve', ...args] } : { before: ['serve'], args };
	return t.open(way, { program: 'cleat', ...words, ...options });
}

/** A case for each way. `args`: the words behind `cleat serve`, or a function of t that makes them; `body(session,
 * t)`. */
export function everyWay(name, args, body, options = {}) {
	for (const way of ways)
		test(`${way.name}: ${name}`, async t => {
			const words = typeof args === 'function' ? await args(t) : args;
			const session = await serve(t, way, words, typeof options === 'function' ? options(way) : options);
			session.way = way;
			await body(session, t);
		});
}

/** The text of a result. */
export const text = result => result.content.filter(c => c.type === 'text').map(c => c.text).join('');

/** `cleat VERB ... -- cleat serve ARGS -- ...`: { code, stdout, stderr }. */
export const byHand = (verb, args, words, options) => run([verb, '--', cleat, 'serve', ...args, '--', ...words], options);
