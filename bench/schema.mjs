// schema.mjs - the same work as schema.c, by JSON.parse and Ajv's compiled validator, warmed up.
// Prints the same lines. Ajv is the one of tests/e2e.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const SAMPLE_US = 250_000; // of CPU time that a sample takes at least
const WARM_UP_US = 150_000;

const require = createRequire(new URL('../tests/e2e/package.json', import.meta.url));
const { default: Ajv2020 } = require('ajv/dist/2020.js');
const { schema, texts } = JSON.parse(readFileSync(new URL('schema.json', import.meta.url), 'utf8'));
const validate = new Ajv2020({ strict: false }).compile(schema);

// ns of CPU time for one call, the engine's own threads (garbage collection, compilation) included
function measure(call, leastUs) {
	const start = process.cpuUsage();
	let calls = 0, spent;
	do {
		for (let i = 0; i < 1000; i++) if (!call()) throw new Error('does not fit the schema');
		calls += 1000;
		const { user, system } = process.cpuUsage(start);
		spent = user + system;
	} while (spent < leastUs);
	return (spent * 1000) / calls;
}

for (const [name, value] of Object.entries(texts)) {
	const text = JSON.stringify(value);
	const calls = [() => validate(JSON.parse(text)), () => validate(value)];
	const [both, alone] = calls.map((call) => (measure(call, WARM_UP_US), measure(call, SAMPLE_US)));
	console.log(name, Buffer.byteLength(text), both.toFixed(0), alone.toFixed(0));
}
