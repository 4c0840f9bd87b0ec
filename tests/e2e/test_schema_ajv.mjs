// 100,000 random pairs of schema and value: Cleat and Ajv come to the same verdict, except where Ajv is
// known to deviate from the specification.
//
// An exception needs two things: a reason in lib/ajv_deviations.mjs whose predicate fits the pair, and
// the arbiter (lib/schema_reference.mjs) on Cleat's side. CLEAT_SEED chooses other pairs.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { deviations } from './lib/ajv_deviations.mjs';
import { BATCH, VALUES, sameFinding } from './lib/schema_pairs.mjs';
import { shrink } from './lib/schema_shrink.mjs';

const PAIRS = 100_000;
const THREADS = 2;
const SHOWN = 5;

const source = process.env.CLEAT_SOURCE_DIR ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const build = process.env.CLEAT_BUILD_DIR ?? join(source, 'build/debug');
const checker = join(build, 'tests/schema_check');
const seed = Number(process.env.CLEAT_SEED ?? 20201207);

let cases = 0;

function report(ok, name, lines = []) {
	console.log(`${ok ? 'ok' : 'not ok'} ${++cases} - ${name}`);
	for (const line of lines) console.log(`# ${line}`);
	if (!ok) process.exitCode = 1;
}

function judge(batches) {
	const results = [];
	const worker = new Worker(new URL('./lib/schema_pairs.mjs', import.meta.url),
		{ workerData: { checker, seed, batches } });
	return new Promise((resolve, reject) => {
		worker.on('message', (result) => results.push(result));
		worker.on('error', reject);
		worker.on('exit', () => resolve(results));
	});
}

// Says what kind of finding it is; a deviation of Ajv, or one that fails the test.
function classify(pair) {
	if (String(pair.cleat).startsWith('refused')) return { wrong: 'refused' };
	if (pair.cleat !== pair.arbiter) return { wrong: 'wrong' };
	const schema = JSON.parse(pair.schemaText);
	const deviation = deviations.find((d) => d.applies({ ...pair, schema }));
	return deviation ? { deviation } : { wrong: 'unexplained' };
}

function describe(pair) {
	const [schema, value] = shrink(JSON.parse(pair.schemaText), JSON.parse(pair.valueText),
		(pairs) => sameFinding(checker, pair, pairs));
	const { dialect, formats, cleat, ajv, arbiter } = pair;
	return [
		`${dialect}${formats ? ', formats asserted' : ''}: cleat ${cleat}, ajv ${ajv}, arbiter ${arbiter}`,
		`  schema ${JSON.stringify(schema)}`,
		`  value  ${JSON.stringify(value)}`,
		// Where it is the spelling that matters, shrinking loses it.
		`  of ${pair.schemaText} ${pair.valueText}`,
	];
}

if (!existsSync(checker)) {
	console.log(`1..0 # SKIP ${checker} is not built`);
	process.exit(0);
}

const batches = Array.from({ length: PAIRS / VALUES / BATCH }, (_, i) => i);
const shares = Array.from({ length: THREADS }, (_, t) => batches.filter((b) => b % THREADS === t));
const results = (await Promise.all(shares.map(judge))).flat();
const sum = (key) => results.reduce((n, r) => n + r[key], 0);
const findings = results.flatMap((r) => r.findings).map((pair) => ({ pair, ...classify(pair) }));
const wrong = (kind) => findings.filter((f) => f.wrong === kind);

function reportNone(kind, name) {
	const found = wrong(kind);
	const schemas = new Map(found.map(({ pair }) => [pair.schemaText, pair])); // one of each
	const shown = [...schemas.values()].slice(0, SHOWN).flatMap(describe);
	report(found.length === 0, `${name} (${found.length} exceptions)`, shown);
}

console.log(`# seed ${seed} (CLEAT_SEED chooses another)`);
report(sum('pairs') === PAIRS, `${sum('pairs')} pairs were judged`);
reportNone('refused', 'every schema is accepted');
reportNone('wrong', 'every verdict is that of the specification');
reportNone('unexplained', 'every verdict is that of Ajv, or its deviation is known');
const counts = deviations.map((d) => [findings.filter((f) => f.deviation === d).length, d]);
for (const [n, d] of counts) console.log(`# ${n} times: ${d.reason}`);
if (process.env.CLEAT_SEED === undefined) {
	const idle = counts.filter(([n]) => n === 0);
	report(idle.length === 0, 'every deviation that is listed was seen', idle.map(([, d]) => d.reason));
}
const share = sum('valid') / sum('pairs');
report(share > 0.25 && share < 0.75, `${(share * 100).toFixed(1)} % of the values are valid`,
	[`${sum('mixed')} of ${PAIRS / VALUES} schemas have valid values and invalid ones`]);
console.log(`1..${cases}`);
