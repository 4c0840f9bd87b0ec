// schema_values.mjs - values for a schema: some that probably fit, some that nearly do, some from
// nowhere. And how to write them, since JSON has many spellings of the same value.
import * as pool from './schema_pools.mjs';
import { randomValue } from './schema_random.mjs';

const isSchema = (s) => typeof s === 'object' && s !== null;
const isObject = (v) => isSchema(v) && !Array.isArray(v) && !(v instanceof pool.Verbatim);

// ---- values that probably fit --------------------------------------------------------------------

class Fitter {
	constructor(random, root) {
		this.r = random;
		this.root = root;
		this.named = new Map();
		for (const [k, s] of Object.entries(root.$defs ?? root.definitions ?? {})) {
			this.named.set(k, s);
			for (const name of [s.$id, s.$anchor]) if (name) this.named.set(name.replace(/^#/, ''), s);
		}
	}

	find(reference) {
		const [, last] = /([^/#]*)#?$/.exec(reference);
		const member = /#\/properties\/([^/]*)$/.exec(reference);
		if (member) {
			const key = decodeURIComponent(member[1]).replaceAll('~1', '/').replaceAll('~0', '~');
			return this.root.properties?.[key] ?? true;
		}
		return this.named.get(last) ?? this.root;
	}

	// One schema that asks for (about) the same, with a branch chosen wherever there are several.
	flatten(schema, depth) {
		if (!isSchema(schema) || depth <= 0) return {};
		const { r } = this;
		const { $ref, $dynamicRef, allOf, anyOf, oneOf, if: condition, then, else: otherwise, ...flat } = schema;
		const more = [...(allOf ?? [])];
		if ($ref !== undefined || $dynamicRef !== undefined) more.push(this.find($ref ?? $dynamicRef));
		if (anyOf) more.push(r.pick(anyOf));
		if (oneOf) more.push(r.pick(oneOf));
		if (condition !== undefined) more.push(...(r.chance(0.5) ? [condition, then] : [otherwise]));
		return more.reduce((all, s) => merge(all, this.flatten(s, depth - 1)), flat);
	}

	value(schema, depth) {
		if (depth <= 0 || !isSchema(schema)) return randomValue(this.r, Math.min(depth, 1));
		const { r } = this;
		const s = this.flatten(schema, 5);
		if (s.const !== undefined) return s.const;
		if (s.enum) return r.pick(s.enum);
		const type = kindOf(r, s);
		const make = this[type];
		return make ? make.call(this, s, depth) : randomValue(r, 0, type);
	}

	object(s, depth) {
		const { r } = this;
		const known = Object.keys(s.properties ?? {});
		const wanted = new Set([...(s.required ?? []), ...known.filter(() => r.chance(0.6))]);
		if (s.additionalProperties !== false && r.chance(0.25)) wanted.add(r.pick(pool.names));
		for (let tries = 0; wanted.size < (s.minProperties ?? 0) && tries < 5; tries++)
			wanted.add(r.pick(pool.names));
		for (const key of [...wanted]) {
			const needed = s.dependentRequired?.[key] ?? s.dependencies?.[key];
			for (const k of Array.isArray(needed) ? needed : []) wanted.add(k);
		}
		return Object.fromEntries([...wanted].map((k) => [k, this.value(this.member(s, k), depth - 1)]));
	}

	member(s, key) {
		if (Object.hasOwn(s.properties ?? {}, key)) return s.properties[key];
		const [, like] = Object.entries(s.patternProperties ?? {})
			.find(([p]) => new RegExp(p, 'u').test(key)) ?? [];
		return like ?? s.additionalProperties ?? s.unevaluatedProperties;
	}

	array(s, depth) {
		const { r } = this;
		const prefix = s.prefixItems ?? (Array.isArray(s.items) ? s.items : []);
		const rest = (Array.isArray(s.items) ? s.additionalItems : s.items) ?? s.unevaluatedItems;
		const least = Math.max(s.minItems ?? 0, s.contains !== undefined ? s.minContains ?? 1 : 0);
		const most = Math.min(s.maxItems ?? 4, rest === false ? prefix.length : 4);
		const length = Math.max(Math.min(r.between(least, least + 3), most), 0);
		const made = Array.from({ length }, (_, i) => this.value(prefix[i] ?? rest ?? true, depth - 1));
		if (s.contains !== undefined && made.length)
			made[r.below(made.length)] = this.value(s.contains, depth - 1);
		return made;
	}

	string(s) {
		const { r } = this;
		const [, found] = pool.patterns.find(([p]) => p === s.pattern) ?? [];
		const texts = found ?? pool.formats[s.format]?.good ?? pool.strings;
		const size = (t) => [...t].length;
		const fits = (t) => size(t) >= (s.minLength ?? 0) && size(t) <= (s.maxLength ?? Infinity);
		let text;
		for (let tries = 0; tries < 6; tries++) {
			text = r.pick(texts);
			if (fits(text)) break;
		}
		return text;
	}

	number(s) {
		const { r } = this;
		const bounds = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'].map((k) => s[k]);
		if (bounds.some((b) => b instanceof pool.Verbatim) && r.chance(0.7)) return r.pick(pool.verbatim);
		const [low = -10, above = -10, high = 100, under = 100] =
			bounds.map((b) => (typeof b === 'number' ? b : undefined));
		const least = Math.max(low, above), most = Math.min(high, under);
		const inside = pool.numbers.filter((n) => n >= least && n <= most);
		const near = r.pick([least, most, least + 1, (least + most) / 2, ...inside]);
		const step = s.multipleOf ?? (s.type === 'integer' ? 1 : undefined);
		return step === undefined ? near : Number((Math.round(near / step) * step).toPrecision(14));
	}

	integer(s) {
		return this.number({ ...s, type: 'integer' });
	}
}

function merge(a, b) {
	const both = { ...a, ...b };
	if (a.required && b.required) both.required = [...new Set([...a.required, ...b.required])];
	if (a.properties && b.properties) {
		both.properties = { ...a.properties };
		for (const [k, s] of Object.entries(b.properties))
			both.properties[k] = Object.hasOwn(a.properties, k) ? { allOf: [a.properties[k], s] } : s;
	}
	return both;
}

function kindOf(r, s) {
	if (s.type !== undefined) return r.pick([s.type].flat());
	const hints = {
		object: ['properties', 'required', 'patternProperties', 'additionalProperties', 'propertyNames',
			'unevaluatedProperties', 'dependencies', 'dependentRequired', 'dependentSchemas'],
		array: ['items', 'prefixItems', 'contains', 'uniqueItems', 'unevaluatedItems', 'minItems', 'maxItems'],
		string: ['pattern', 'minLength', 'maxLength', 'format'],
		number: ['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
	};
	const fitting = Object.keys(hints).filter((kind) => hints[kind].some((k) => k in s));
	return r.pick(fitting.length ? fitting : ['object', 'array', 'string', 'number', 'boolean', 'null']);
}

// ---- values that nearly fit ----------------------------------------------------------------------

function mutateObject(r, value) {
	const keys = Object.keys(value);
	const key = r.pick(keys);
	switch (r.below(4)) {
	case 0: { const { [key]: gone, ...rest } = value; return rest; }
	case 1: return { ...value, [r.pick(pool.names)]: randomValue(r, 1) };
	default: return { ...value, [key]: mutate(r, value[key]) };
	}
}

function mutateArray(r, value) {
	const i = r.below(value.length);
	switch (r.below(5)) {
	case 0: return value.toSpliced(i, 1);
	case 1: return [...value, randomValue(r, 1)];
	case 2: return [...value, value[i]];
	default: return value.with(i, mutate(r, value[i]));
	}
}

function typeOf(value) {
	if (value instanceof pool.Verbatim) return 'number';
	return Array.isArray(value) ? 'array' : typeof value;
}

function mutate(r, value) {
	if (Array.isArray(value) && value.length && r.chance(0.85)) return mutateArray(r, value);
	if (isObject(value) && Object.keys(value).length && r.chance(0.85)) return mutateObject(r, value);
	if (typeof value === 'number' && r.chance(0.6))
		return r.pick([value + 1, -value, value + 0.5, value * 10]);
	if (typeof value === 'string' && r.chance(0.6)) return r.pick(pool.strings);
	return randomValue(r, 1, r.chance(0.7) ? typeOf(value) : undefined);
}

function sampleOfFormats(r, value) {
	if (Array.isArray(value)) return value.map((v) => sampleOfFormats(r, v));
	if (isObject(value))
		return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, sampleOfFormats(r, v)]));
	if (typeof value !== 'string' || r.chance(0.7)) return value;
	const { good, bad } = r.pick(Object.values(pool.formats));
	return r.pick([...good, ...bad]);
}

function* candidates(random, schema, { formats, draw }) {
	while (draw) yield draw();
	const fitter = isSchema(schema) ? new Fitter(random, schema) : undefined;
	const kind = () => (fitter && random.chance(0.9) ? kindOf(random, fitter.flatten(schema, 5)) : undefined);
	for (;;) {
		yield randomValue(random, 3, kind());
		const value = fitter ? fitter.value(schema, 5) : randomValue(random, 2);
		yield formats ? sampleOfFormats(random, value) : value;
		yield mutate(random, value);
	}
}

/** Texts of `n` values to check against a schema: from nowhere, made for it, and those spoilt; or
 * what options.draw() gives. More
 * are drawn than are given, so that values for which `judge(text)` says one thing and values for which
 * it says the other are both among them if that can be had. */
export function valuesFor(random, schema, n, options, judge) {
	const texts = { true: [], false: [] };
	const source = candidates(random, schema, options);
	for (let drawn = 0; drawn < n * 3; drawn++) {
		const text = spell(random, source.next().value);
		texts[judge(text)].push(text);
		if (drawn >= n && texts.true.length >= n / 2 && texts.false.length >= n / 2) break;
	}
	const few = texts.true.length < texts.false.length ? texts.true : texts.false;
	const half = few.slice(-n / 2);
	const many = few === texts.true ? texts.false : texts.true;
	return [...half, ...many.slice(half.length - n)];
}

// ---- spelling ------------------------------------------------------------------------------------

function spellNumber(r, value) {
	const text = Object.is(value, -0) ? '-0' : String(value);
	if (!r.chance(0.1) || /e/.test(text)) return text;
	const [whole, part = ''] = text.split('.');
	return r.pick([
		part ? `${text}0` : `${text}.0`,
		`${text}e0`,
		`${text}E+00`,
		`${whole}${part}0e-${part.length + 1}`.replace(/^(-?)0+(?=\d)/, '$1'),
	]);
}

function spellString(r, text) {
	if (!r.chance(0.05)) return JSON.stringify(text);
	const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
	return `"${Array.from({ length: text.length }, (_, i) => escape(text[i])).join('')}"`;
}

/** JSON text of a value, now and then in an unusual spelling. */
export function spell(r, value) {
	if (value instanceof pool.Verbatim) return value.text;
	if (typeof value === 'number') return spellNumber(r, value);
	if (typeof value === 'string') return spellString(r, value);
	if (Array.isArray(value)) return `[${value.map((v) => spell(r, v)).join(',')}]`;
	if (!isObject(value)) return JSON.stringify(value);
	return `{${Object.entries(value).map(([k, v]) => `${spellString(r, k)}:${spell(r, v)}`).join(',')}}`;
}
