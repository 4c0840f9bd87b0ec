// schema_reference.mjs - JSON Schema by the letter: the arbiter where two validators differ.
//
// One function for each keyword, in the words of the specification, with annotations as sets. Slow,
// exact with numbers, without error messages, and for schemas that are known to be valid; formats are
// given as functions. Not a validator to be used for anything else.
import { Decimal, parseExactly } from './decimal.mjs';

const one = [
	'additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'items', 'not',
	'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties',
];
const list = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
const map = [
	'$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties',
];

const has = (object, key) => Object.hasOwn(object, key);
const size = (text) => [...text].length;

function typeOf(v) {
	if (v === null) return 'null';
	if (v instanceof Decimal) return 'number';
	return Array.isArray(v) ? 'array' : typeof v;
}

const isObject = (v) => typeOf(v) === 'object';

function equal(a, b) {
	if (typeOf(a) !== typeOf(b)) return false;
	if (a instanceof Decimal) return a.equals(b);
	if (Array.isArray(a)) return a.length === b.length && a.every((v, i) => equal(v, b[i]));
	if (!isObject(a)) return a === b;
	const keys = Object.keys(a);
	return keys.length === Object.keys(b).length && keys.every((k) => has(b, k) && equal(a[k], b[k]));
}

function subschemas(schema) {
	const found = [];
	for (const k of one) if (has(schema, k) && !Array.isArray(schema[k])) found.push(schema[k]);
	for (const k of list) if (Array.isArray(schema[k])) found.push(...schema[k]);
	for (const k of map) if (has(schema, k)) found.push(...Object.values(schema[k]));
	return found.filter(isObject);
}

// ---- keywords ------------------------------------------------------------------------------------
// keyword(of, value, e): `of` is the keyword's value; e.schema the schema around it, e.seen what was
// evaluated in this object or array so far, e.apply(schema, value) says whether a subschema accepts a
// child, e.within(schema) the same in place, adding what it evaluated.

const numbers = (test) => (of, v) => !(v instanceof Decimal) || test(v, of);
const strings = (test) => (of, v, e) => typeof v !== 'string' || test(v, of, e);
const arrays = (test) => (of, v, e) => !Array.isArray(v) || test(v, of, e);
const objects = (test) => (of, v, e) => !isObject(v) || test(v, of, e);
const count = (decimal) => Number(decimal.digits) * 10 ** decimal.exponent;

function children(e, v, keys, schema, seen) {
	return keys.filter((k) => !e.apply(typeof schema === 'function' ? schema(k) : schema, v[k]) ||
		(seen.add(k), false)).length === 0;
}

const indices = (v, from) => [...v.keys()].slice(from);
const named = (e, k) => has(e.schema.properties ?? {}, k) ||
	Object.keys(e.schema.patternProperties ?? {}).some((p) => new RegExp(p, 'u').test(k));

function items(v, of, e) {
	if (Array.isArray(of)) // draft-07
		return children(e, v, indices(v, 0).slice(0, of.length), (i) => of[i], e.seen.items);
	return children(e, v, indices(v, e.schema.prefixItems?.length ?? 0), of, e.seen.items);
}

function contains(v, of, e) {
	const hits = indices(v, 0).filter((i) => e.apply(of, v[i]));
	const { minContains, maxContains } = e.dialect === 'draft-07' ? {} : e.schema;
	for (const i of hits) e.seen.items.add(i);
	return hits.length >= (minContains ? count(minContains) : 1) &&
		hits.length <= (maxContains ? count(maxContains) : Infinity);
}

function dependency(of, v, e) {
	return Object.entries(of).every(([k, needed]) => !has(v, k) ||
		(Array.isArray(needed) ? needed.every((n) => has(v, n)) : e.within(needed)));
}

function condition(of, v, e) {
	const branch = e.within(of) ? 'then' : 'else';
	return !has(e.schema, branch) || e.within(e.schema[branch]);
}

