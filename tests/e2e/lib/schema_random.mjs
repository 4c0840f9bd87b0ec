// schema_random.mjs - random JSON Schemas that are valid, refer only to what is there, and end.
//
// Schemas are drawn for a kind of value (an object, a string, ...), because keywords for different
// kinds do not meet. A reference that stays at the same place of the value leads only to a later
// definition; one below a member or an element may lead anywhere. So no schema loops.
import * as pool from './schema_pools.mjs';

const kinds = ['object', 'object', 'object', 'array', 'array', 'string', 'string', 'number', 'number', 'any'];
const simple = ['string', 'string', 'number', 'number', 'number', 'any', 'any', 'object', 'array'];
const metaschemas = {
	'2020-12': 'https://json-schema.org/draft/2020-12/schema',
	'draft-07': 'http://json-schema.org/draft-07/schema#',
};
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** A value of the pools, nested at most `depth` deep, of a kind where one is given. */
export function randomValue(r, depth, kind = r.pick([...kinds, 'any', 'string', 'number'])) {
	switch (kind) {
	case 'object':
		if (depth <= 0) return {};
		if (r.chance(0.03)) // more than a validator looks through one by one
			return Object.fromEntries(r.some(pool.manyNames, 20, 60).map((k) => [k, randomValue(r, 0)]));
		return Object.fromEntries(r.some(pool.names, 0, 4).map((k) => [k, randomValue(r, depth - 1)]));
	case 'array': {
		if (depth <= 0) return [];
		const like = r.chance(0.6) ? r.pick(kinds) : undefined;
		if (r.chance(0.03)) {
			const different = r.some(r.chance(0.5) ? pool.manyNames : pool.manyNumbers, 10, 60);
			return r.chance(0.5) ? different : [...different, randomValue(r, 1), r.pick(different)];
		}
		return Array.from({ length: r.below(5) }, () => randomValue(r, depth - 1, like));
	}
	case 'string': return r.pick(pool.strings);
	case 'number': case 'integer': return r.chance(0.01) ? r.pick(pool.verbatim) : r.pick(pool.numbers);
	default: return r.pick([true, false, null]);
	}
}

function shuffled(r, object) {
	const members = Object.entries(object);
	return Object.fromEntries(r.some(members, members.length, members.length));
}

// Equal values must not stand twice in an enum of draft-07; nor for Ajv, which reads it rounded.
function distinct(values) {
	return [...new Map(values.map((v) => [JSON.stringify(v), v])).values()];
}

class Maker {
	constructor(random, { dialect, formats, serial }) {
		this.r = random;
		this.dialect = dialect;
		this.old = dialect === 'draft-07';
		this.formats = formats;
		this.directory = 'https://example.com/';
		this.name = `s${serial}`;
		this.definitions = this.old ? 'definitions' : '$defs';
		this.pending = [];
	}

	// ---- a whole schema ----

	make() {
		const { r } = this;
		if (r.chance(0.01)) return r.chance(0.5);
		if (!this.old && r.chance(0.06)) return this.tree();
		const root = {};
		if (r.chance(0.3)) root.$schema = metaschemas[this.dialect];
		const identified = r.chance(0.35);
		if (identified) root.$id = this.directory + this.name;
		this.defs = Array.from({ length: r.chance(0.6) ? r.between(1, 3) : 0 }, () =>
			({ own: identified && r.chance(0.3), anchor: r.chance(0.3) }));
		Object.assign(root, this.node(r.between(1, 4), { floor: 0, down: 0, home: -1 }, r.pick(kinds)));
		const defs = this.defs.map((_, i) => [`d${i}`, this.definition(i)]);
		if (defs.length) root[this.definitions] = Object.fromEntries(defs);
		this.settle(root);
		if (this.old && root.$ref) delete root.$id; // it would be ignored, and references need it
		return r.chance(0.3) ? shuffled(r, root) : root;
	}

	definition(i) {
		const { r } = this;
		const { own, anchor } = this.defs[i];
		const body = this.node(r.between(0, 2), { floor: i + 1, down: 0, home: own ? i : -1 }, r.pick(kinds));
		if (this.old && (own || anchor)) delete body.$ref;
		if (own) return { $id: `d${i}`, ...body };
		if (anchor) return this.old ? { $id: `#a${i}`, ...body } : { $anchor: `a${i}`, ...body };
		return body;
	}

