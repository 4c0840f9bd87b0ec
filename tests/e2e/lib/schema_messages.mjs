// schema_messages.mjs - messages that fit a JSON Schema, and the same with one mistake in them.
//
// Deterministic: the same seed gives the same messages.

export function random(seed) {
	let state = seed >>> 0;
	return n => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * n);
	};
}

/** Something that fits `schema`; `deep` is how many levels may still come. */
export function instance(schema, defs, pick, deep = 6) {
	const inner = (s, d = deep - 1) => instance(s, defs, pick, d);
	if (schema === true || Object.keys(schema).every(k => k === 'description')) return [1, 'any', { a: [null, 1.5] }][pick(3)];
	if (schema.$ref) return inner(defs[schema.$ref.split('/').pop()], deep);
	if ('const' in schema) return schema.const;
	if (schema.enum) return schema.enum[pick(schema.enum.length)];
	if (schema.anyOf) return inner(schema.anyOf[pick(schema.anyOf.length)], deep);
	if (schema.allOf) return Object.assign({}, ...schema.allOf.map(s => inner(s, deep)));
	const type = Array.isArray(schema.type) ? schema.type[pick(schema.type.length)] : schema.type;
	if (type === 'array') return Array.from({ length: deep > 0 ? pick(3) : 0 }, () => inner(schema.items ?? true));
	if (type === 'object') return object(schema, inner, pick, deep);
	if (type === 'string') return schema.format === 'byte' ? 'AAEC/w==' : schema.format?.startsWith('uri') ? 'test://a/b' : ['', 'text', 'ä"\\\n'][pick(3)];
	if (type === 'integer') return (schema.minimum ?? -2) + pick(9);
	if (type === 'number') return schema.maximum === 1 ? [0, 0.25, 1][pick(3)] : [-1, 0.5, 1e3][pick(3)];
	if (type === 'boolean') return pick(2) === 1;
	if (type === 'null') return null;
	throw new Error(`what is ${JSON.stringify(schema)}?`);
}

function object(schema, inner, pick, deep) {
	const value = {};
	for (const [key, member] of Object.entries(schema.properties ?? {}))
		if (schema.required?.includes(key) || (deep > 0 && pick(2))) value[key] = key === 'resultType' ? 'complete' : inner(member);
	for (const key of schema.required ?? []) value[key] ??= schema.properties?.[key] ? value[key] : 1;
	const rest = schema.additionalProperties;
	if (rest && typeof rest === 'object' && Object.keys(rest).length && deep > 0 && pick(2)) value.further = inner(rest);
	return value;
}

function places(value, path, to) {
	if (value === null || typeof value !== 'object') return to;
	for (const key of Object.keys(value)) {
		to.push([...path, key]);
		places(value[key], [...path, key], to);
	}
	return to;
}

const others = ['x', 7, 1.5, -3, true, null, [], {}, [1], { a: 1 }];

/** A copy with one thing below `under` removed, or of another kind. */
export function mutate(message, under, pick) {
	const copy = structuredClone(message);
	const all = places(copy[under], [under], [[under]]);
	const path = all[pick(all.length)];
	let parent = copy;
	for (const key of path.slice(0, -1)) parent = parent[key];
	const last = path.at(-1);
	if (pick(3) === 0 && !Array.isArray(parent)) delete parent[last];
	else parent[last] = structuredClone(others[pick(others.length)]);
	return copy;
}

/** The `turn`-th of some that together have every member that there may be, and of each union every kind. */
export function full(schema, defs, turn, deep = 7) {
	const inner = (s, d = deep - 1) => full(s, defs, turn, d);
	if (schema === true || Object.keys(schema).every(k => k === 'description')) return ['any', 1.5, null, { a: [null] }][turn % 4];
	if (schema.$ref) return inner(defs[schema.$ref.split('/').pop()], deep);
	if ('const' in schema) return schema.const;
	if (schema.enum) return schema.enum[turn % schema.enum.length];
	if (schema.anyOf) return inner(schema.anyOf[turn % schema.anyOf.length], deep);
	if (schema.allOf) return Object.assign({}, ...schema.allOf.map(s => inner(s, deep)));
	const type = Array.isArray(schema.type) ? schema.type[turn % schema.type.length] : schema.type;
	if (type === 'array') return deep > 0 ? [inner(schema.items ?? true)] : [];
	if (type !== 'object') return { string: 'text', integer: 1, number: 0.5, boolean: true, null: null }[type];
	const value = {};
	for (const [key, member] of Object.entries(schema.properties ?? {}))
		if (schema.required?.includes(key) || deep > 0) value[key] = key === 'resultType' ? 'complete' : inner(member);
	const rest = schema.additionalProperties;
	if (rest && typeof rest === 'object' && Object.keys(rest).length && deep > 0) value.further = inner(rest);
	return value;
}

/** Every copy with one thing at or below `under` removed, of another kind, one more than there was, or too many. */
export function* mutants(message, under) {
	const all = places(message[under], [under], [[under]]);
	for (const path of all) {
		const at = copy => path.slice(0, -1).reduce((value, key) => value[key], copy), last = path.at(-1);
		const old = at(message)[last], isObject = old !== null && typeof old === 'object' && !Array.isArray(old);
		for (const other of [...others, ...(isObject ? [{ ...old, unknownToAll: null }] : []), ...(Array.isArray(old) ? [[...old, ...old], Array(101).fill(old[0] ?? 'x')] : [])]) {
			const copy = structuredClone(message);
			at(copy)[last] = structuredClone(other);
			yield copy;
		}
		const copy = structuredClone(message);
		if (Array.isArray(at(copy))) at(copy).splice(Number(last), 1);
		else delete at(copy)[last];
		yield copy;
	}
}