const keywords = {
	type: (of, v) => [of].flat().some((t) =>
		t === typeOf(v) || (t === 'integer' && v instanceof Decimal && v.isInteger)),
	enum: (of, v) => of.some((x) => equal(x, v)),
	const: (of, v) => equal(of, v),
	minimum: numbers((v, of) => v.compare(of) >= 0),
	maximum: numbers((v, of) => v.compare(of) <= 0),
	exclusiveMinimum: numbers((v, of) => v.compare(of) > 0),
	exclusiveMaximum: numbers((v, of) => v.compare(of) < 0),
	multipleOf: numbers((v, of) => v.isMultipleOf(of)),
	minLength: strings((v, of) => size(v) >= count(of)),
	maxLength: strings((v, of) => size(v) <= count(of)),
	pattern: strings((v, of) => new RegExp(of, 'u').test(v)),
	format: strings((v, of, e) => e.format(of, v)),
	minItems: arrays((v, of) => v.length >= count(of)),
	maxItems: arrays((v, of) => v.length <= count(of)),
	uniqueItems: arrays((v, of) => !of || v.every((x, i) => !v.slice(0, i).some((y) => equal(x, y)))),
	prefixItems: arrays((v, of, e) =>
		children(e, v, indices(v, 0).slice(0, of.length), (i) => of[i], e.seen.items)),
	items: arrays(items),
	additionalItems: arrays((v, of, e) => !Array.isArray(e.schema.items) ||
		children(e, v, indices(v, e.schema.items.length), of, e.seen.items)),
	contains: arrays(contains),
	minProperties: objects((v, of) => Object.keys(v).length >= count(of)),
	maxProperties: objects((v, of) => Object.keys(v).length <= count(of)),
	required: objects((v, of) => of.every((k) => has(v, k))),
	propertyNames: objects((v, of, e) => Object.keys(v).every((k) => e.apply(of, k))),
	properties: objects((v, of, e) =>
		children(e, v, Object.keys(of).filter((k) => has(v, k)), (k) => of[k], e.seen.props)),
	patternProperties: objects((v, of, e) => Object.entries(of).every(([p, s]) =>
		children(e, v, Object.keys(v).filter((k) => new RegExp(p, 'u').test(k)), s, e.seen.props))),
	additionalProperties: objects((v, of, e) =>
		children(e, v, Object.keys(v).filter((k) => !named(e, k)), of, e.seen.props)),
	dependencies: objects((v, of, e) => dependency(of, v, e)),
	dependentRequired: objects((v, of, e) => dependency(of, v, e)),
	dependentSchemas: objects((v, of, e) => dependency(of, v, e)),
	$ref: (of, v, e) => e.within(e.resolve(of)),
	$dynamicRef: (of, v, e) => e.within(e.resolveDynamically(of)),
	allOf: (of, v, e) => of.every((s) => e.within(s)),
	anyOf: (of, v, e) => of.filter((s) => e.within(s)).length > 0,
	oneOf: (of, v, e) => of.filter((s) => e.within(s)).length === 1,
	not: (of, v, e) => !e.apply(of, v),
	if: condition,
	// last: they see what all others evaluated
	unevaluatedItems: arrays((v, of, e) =>
		children(e, v, indices(v, 0).filter((i) => !e.seen.items.has(i)), of, e.seen.items)),
	unevaluatedProperties: objects((v, of, e) =>
		children(e, v, Object.keys(v).filter((k) => !e.seen.props.has(k)), of, e.seen.props)),
};

const missing = {
	'draft-07': ['$dynamicRef', 'dependentRequired', 'dependentSchemas', 'prefixItems',
		'unevaluatedItems', 'unevaluatedProperties'],
	'2020-12': ['additionalItems', 'dependencies'],
};

// ---- schemas -------------------------------------------------------------------------------------

// Every schema has a resource: the nearest schema around it with an $id, or the root.
class Resources {
	constructor(root, dialect) {
		this.old = dialect === 'draft-07';
		this.of = new Map();
		this.byUri = new Map();
		this.collect(root, this.open('https://nowhere.invalid/', root));
	}

	open(uri, root) {
		return { uri, root, anchors: new Map(), dynamic: new Map() };
	}

	collect(schema, outer) {
		let resource = outer;
		const id = this.old && has(schema, '$ref') ? undefined : schema.$id;
		if (id?.startsWith('#')) {
			resource.anchors.set(id.slice(1), schema);
		} else if (id !== undefined) {
			resource = this.open(new URL(id, outer.uri).href, schema);
		}
		this.of.set(schema, resource);
		this.byUri.set(resource.uri, resource);
		if (!this.old && has(schema, '$anchor')) resource.anchors.set(schema.$anchor, schema);
		if (!this.old && has(schema, '$dynamicAnchor')) {
			resource.anchors.set(schema.$dynamicAnchor, schema);
			resource.dynamic.set(schema.$dynamicAnchor, schema);
		}
		for (const s of subschemas(schema)) this.collect(s, resource);
	}

	find(reference, from) {
		const url = new URL(reference, from.uri);
		const fragment = decodeURIComponent(url.hash.slice(1));
		url.hash = '';
		const resource = this.byUri.get(url.href);
		if (fragment && !fragment.startsWith('/'))
			return { resource, name: fragment, schema: resource.anchors.get(fragment) };
		const unescape = (step) => step.replaceAll('~1', '/').replaceAll('~0', '~');
		const steps = fragment.split('/').slice(1).map(unescape);
		return { resource, schema: steps.reduce((s, step) => s[step], resource.root) };
	}
}

/** Compiles a schema's text; gives a function from the text of a value to whether it is valid. */
export function compile(dialect, text, format) {
	const root = parseExactly(text);
	if (typeof root === 'boolean') return () => root;
	const resources = new Resources(root, dialect);
	const known = Object.entries(keywords).filter(([k]) => !missing[dialect].includes(k));

	// What was evaluated, when the schema accepts the value; otherwise undefined.
	function evaluate(schema, value, outer) {
		const seen = { props: new Set(), items: new Set() };
		if (typeof schema === 'boolean') return schema ? seen : undefined;
		const resource = resources.of.get(schema);
		const scope = outer.at(-1) === resource ? outer : [...outer, resource];
		const e = {
			schema, dialect, seen, format,
			apply: (s, v) => evaluate(s, v, scope) !== undefined,
			within: (s) => {
				const more = evaluate(s, value, scope);
				for (const k of more?.props ?? []) seen.props.add(k);
				for (const i of more?.items ?? []) seen.items.add(i);
				return more !== undefined;
			},
			resolve: (reference) => resources.find(reference, resource).schema,
			resolveDynamically: (reference) => {
				const { resource: first, name, schema: target } = resources.find(reference, resource);
				if (name === undefined || first.dynamic.get(name) !== target) return target;
				return scope.find((r) => r.dynamic.has(name)).dynamic.get(name);
			},
		};
		if (dialect === 'draft-07' && has(schema, '$ref'))
			return e.within(e.resolve(schema.$ref)) ? seen : undefined;
		return known.every(([k, test]) => !has(schema, k) || test(schema[k], value, e)) ? seen : undefined;
	}
	return (valueText) => evaluate(root, parseExactly(valueText), []) !== undefined;
}
