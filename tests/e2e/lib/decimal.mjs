// decimal.mjs - JSON's numbers as they are written, exactly: a whole number times a power of ten.
//
// JSON.parse rounds to doubles; JSON Schema speaks of the numbers themselves. Nothing here rounds.

export class Decimal {
	/** From a JSON number's text. */
	constructor(text) {
		const [, sign, whole, part = '', exponent = '0'] =
			/^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
		const digits = (whole + part).replace(/0+$/, '');
		this.digits = BigInt(sign + (digits || '0'));
		this.exponent = this.digits === 0n ? 0 :
			Number(exponent) - part.length + (whole + part).length - digits.length;
	}

	get isInteger() {
		return this.exponent >= 0;
	}

	equals(other) {
		return this.digits === other.digits && this.exponent === other.exponent;
	}

	/** Less than, equal to or greater than zero. */
	compare(other) {
		const [a, b] = align(this, other);
		return a < b ? -1 : a > b ? 1 : 0;
	}

	isMultipleOf(other) {
		const [a, b] = align(this, other);
		return a % b === 0n;
	}
}

function align(a, b) {
	const least = Math.min(a.exponent, b.exponent);
	return [a, b].map((d) => d.digits * 10n ** BigInt(d.exponent - least));
}

/** JSON.parse, with Decimals for numbers. */
export function parseExactly(text) {
	return JSON.parse(text, (_, value, { source }) =>
		typeof value === 'number' ? new Decimal(source) : value);
}

/** Does JSON.parse lose anything of the number? */
export function isRounded(source) {
	const value = Number(source);
	return !Number.isFinite(value) || !new Decimal(String(value)).equals(new Decimal(source));
}
