// Runs `cleat` to its end and looks at what came of it.

import assert from 'node:assert/strict';
import { run } from './cli.mjs';

/** `stdout` and `stderr` are patterns; a text is all of stdout. */
export async function expect(args, { code = 0, stdout, stderr } = {}, options) {
	const result = await run(args, options);
	assert.equal(result.code, code, `${args.join(' ')}: ${result.code} ${result.stdout} ${result.stderr}`);
	if (typeof stdout === 'string') assert.equal(result.stdout, stdout);
	else if (stdout) assert.match(result.stdout, stdout);
	if (stderr) assert.match(result.stderr, stderr);
	return result;
}

/** It succeeds; gives what it printed. */
export const good = async (args, options) => (await expect(args, {}, options)).stdout;

/** It ends with that code and says why. */
export const fails = (code, stderr, args, options) => expect(args, { code, stderr }, options);
