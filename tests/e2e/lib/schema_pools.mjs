// schema_pools.mjs - the small worlds that random schemas and values are drawn from.
//
// Small, so that a value often has the member that the schema speaks of; nasty, because that is where
// validators differ: characters beyond the BMP, decimals that no double can hold, -0, empty names.

/** A seeded source of choices. */
export class Random {
	constructor(seed) {
		this.state = seed >>> 0;
	}

	/** A number in [0, 1): mulberry32. */
	next() {
		this.state = (this.state + 0x6d2b79f5) >>> 0;
		let t = this.state;
		t = Math.imul(t ^ (t >>> 15), t | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	}

	below(n) {
		return Math.floor(this.next() * n);
	}

	between(least, most) {
		return least + this.below(most - least + 1);
	}

	chance(p) {
		return this.next() < p;
	}

	pick(list) {
		return list[this.below(list.length)];
	}

	/** Some different elements, at least `least`, at most `most`. */
	some(list, least, most) {
		const left = [...list];
		const n = Math.min(this.between(least, most), left.length);
		return Array.from({ length: n }, () => left.splice(this.below(left.length), 1)[0]);
	}
}

/** A number that is written as it stands here, because JavaScript cannot hold it. */
export class Verbatim {
	constructor(text) {
		this.text = text;
	}

