// schema_evaluated.mjs - random schemas of 2020-12 in which it matters what was evaluated, and values.
//
// unevaluatedProperties and unevaluatedItems depend on which of all the other applicators ran, and
// which of those succeeded. In a schema of any size that is seldom what decides; so these are small,
// their members have four names, and their values are nearly always of the right kind.

const names = ['a', 'b', 'c', 'd'];
const values = [0, 1, 2, 'a', true];

const simple = (r) => r.pick([
	true, true, { type: 'number' }, { type: 'string' }, { const: 1 }, { minimum: 1 }, {},
]);
const rest = (r) => r.pick([false, false, false, true, { type: 'number' }, { const: 'a' }]);

class Maker {
	constructor(random) {
		this.r = random;
		this.kind = random.pick(['object', 'object', 'array']);
		this.defs = random.between(0, 2);
	}

	make() {
		const root = { ...this.schema(2, 0), [this.keyword()]: rest(this.r) };
		const defs = Array.from({ length: this.defs }, (_, i) => [`d${i}`, this.schema(1, i + 1)]);
		if (defs.length) root.$defs = Object.fromEntries(defs);
		return root;
	}

	keyword() {
		return this.kind === 'object' ? 'unevaluatedProperties' : 'unevaluatedItems';
	}

	// `floor`: the first definition that may be referred to
	schema(depth, floor) {
		const { r } = this;
		if (r.chance(0.08)) return r.chance(0.7) ? {} : { not: {} };
		const s = {};
		if (r.chance(0.2)) s[this.keyword()] = rest(r);
		this[this.kind](s, depth, floor);
		for (let n = depth > 0 ? r.between(0, 2) : 0; n > 0; n--) this.combine(s, depth, floor);
		if (floor < this.defs && r.chance(0.2)) s.$ref = `#/$defs/d${r.between(floor, this.defs - 1)}`;
		return s;
	}

	object(s, depth, floor) {
		const { r } = this;
		const each = (keys, make) => Object.fromEntries(keys.map((k) => [k, make()]));
		if (r.chance(0.6)) s.properties = each(r.some(names, 1, 2), () => simple(r));
		if (r.chance(0.15)) s.patternProperties = each([r.pick(['^a', '[bc]', 'd$'])], () => simple(r));
		if (r.chance(0.08)) s.additionalProperties = simple(r);
		if (r.chance(0.2)) s.required = r.some(names, 1, 1);
		if (depth > 0 && r.chance(0.2))
			s.dependentSchemas = each(r.some(names, 1, 2), () => this.schema(depth - 1, floor));
	}

	array(s) {
		const { r } = this;
		if (r.chance(0.5)) s.prefixItems = Array.from({ length: r.between(1, 2) }, () => simple(r));
		if (r.chance(0.08)) s.items = simple(r);
		if (r.chance(0.3)) s.contains = simple(r);
		if (s.contains !== undefined && r.chance(0.4)) s[r.pick(['minContains', 'maxContains'])] = r.below(3);
		if (r.chance(0.15)) s.minItems = r.between(1, 2);
	}

	combine(s, depth, floor) {
		const { r } = this;
		const part = () => this.schema(depth - 1, floor);
		const which = r.pick(['allOf', 'anyOf', 'oneOf', 'if', 'if', 'not']);
		if (which === 'if') {
			s.if = part();
			if (r.chance(0.45)) s.then = part();
			if (r.chance(0.45)) s.else = part();
		} else {
			s[which] = which === 'not' ? part() : Array.from({ length: r.between(1, 3) }, part);
		}
	}
}

/** A schema with unevaluatedProperties or unevaluatedItems, and a function that draws values for it. */
export function evaluatedSchema(random) {
	const maker = new Maker(random);
	const object = () => Object.fromEntries(random.some(names, 0, 4).map((k) => [k, random.pick(values)]));
	const array = () => Array.from({ length: random.below(5) }, () => random.pick(values));
	return { schema: maker.make(), draw: maker.kind === 'object' ? object : array };
}