	// The usual use of $dynamicRef: a recursive schema that another one extends.
	tree() {
		const { r } = this;
		this.defs = [];
		const at = { floor: 0, down: 0, home: -1 };
		const inner = {
			$id: 'tree',
			[r.chance(0.8) ? '$dynamicAnchor' : '$anchor']: 'node',
			...(r.chance(0.7) ? { type: 'object' } : {}),
			properties: {
				a: this.node(1, at, r.pick(kinds)),
				b: { items: { $dynamicRef: '#node' } },
				c: r.chance(0.5) ? { $dynamicRef: '#node' } : { $ref: r.pick(['#', '#node']) },
			},
		};
		return shuffled(r, {
			$id: this.directory + this.name,
			...(r.chance(0.7) ? { $dynamicAnchor: 'node' } : {}),
			$ref: 'tree',
			...(r.chance(0.75) ? { unevaluatedProperties: !r.chance(0.8) && this.node(1, at, 'any') } : {}),
			...(r.chance(0.5) ? { required: [r.pick(['a', 'b'])] } : {}),
			...(r.chance(0.5) ? { properties: { foo: this.node(1, at, r.pick(kinds)) } } : {}),
			$defs: { tree: shuffled(r, inner) },
		});
	}

	// ---- references ----

	reference(at) {
		const { r } = this;
		const targets = this.defs.map((_, i) => i).filter((i) => i >= at.floor);
		if (at.down >= 2 && at.home === -1 && r.chance(0.2)) {
			const ref = { $ref: '#' };
			this.pending.push(ref);
			return ref;
		}
		if (at.down >= 1 && r.chance(0.2)) return { $ref: '#' };
		return targets.length ? { $ref: this.address(r.pick(targets), at) } : undefined;
	}

	address(i, at) {
		const { own, anchor } = this.defs[i];
		const { r } = this;
		if (own) return r.pick([`d${i}`, `${this.directory}d${i}`, `./d${i}#`]);
		const document = at.home === -1 ? '' : r.pick([this.name, this.directory + this.name]);
		return `${document}#${anchor && r.chance(0.6) ? `a${i}` : `/${this.definitions}/d${i}`}`;
	}

	// Some references to the root become references to one of its members.
	settle(root) {
		const keys = Object.keys(root.properties ?? {});
		const escape = (k) => encodeURIComponent(k.replaceAll('~', '~0').replaceAll('/', '~1'));
		for (const ref of keys.length ? this.pending : [])
			ref.$ref = `#/properties/${escape(this.r.pick(keys))}`;
	}

	// ---- one schema ----

	schema(depth, at, kind = this.r.pick(simple)) {
		const { r } = this;
		if (r.chance(0.05)) return r.chance(0.75);
		const ref = r.chance(depth > 0 ? 0.15 : 0.1) ? this.reference(at) : undefined;
		if (ref === undefined) return this.node(depth, at, kind);
		if (r.chance(0.3)) {
			// What stands beside a reference counts in 2020-12 and does not in draft-07.
			const { $ref, ...beside } = this.node(Math.min(depth, 1), at, kind);
			Object.assign(ref, beside);
		}
		return ref;
	}

	child(depth, at, kind = this.r.pick(depth > 3 ? kinds : simple)) {
		return this.schema(depth - 1, { ...at, floor: 0, down: at.down + 1 }, kind);
	}

	node(depth, at, kind) {
		const { r } = this;
		const s = {};
		this.addType(s, kind);
		if (r.chance(kind === 'any' ? 0.3 : 0.1)) this.addValues(s, kind);
		else if (kind !== 'any') this[kind](s, depth, at);
		const rest = s.unevaluatedItems !== undefined || s.unevaluatedProperties !== undefined;
		if (depth > 0 && r.chance(rest ? 0.8 : 0.3)) this.combine(s, depth, at, kind);
		if (r.chance(0.05)) Object.assign(s, r.pick([
			{ title: 'x' }, { default: 1 }, { $comment: 'x' }, { 'x-own': { type: 'string' } },
			{ examples: [{ $ref: '#/no/where' }] }, { readOnly: true }, { contentMediaType: 'application/json' },
			{ contentEncoding: 'base64' }, { minContains: 2 }, { maxContains: 0 }, { deprecated: true },
		]));
		return r.chance(0.2) ? shuffled(r, s) : s;
	}

	addType(s, kind) {
		const { r } = this;
		const own = kind === 'any' ? r.pick(types) : kind === 'number' && r.chance(0.5) ? 'integer' : kind;
		if (r.chance(0.6)) s.type = own;
		else if (r.chance(0.4)) s.type = [...new Set([own, ...r.some(types, 0, 2)])];
	}

	addValues(s, kind) {
		const { r } = this;
		const value = () => randomValue(r, 2, r.chance(0.85) ? kind : 'any');
		if (r.chance(0.25)) s.const = value();
		else s.enum = distinct(Array.from({ length: r.between(2, 6) }, value));
	}

	number(s) {
		const { r } = this;
		const bound = () => (r.chance(0.02) ? r.pick(pool.verbatim) : r.pick(pool.numbers));
		const near = (least, most) => (r.chance(0.6) ? r.between(least, most) : bound());
		if (r.chance(0.4)) s[r.pick(['minimum', 'exclusiveMinimum'])] = near(-2, 3);
		if (r.chance(0.4)) s[r.pick(['maximum', 'exclusiveMaximum'])] = near(2, 12);
		if (r.chance(0.3)) s.multipleOf = r.pick(pool.divisors);
	}

