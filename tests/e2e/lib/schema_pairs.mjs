// schema_pairs.mjs - random pairs of schema and value, judged three times: by Cleat (a process that
// runs schema_check), by Ajv, and by the arbiter of schema_reference.mjs.
//
// Pairs come in batches. A batch depends on the seed and its number only, so any number of threads
// gives the same pairs. As a worker it takes { checker, seed, batches } and posts what each batch gave.
import { execFileSync } from 'node:child_process';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as pool from './schema_pools.mjs';
import { evaluatedSchema } from './schema_evaluated.mjs';
import { randomSchema } from './schema_random.mjs';
import { compile as compileReference } from './schema_reference.mjs';
import { spell, valuesFor } from './schema_values.mjs';

export const BATCH = 250; // schemas
export const VALUES = 10; // for each

// ---- the three judges ----------------------------------------------------------------------------

function openAjv(dialect, formats) {
	const Validator = dialect === 'draft-07' ? Ajv : Ajv2020;
	const ajv = new Validator({
		strict: false,
		logger: false,
		validateSchema: false, // see makeJob
		validateFormats: formats,
		// Each schema checks a few values only: to compile it is nearly all of the work.
		messages: false,
		code: { optimize: false },
		// Without it, Ajv lets other keywords count beside $ref in draft-07, too.
		ignoreKeywordsWithRef: dialect === 'draft-07',
	});
	if (formats) addFormats(ajv);
	return ajv;
}

// A function from a value's text to true, false or 'throws'.
function compileAjv(ajv, schemaText) {
	const check = ajv.compile(JSON.parse(schemaText));
	return (valueText) => {
		try {
			return check(JSON.parse(valueText));
		} catch {
			return 'throws';
		}
	};
}

const formatAjv = openAjv('2020-12', true);
const formatChecks = Object.fromEntries(Object.keys(pool.formats)
	.map((format) => [format, formatAjv.compile({ format })]));

/** What a format's own specification says where pool.formats has it; else what ajv-formats says. */
function formatAccepts(format, text) {
	const { good = [], bad = [], refuses } = pool.formats[format] ?? {};
	if (good.includes(text) || bad.includes(text)) return good.includes(text);
	if (refuses?.(text)) return false;
	return formatChecks[format]?.(text) ?? true;
}

/** Is this a text that ajv-formats judges against the format's specification? */
export const isMisjudged = (format, text) => formatChecks[format]?.(text) !== formatAccepts(format, text);

// A function from a value's text to true or false.
function compileArbiter({ dialect, formats, schemaText }) {
	return compileReference(dialect, schemaText, formats ? formatAccepts : () => true);
}

// For each of [{ dialect, formats, schemaText, valueTexts }] a list: true, false or 'undecided' for each
// value, or 'refused: ...' for all when the schema is.
function runChecker(checker, jobs) {
	const input = jobs.map(({ dialect, formats, schemaText, valueTexts }) =>
		`{"d":"${dialect}","f":${formats},"s":${schemaText},"v":[${valueTexts.join(',')}]}\n`);
	const output = execFileSync(checker, { input: input.join(''), maxBuffer: 2 ** 28 }).toString();
	const lines = output.trimEnd().split('\n');
	if (lines.length !== jobs.length)
		throw new Error(`${checker} answered ${lines.length} of ${jobs.length} lines`);
	const verdict = { 1: true, 0: false, '?': 'undecided' };
	return lines.map((line, i) => (line.startsWith('E ')
		? jobs[i].valueTexts.map(() => `refused: ${line.slice(2)}`)
		: [...line].map((c) => verdict[c])));
}

// ---- batches -------------------------------------------------------------------------------------

function makeJob(random, open, serial) {
	const dialect = random.chance(0.6) ? '2020-12' : 'draft-07';
	const formats = random.chance(0.2);
	const { schema, draw } = dialect === '2020-12' && random.chance(0.3) ? evaluatedSchema(random)
		: { schema: randomSchema(random, { dialect, formats, serial }) };
	const schemaText = spell(random, schema);
	const ajv = (open[`${dialect} ${formats}`] ??= openAjv(dialect, formats));
	// That the schemas are valid is the generator's business; one in eight is proof enough.
	if (serial % 8 === 0 && !ajv.validateSchema(JSON.parse(schemaText)))
		throw new Error(`not a valid schema: ${schemaText}: ${ajv.errorsText()}`);
	const judge = compileAjv(ajv, schemaText);
	const valueTexts = valuesFor(random, schema, VALUES, { formats, draw }, (text) => judge(text) === true);
	return { dialect, formats, schemaText, valueTexts, ajv: valueTexts.map(judge) };
}

/** One batch: how many pairs, how many valid, and everything that the three do not agree on. */
function judgeBatch(checker, seed, number) {
	const random = new pool.Random(Math.imul(seed, 0x9e3779b1) + number);
	const open = {};
	const jobs = Array.from({ length: BATCH }, (_, i) => makeJob(random, open, number * BATCH + i));
	const result = { pairs: 0, valid: 0, mixed: 0, findings: [] };
	for (const [i, verdicts] of runChecker(checker, jobs).entries()) {
		const { valueTexts, ajv, ...job } = jobs[i];
		const arbiter = compileArbiter(job);
		const right = valueTexts.map(arbiter);
		result.mixed += new Set(right).size === 2;
		for (const [k, valueText] of valueTexts.entries()) {
			const pair = { ...job, valueText, cleat: verdicts[k], ajv: ajv[k], arbiter: right[k] };
			result.pairs++;
			result.valid += right[k];
			if (pair.cleat !== right[k] || pair.ajv !== right[k]) result.findings.push(pair);
		}
	}
	return result;
}

/** For each [schema, value] whether the judges disagree in the same way as on the pair given. */
export function sameFinding(checker, { dialect, formats, cleat, ajv, arbiter }, pairs) {
	const jobs = pairs.map(([schema, value]) =>
		({ dialect, formats, schemaText: JSON.stringify(schema), valueTexts: [JSON.stringify(value)] }));
	const answers = runChecker(checker, jobs);
	const fresh = openAjv(dialect, formats);
	const kind = (verdict) => String(verdict).split(':')[0];
	return jobs.map((job, i) => {
		try {
			fresh.removeSchema();
			const [valueText] = job.valueTexts;
			return fresh.validateSchema(JSON.parse(job.schemaText)) &&
				kind(answers[i][0]) === kind(cleat) &&
				compileArbiter(job)(valueText) === arbiter &&
				compileAjv(fresh, job.schemaText)(valueText) === ajv;
		} catch {
			return false; // no schema any more
		}
	});
}

if (!isMainThread) {
	const { checker, seed, batches } = workerData;
	for (const number of batches) parentPort.postMessage(judgeBatch(checker, seed, number));
}
