// schema_shrink.mjs - makes the schema and the value of a finding small enough to be read.
//
// Takes parts away, or puts simpler ones in their place, as long as the finding stays. Greedy: what
// comes out is small, not smallest.

const isParent = (v) => typeof v === 'object' && v !== null;

// Every value that differs from this one by one simplification.
function* simpler(value) {
	if (!isParent(value)) {
		if (typeof value === 'number' && value !== 0 && value !== 1) yield* [0, 1];
		if (typeof value === 'string' && value.length > 1) yield [...value].slice(1).join('');
		return;
	}
	const entries = Object.entries(value);
	const build = (list) => (Array.isArray(value) ? list.map(([, v]) => v) : Object.fromEntries(list));
	for (const [i] of entries.entries()) yield build(entries.toSpliced(i, 1));
	for (const [, v] of entries) if (isParent(v)) yield v;
	for (const [i, [k, v]] of entries.entries()) {
		if (isParent(v) && !Array.isArray(v)) yield* [true, {}].map((w) => build(entries.with(i, [k, w])));
		for (const w of simpler(v)) yield build(entries.with(i, [k, w]));
	}
}

/** `holds(pairs)` says for each of [schema, value] whether it still shows the finding. Gives up, with
 * what it has, after so many milliseconds. */
export function shrink(schema, value, holds, ms = 5000) {
	const end = performance.now() + ms;
	let now = [schema, value];
	for (let next = now; next !== undefined; now = next ?? now) {
		const pairs = [
			...[...simpler(now[0])].map((s) => [s, now[1]]),
			...[...simpler(now[1])].map((v) => [now[0], v]),
		].filter((pair) => JSON.stringify(pair) !== JSON.stringify(now));
		next = undefined;
		while (next === undefined && pairs.length && performance.now() < end) {
			const some = pairs.splice(0, 30);
			next = some[holds(some).indexOf(true)];
		}
	}
	return now;
}