	/** What JSON.stringify() makes of it: what JavaScript would read. */
	toJSON() {
		return Number(this.text);
	}
}

export const names = ['a', 'b', 'c', 'foo', 'bar', 'x-1', 'baz2', '', 'ä', 'a/b~c', '𝒳', 'A b'];

export const manyNames = Array.from({ length: 64 }, (_, i) => `k${i * i}`);
export const manyNumbers = Array.from({ length: 64 }, (_, i) => (i * i - 99) / 4);

export const strings = [
	'', 'a', 'ab', 'abc', 'foo', 'bar', 'foobar', '1', '12', '123', 'a1', 'A-1', 'x-1', 'é', 'e\u0301',
	'😀', '😀😎', '𝒳𝒴𝒵', 'ÄÖ', 'hello world', 'a\nb', 'aa', 'bb', 'a.b', 'you@example.com', 'A', 'Z9',
	'\u2028', ' ', 'null', '\\', '"', '/', 'longer than the others, by far', 'a\u0000b', 'ß', 'İ',
];

export const numbers = [
	0, 1, -1, 2, 3, 4, 5, 7, 10, 12, 100, 1000, -3, -10, -0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.1, 1.5, 2.5,
	-0.5, 3.14, 19.99, 0.01, 0.07, 1.005, 1e-7, 1e10, 123456789, 9007199254740991, 1e21, 1.5e300,
];
export const verbatim = [
	'9007199254740993', '9007199254740992', '-9007199254740993', '12345678901234567890123',
	'0.1000000000000000055511151231',
	'1e400', '-1E+400', '100000000000000000000000000000000000000000.5', '1e-400',
].map((text) => new Verbatim(text));

export const divisors = [1, 2, 3, 5, 10, 0.1, 0.01, 0.5, 0.3, 0.07, 1.5, 2.5, 0.0001, 1e-7, 4, 100];

// ECMA-262, each with texts that it finds itself in.
export const patterns = [
	['^a', ['a', 'abc']],
	['b$', ['b', 'ab', 'bb']],
	['^[a-z]+$', ['foo', 'abc']],
	['^\\d{1,3}$', ['1', '12', '123']],
	['^\\p{L}+$', ['é', 'ÄÖ', '𝒳𝒴𝒵', 'abc']],
	['\\p{Lu}', ['A', 'Z9', 'ÄÖ', 'İ']],
	['^.$', ['a', '😀', 'é', ' ']],
	['^.{2,4}$', ['ab', '😀😎', 'foo']],
	['[^a-z]', ['1', '😀', 'A-1']],
	['foo|bar', ['foo', 'foobar']],
	['^(?!foo)', ['bar', 'a', '']],
	['(?<=a)b', ['ab', 'abc']],
	['(?<!a)b', ['bar', 'bb']],
	['(\\w)\\1', ['aa', 'bb', 'foo']],
	['(?<twice>b|o)\\k<twice>', ['bb', 'foo']],
	['\\bfoo\\b', ['foo']],
	['^\\S+$', ['abc', '😀', 'a.b']],
	['\\s', ['hello world', 'a\nb', ' ', '\u2028']],
	['^[\\w.\\-]+$', ['a.b', 'A-1', 'x-1']],
	['^\\u{1F600}', ['😀', '😀😎']],
	['[😀-😎]', ['😀😎']],
	['^$', ['']],
	['\\u0041', ['A', 'A-1']],
	['a{2,}|^b{1,2}$', ['aa', 'b', 'bb']],
	['^[^\\s@]+@[^\\s@.]+\\.[a-z]{2,}$', ['you@example.com']],
	['\\.', ['a.b']],
	['\\cJ|\\x41', ['a\nb', 'A']],
	['^(?:[A-Z][0-9]?-?)+$', ['A', 'Z9', 'A-']],
	['[^]', ['a', 'a\nb']],
	['^[\\p{Script=Greek}\\P{L}]*$', ['123', '', '😀']],
];
export const namePatterns = ['^a', '^[a-c]$', 'o', '^x-', '\\d', '^\\p{L}+$', '^.$', 'z', '^$', '[/ ]'];

// RFC 3986, 4.2: without a scheme, the first segment has no colon.
const isMistakenForScheme = (text) => /^(?![A-Za-z][A-Za-z0-9+.-]*:)[^/?#]*:/.test(text);

function isRegExp(text) {
	try {
		return Boolean(new RegExp(text, 'u'));
	} catch {
		return false;
	}
}

// What RFC 3339 (its letters have no case), 5321, 1123, 4291, 3986, 6570 (with erratum 6937), 4122, 6901
// and ECMA-262 accept, and what they do not. `refuses` says so of other texts.
export const formats = {
	date: {
		good: ['2024-02-29', '1999-12-31', '2000-02-29', '0001-01-01'],
		bad: ['2023-02-29', '2024-13-01', '2024-1-1', '2024-00-10', '24-01-01', '2024-04-31', '1900-02-29'],
	},
	time: {
		good: ['10:00:00Z', '23:59:60Z', '10:00:00.123+01:00', '00:00:00z', '10:00:00-23:59', '22:59:60-01:00'],
		bad: ['10:00Z', '24:00:00Z', '10:60:00Z', '10:00:00', '10:00:00+24:00', '22:59:60Z', '10:00:00+0100'],
	},
	'date-time': {
		good: [
			'2024-02-29T10:00:00Z', '1985-04-12t23:20:50.52z', '1990-12-31T23:59:60Z',
			'2024-01-01T00:00:00+05:30',
		],
		bad: [
			'2024-02-30T10:00:00Z', '2024-02-29', '2024-02-29T10:00:00', '2024-02-29T25:00:00Z',
			'2024-02-29X10:00:00Z',
		],
	},
	duration: {
		good: ['P1D', 'PT1H', 'P1Y2M3DT4H5M6S', 'P4W', 'PT0S', 'P1M', 'p1d'],
		bad: ['P', 'PT', '1D', 'P1', 'P1S', 'P1Y1W', 'P1DT', 'P-1D'],
	},
	email: {
		good: ['you@example.com', 'a.b+c@d.example', "o'hara@example.org", '~x@y.example'],
		bad: [
			'you', 'you@', '@example.com', 'a..b@example.com', '.a@example.com', 'a.@example.com',
			'a b@example.com',
		],
	},
	hostname: {
		good: ['example.com', 'localhost', 'a-b.c1', 'xn--4gbwdl.xn--wgbh1c', '1host'],
		bad: [
			'-a.example', 'a-.example', 'a_b.example', 'a..b', 'é.example', 'a b',
			`${'a'.repeat(64)}.example`,
		],
	},
	ipv4: {
		good: ['127.0.0.1', '255.255.255.255', '0.0.0.0'],
		bad: ['256.0.0.1', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.a', '1.2.3.4 '],
	},
	ipv6: {
		good: ['::1', '::', '2001:db8::1', '::ffff:192.0.2.1', '1:2:3:4:5:6:7:8', 'FE80::a'],
		bad: ['1:2:3', ':::', '1::2::3', '12345::', '::1%eth0', '1:2:3:4:5:6:7:8:9', '::256.1.1.1', 'g::'],
	},
	uri: {
		good: [
			'https://example.com/a?b#c', 'urn:isbn:0451450523', 'mailto:a@example.com', 'http://[::1]:80/', 'a:b',
		],
		bad: [
			'/relative', 'no scheme', 'http://a b', '://x', 'http://exa mple.com', 'http://a/%zz', 'a',
			'http://a/<b>',
		],
	},
	'uri-reference': {
		good: ['https://example.com', '/a/b', '../x', '', '#f', '?q=1', 'a/b:c'],
		bad: ['a b', '\\\\x', '#a#b', '%', '/a"b', 'http://[::1', '{x}', '"'],
		refuses: isMistakenForScheme,
	},
	'uri-template': {
		good: ['/users/{id}', 'http://a/{x,y*}{?q:3}', '', 'plain', '{+path}{#f}', "o'hara@example.org"],
		bad: ['{', '}', '/a/{b', '{a b}', '{x}}'],
	},
	uuid: {
		good: [
			'2eb8aa08-aa98-11ea-b4aa-73b441d16380', '2EB8AA08-AA98-11EA-B4AA-73B441D16380',
			'00000000-0000-0000-0000-000000000000',
		],
		bad: [
			'2eb8aa08aa9811eab4aa73b441d16380', '2eb8aa08-aa98-11ea-b4aa-73b441d1638',
			'zeb8aa08-aa98-11ea-b4aa-73b441d16380',
		],
	},
	regex: {
		good: ['^a$', '\\p{L}', '(?<n>a)\\k<n>', '', '[^]'],
		bad: ['(', '[', 'a{2,1}', '*a', '\\p{Nope}', '(?<n>a)(?<n>b)', '\\Z'],
		refuses: (text) => !isRegExp(text),
	},
	'json-pointer': {
		good: ['', '/a/0', '/a~1b~0c', '/', '/ä'],
		bad: ['a', '/a~', '/~2', '#/a'],
	},
	'relative-json-pointer': {
		good: ['0', '1/a', '2#', '10/b/0'],
		bad: ['/a', '-1/a', '01/a', '1a', ''],
	},
	'no-such-format': { good: ['', 'anything'], bad: [] },
};
