// The schema of `cleat serve`'s configuration and the reference that is made from it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { reference, stored } from '../../scripts/configuration-reference.mjs';
import { place, run } from './lib/cli.mjs';
import { run as runCases, test } from './lib/tap.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const schema = JSON.parse(fs.readFileSync(path.join(root, 'docs/serve.schema.json'), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema(schema, 'serve');

/** Every schema inside, with the way to it. */
function* inside(s, way = '#') {
	if (typeof s !== 'object' || s === null) return;
	yield [way, s];
	for (const key of ['properties', '$defs'])
		for (const [name, inner] of Object.entries(s[key] ?? {})) yield* inside(inner, `${way}/${key}/${name}`);
	for (const key of ['items', 'additionalProperties', 'if', 'then', 'else', 'propertyNames'])
		yield* inside(s[key], `${way}/${key}`);
	for (const [i, inner] of (s.anyOf ?? []).entries()) yield* inside(inner, `${way}/anyOf/${i}`);
}

test('docs/guides/configuration.md is what the schema says (scripts/configuration-reference.mjs --update)', () => {
	assert.equal(stored(), reference());
});

test('the program carries this very schema, and another validator takes it', async () => {
	assert.deepEqual(JSON.parse((await run(['serve', '--schema'])).stdout), schema);
	ajv.getSchema('serve');
});

test('every member is described, and none is allowed that is not there', () => {
	for (const [way, s] of inside(schema)) {
		for (const [name, member] of Object.entries(s.properties ?? {})) {
			const described = member.$ref ? schema.$defs[member.$ref.slice('#/$defs/'.length)] : member;
			assert.ok(described?.description, `${way}/properties/${name} has no description`);
		}
		if (s.properties) assert.equal(s.additionalProperties, false, `${way} allows anything`);
	}
});

test('examples and defaults fit their own schema', () => {
	for (const [way, s] of inside(schema)) {
		const check = ajv.compile({ $ref: `serve${way}` });
		for (const example of [...(s.examples ?? []), ...('default' in s ? [s.default] : [])])
			assert.ok(check(example), `${way}: ${JSON.stringify(example)}: ${ajv.errorsText(check.errors)}`);
	}
});

test('the first example of the reference is in order', async () => {
	const [, text] = /```jsonc\n(.*?)```/s.exec(reference());
	const { code, stdout, stderr } = await run(['serve', '--check', 'demo.json'], { cwd: place({ 'demo.json': text }) });
	assert.equal(code, 0, stderr);
	assert.equal(stdout, 'demo is in order.\n2 tools: disk_usage, today\n');
});

await runCases();
