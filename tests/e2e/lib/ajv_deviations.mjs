// ajv_deviations.mjs - where Ajv 8 is known not to follow the specification (or cannot).
//
// Each has a reason and a predicate that says whether it can be at work in a pair. A predicate alone
// excuses nothing: the arbiter (schema_reference.mjs) must disagree with Ajv as well.
import { isRounded } from './decimal.mjs';
import { isMisjudged } from './schema_pairs.mjs';

const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);

// Does any object in here (a schema with all that it contains) pass the test?
function some(value, test) {
	if (typeof value !== 'object' || value === null) return false;
	return (isObject(value) && test(value)) || Object.values(value).some((v) => some(v, test));
}

const has = (schema, ...keys) => keys.every((k) => Object.hasOwn(schema, k));
const numbersIn = (text) => text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];
const textsIn = (v) => (typeof v === 'string' ? [v] : !v || typeof v !== 'object' ? []
	: [...(isObject(v) ? Object.keys(v) : []), ...Object.values(v).flatMap(textsIn)]);
const uses = (schema, ...keys) => keys.every((k) => some(schema, (s) => has(s, k)));

export const deviations = [
	{
		reason: 'Ajv throws: the code that it makes for evaluated properties is wrong',
		applies: ({ ajv }) => ajv === 'throws',
	},
	{
		reason: 'multipleOf divides doubles: 0.49 is no multiple of 0.07, 9007199254740991 is one',
		applies: ({ schema }) => some(schema, (s) => has(s, 'multipleOf')),
	},
	{
		reason: 'numbers that no double holds are rounded, or infinite and then no numbers',
		applies: ({ schemaText, valueText }) => numbersIn(schemaText + valueText).some(isRounded),
	},
	{
		reason: 'a missing member whose name is empty is not noticed',
		applies: ({ schema }) => some(schema, (s) => [
			s.required, ...Object.values(s.dependentRequired ?? {}), ...Object.values(s.dependencies ?? {}),
		].some((list) => Array.isArray(list) && list.includes(''))),
	},
	{
		reason: 'an array that ends before a tuple does is not checked by contains, uniqueItems, ...',
		applies: ({ schema }) => some(schema, (s) => (has(s, 'prefixItems') || Array.isArray(s.items)) &&
			['contains', 'uniqueItems', 'unevaluatedItems'].some((k) => has(s, k))),
	},
	{
		reason: 'draft-07: type counts beside $ref, although nothing does',
		applies: ({ schema, dialect }) => dialect === 'draft-07' &&
			some(schema, (s) => has(s, '$ref', 'type')),
	},
	{
		reason: '$dynamicRef is dynamic although it leads to an $anchor first',
		applies: ({ schema }) => uses(schema, '$dynamicRef') && some(schema, (s) => s.$anchor === 'node'),
	},
	{
		reason: 'unevaluatedItems takes all elements for evaluated where there is contains',
		applies: ({ schema }) => uses(schema, 'unevaluatedItems', 'contains'),
	},
	{
		reason: 'unevaluatedItems and anyOf, oneOf, if: the elements that a branch evaluated get lost',
		applies: ({ schema }) => ['anyOf', 'oneOf', 'if'].some((k) => uses(schema, 'unevaluatedItems', k)),
	},
	{
		reason: 'unevaluatedProperties and dependentSchemas: what was evaluated gets lost',
		applies: ({ schema }) => uses(schema, 'unevaluatedProperties', 'dependentSchemas'),
	},
	{
		reason: 'unevaluatedProperties and anyOf, oneOf: what a branch evaluated before it failed counts',
		applies: ({ schema }) => ['anyOf', 'oneOf'].some((k) => uses(schema, 'unevaluatedProperties', k)),
	},
	{
		reason: 'unevaluatedProperties and if: one that fails counts; one without then and else does not',
		applies: ({ schema }) => uses(schema, 'unevaluatedProperties', 'if'),
	},
	{
		reason: 'ajv-formats: +0100 as an offset, quotes and colons in references, no p1d, ' +
			'no apostrophe in templates, regexes without u',
		applies: ({ schema, formats, valueText }) => formats && some(schema, (s) =>
			typeof s.format === 'string' &&
			textsIn(JSON.parse(valueText)).some((t) => isMisjudged(s.format, t))),
	},
];