	string(s) {
		const { r } = this;
		if (r.chance(0.35)) s.minLength = r.between(0, 3);
		if (r.chance(0.35)) s.maxLength = r.between(1, 5);
		if (r.chance(0.35)) [s.pattern] = r.pick(pool.patterns);
		if (r.chance(this.formats ? 0.6 : 0.05)) s.format = r.pick(Object.keys(pool.formats));
	}

	array(s, depth, at) {
		const { r } = this;
		const tuple = () => Array.from({ length: r.between(1, 3) }, () => this.child(depth, at));
		const rest = depth > 0 && !this.old && r.chance(0.22);
		if (rest) s.unevaluatedItems = r.chance(0.5) ? false : this.child(depth, at);
		if (depth > 0 && r.chance(rest ? 0.6 : 0.35)) {
			s[this.old ? 'items' : 'prefixItems'] = tuple();
			if (r.chance(rest ? 0.1 : 0.5)) s[this.old ? 'additionalItems' : 'items'] = this.child(depth, at);
		} else if (depth > 0 && r.chance(rest ? 0.1 : 0.7)) {
			s.items = this.child(depth, at);
			if (this.old && r.chance(0.1)) s.additionalItems = false; // says nothing here
		}
		if (depth > 0 && r.chance(rest ? 0.4 : 0.25)) {
			s.contains = this.child(depth, at);
			if (r.chance(0.4)) s.minContains = r.between(0, 2);
			if (r.chance(0.4)) s.maxContains = r.between(0, 2);
		}
		if (r.chance(0.2)) s.minItems = r.between(0, 3);
		if (r.chance(0.25)) s.maxItems = r.between(1, 3);
		if (r.chance(0.25)) s.uniqueItems = r.chance(0.85);
	}

	object(s, depth, at) {
		const { r } = this;
		const many = (keys) => Object.fromEntries(keys.map((k) => [k, this.child(depth, at)]));
		const large = depth === 1 && r.chance(0.05);
		const known = large ? r.some(pool.manyNames, 20, 60) : r.some(pool.names, 1, 4);
		const rest = depth > 0 && !this.old && r.chance(0.22);
		if (rest) s.unevaluatedProperties = r.chance(0.6) ? false : this.child(depth, at);
		if (depth > 0 && r.chance(0.8)) s.properties = many(known);
		if (r.chance(0.5)) s.required = r.some(r.chance(0.9) ? known : pool.names, 0, 2);
		if (depth > 0 && r.chance(0.25)) s.patternProperties = many(r.some(pool.namePatterns, 1, 2));
		if (depth > 0 && r.chance(rest ? 0.05 : 0.25))
			s.additionalProperties = r.chance(0.5) ? false : this.child(depth, at);
		if (r.chance(0.06)) s.propertyNames = this.child(Math.min(depth, 1), at, 'string');
		if (r.chance(0.1)) s.minProperties = r.between(0, 2);
		if (r.chance(0.1)) s.maxProperties = r.between(1, 4);
		if (r.chance(rest ? 0.4 : 0.25)) this.depend(s, depth, at, r.chance(0.8) ? known : pool.names);
	}

	depend(s, depth, at, triggers) {
		const { r } = this;
		const on = r.some(triggers, 1, 2);
		const pairs = on.map((k) => [k, r.chance(0.5) || depth <= 0 ? r.some(pool.names, 1, 2)
			: this.schema(depth - 1, at, 'object')]);
		if (this.old) {
			s.dependencies = Object.fromEntries(pairs);
			return;
		}
		const required = pairs.filter(([, v]) => Array.isArray(v));
		const schemas = pairs.filter(([, v]) => !Array.isArray(v));
		if (required.length) s.dependentRequired = Object.fromEntries(required);
		if (schemas.length) s.dependentSchemas = Object.fromEntries(schemas);
	}

	combine(s, depth, at, kind) {
		const { r } = this;
		const part = () => this.schema(depth - 1, at, r.chance(0.9) ? kind : undefined);
		const parts = (most) => Array.from({ length: r.between(1, most) }, part);
		const which = r.pick(['allOf', 'anyOf', 'anyOf', 'oneOf', 'oneOf', 'not', 'if', 'if']);
		if (which === 'not') {
			s.not = part();
		} else if (which === 'if') {
			s.if = part();
			if (r.chance(0.7)) s.then = part();
			if (r.chance(0.6)) s.else = part();
		} else {
			s[which] = parts(which === 'allOf' ? 2 : 3);
		}
		const lone = r.chance(0.05) ? r.pick(['then', 'else']) : undefined;
		if (lone && !s.if) s[lone] = part(); // says nothing without if
	}
}

/** A schema; options: dialect ('2020-12' or 'draft-07'), formats (use many), serial (for its URI). */
export function randomSchema(random, options) {
	return new Maker(random, options).make();
}
