/* tests/unit/test_pattern.c - schema/pattern: ECMA-262's patterns mean what they mean there.
 *
 * The tables were compared with a JavaScript engine: `matching` and `references` with the u flag,
 * `annex_b` without it. The JSON-Schema-Test-Suite is read where it is there. Limits, memory and the
 * translation itself are in test_pattern_limits.c.
 */

#include "base/error.h"
#include "format/pattern.h"
#include "support.h"
#include "test.h"

#include <cleat/json.h>

#include <stdlib.h>
#include <string.h>

#define S(text)                                                                                    \
	{                                                                                          \
		"" text, sizeof(text) - 1                                                          \
	}

struct sample {
	struct str pattern, text;
	int want;
};

/* ECMA-262 (2024) 22.2.1 with UnicodeMode, by clause. */
static const struct sample matching[] = {
	/* 22.2.2.3 disjunction, alternative; unanchored */
	{ S(""), S(""), 1 },
	{ S(""), S("anything"), 1 },
	{ S("b"), S("abc"), 1 },
	{ S("x"), S("abc"), 0 },
	{ S("a|b"), S("xb"), 1 },
	{ S("^(?:a|ab)$"), S("ab"), 1 },
	{ S("^(|a)b$"), S("b"), 1 },
	{ S("^(a||b)c$"), S("c"), 1 },
	{ S("f.*o"), S("foooooo"), 1 },
	{ S("^a*$"), S("aaa"), 1 },
	{ S("^a*$"), S("abc"), 0 },
	/* 22.2.2.4 assertions: ^ and $ only at the very ends */
	{ S("^abc$"), S("abc"), 1 },
	{ S("^abc$"), S("abc\n"), 0 },
	{ S("^abc$"), S("\nabc"), 0 },
	{ S("^b"), S("a\nb"), 0 },
	{ S("a$"), S("a\nb"), 0 },
	{ S("a$b"), S("a\nb"), 0 },
	{ S("^^a$$"), S("a"), 1 },
	{ S("a^"), S("a"), 0 },
	{ S("\\bfoo\\b"), S("a foo b"), 1 },
	{ S("\\bfoo\\b"), S("afoo"), 0 },
	{ S("\\bfoo"), S("éfoo"), 1 }, /* é is not a word character */
	{ S("\\Bfoo"), S("éfoo"), 0 },
	{ S("\\Boo"), S("foo"), 1 },
	{ S("\\B"), S(""), 1 },
	{ S("\\b"), S(""), 0 },
	{ S("^(?=.*[A-Z])(?=.*\\d).{8,}$"), S("Passw0rdX"), 1 },
	{ S("^(?=.*[A-Z])(?=.*\\d).{8,}$"), S("passw0rdx"), 0 },
	{ S("foo(?!bar)"), S("foobar"), 0 },
	{ S("foo(?!bar)"), S("foobaz"), 1 },
	{ S("(?<=a)b"), S("ab"), 1 },
	{ S("(?<=a)b"), S("cb"), 0 },
	{ S("(?<!a)b"), S("ab"), 0 },
	{ S("(?<!a)b"), S("b"), 1 },
	{ S("(?<=a|bc)d"), S("bcd"), 1 },
	{ S("(?<=a|bc)d"), S("ccd"), 0 },
	{ S("(?<=é)b"), S("éb"), 1 },
	{ S("(?<=🐲)b"), S("🐲b"), 1 },
	{ S("(?<=^)a"), S("ba"), 0 },
	{ S("(?!)"), S("a"), 0 },
	{ S("(?=)"), S("a"), 1 },
	{ S("^(?:(?!ab).)*$"), S("xaxb"), 1 },
	{ S("^(?:(?!ab).)*$"), S("xabx"), 0 },
	/* what PCRE2 10.42 gets wrong when it is given these as they are */
	{ S("(?=a)b?a"), S("xay"), 1 },
	{ S("(?=a.{0,2})c??a{1,}"), S("ab"), 1 },
	{ S("(?=(?:c|d){0})"), S("ab"), 1 },
	{ S("(?:b|^){0}a"), S("ba"), 1 },
	{ S("^[]*a"), S("a"), 1 },
	{ S("^\\uD83D*a$"), S("a"), 1 },
	/* 22.2.2.5 quantifiers */
	{ S("^a{2}$"), S("aa"), 1 },
	{ S("^a{2}$"), S("aaa"), 0 },
	{ S("^a{2,}$"), S("aaaa"), 1 },
	{ S("^a{2,}$"), S("a"), 0 },
	{ S("^a{1,3}$"), S("aaa"), 1 },
	{ S("^a{1,3}$"), S("aaaa"), 0 },
	{ S("^a{0}$"), S(""), 1 },
	{ S("^a{0}b$"), S("b"), 1 },
	{ S("^a{0}b$"), S("ab"), 0 },
	{ S("^xa{0}?b$"), S("xb"), 1 },
	{ S("^a{00002}$"), S("aa"), 1 },
	{ S("^a??b$"), S("ab"), 1 },
	{ S("^a*?$"), S("aaa"), 1 },
	{ S("^a+?b+?$"), S("aabb"), 1 },
	{ S("^a{1,2}?$"), S("aa"), 1 },
	{ S("^(?:ab)+$"), S("ababab"), 1 },
	{ S("^(?:ab)+$"), S("aba"), 0 },
	{ S("^é{3}$"), S("ééé"), 1 },
	{ S("^🐲*$"), S("🐲🐲"), 1 },
	{ S("^🐲*$"), S("🐉"), 0 },
	{ S("^(a*)*$"), S("aab"), 0 },
	{ S("^(?:a?)*?b$"), S("aab"), 1 },
	{ S("^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$"), S("00:1a:2b:3c:4d:5e"), 1 },
	{ S("^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$"), S("00:1a:2b:3c:4d"), 0 },
	/* 22.2.2.7 atoms: . is not a line terminator (LF, CR, LS, PS) */
	{ S("^.$"), S("a"), 1 },
	{ S("^.$"), S("é"), 1 },
	{ S("^.$"), S("🐲"), 1 },
	{ S("^.$"), S("ab"), 0 },
	{ S("^.$"), S("\n"), 0 },
	{ S("^.$"), S("\r"), 0 },
	{ S("^.$"), S("\xE2\x80\xA8"), 0 },
	{ S("^.$"), S("\xE2\x80\xA9"), 0 },
	{ S("^.$"), S("\xC2\x85"), 1 }, /* NEL is none */
	{ S("^.$"), S("\v"), 1 },
	{ S("^.$"), S("\f"), 1 },
	{ S("^.$"), S("\0"), 1 },
	{ S("^a.b$"), S("a\nb"), 0 },
	{ S("a b#c"), S("a b#c"), 1 }, /* no extended syntax */
	{ S("-=!@%&_~,;:'\"<>"), S("-=!@%&_~,;:'\"<>"), 1 },
	{ S("/"), S("/"), 1 },
	{ S("a\0b"), S("a\0b"), 1 },
	{ S("a\0b"), S("a\0c"), 0 },
	{ S("Ω"), S("ω"), 0 },
	/* 22.2.1 CharacterEscape */
	{ S("^\\t\\n\\v\\f\\r$"), S("\t\n\v\f\r"), 1 },
	{ S("^\\t$"), S("\\t"), 0 },
	{ S("^\\cC$"), S("\x03"), 1 },
	{ S("^\\cc$"), S("\x03"), 1 },
	{ S("^\\cC$"), S("\\cC"), 0 },
	{ S("^\\cZ$"), S("\x1A"), 1 },
	{ S("^\\0$"), S("\0"), 1 },
	{ S("^\\0$"), S("0"), 0 },
	{ S("^a\\0b$"), S("a\0b"), 1 },
	{ S("^\\x41\\x7a$"), S("Az"), 1 },
	{ S("^\\xe9$"), S("é"), 1 },
	{ S("^\\u0041$"), S("A"), 1 },
	{ S("^\\u00E9$"), S("é"), 1 },
	{ S("^\\u{41}$"), S("A"), 1 },
	{ S("^\\u{000041}$"), S("A"), 1 },
	{ S("^\\u{1F432}$"), S("🐲"), 1 },
	{ S("^\\uD83D\\uDC32$"), S("🐲"), 1 },
	{ S("^\\ud83d\\udc32+$"), S("🐲🐲"), 1 },
	{ S("\\uD83D"), S("🐲"), 0 }, /* half of a character */
	{ S("\\uDC32"), S("🐲"), 0 },
	{ S("^\\uD83D?$"), S(""), 1 },
	{ S("^\\uDC32\\uD83D$"), S("🐲"), 0 },
	{ S("^\\u{D83D}\\u{DC32}$"), S("🐲"), 0 },
	{ S("^\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/$"), S("^$\\.*+?()[]{}|/"), 1 },
	/* CharacterClassEscape: \d and \w are ASCII, \s is WhiteSpace and LineTerminator */
	{ S("^\\d$"), S("0"), 1 },
	{ S("^\\d$"), S("߀"), 0 },
	{ S("^\\d+$"), S("৪২"), 0 },
	{ S("^\\D$"), S("߀"), 1 },
	{ S("^\\D$"), S("7"), 0 },
	{ S("^\\D$"), S("\n"), 1 },
	{ S("^\\w+$"), S("aZ_09"), 1 },
	{ S("^\\w$"), S("é"), 0 },
	{ S("^\\w$"), S("-"), 0 },
	{ S("^\\w$"), S("\xC5\xBF"), 0 }, /* long s folds to s, but nothing is folded */
	{ S("^\\W$"), S("é"), 1 },
	{ S("^\\W$"), S("_"), 0 },
	{ S("^\\W$"), S("🐲"), 1 },
	{ S("^\\s$"), S(" "), 1 },
	{ S("^\\s+$"), S("\t\n\v\f\r "), 1 },
	{ S("^\\s$"), S("\xC2\xA0"), 1 },
	{ S("^\\s$"), S("\xEF\xBB\xBF"), 1 },
	{ S("^\\s$"), S("\xE1\x9A\x80"), 1 },
	{ S("^\\s$"), S("\xE2\x80\x83"), 1 },
	{ S("^\\s$"), S("\xE2\x80\xA8"), 1 },
	{ S("^\\s$"), S("\xE2\x80\xA9"), 1 },
	{ S("^\\s$"), S("\xE2\x80\xAF"), 1 },
	{ S("^\\s$"), S("\xE3\x80\x80"), 1 },
	{ S("^\\s$"), S("\xE2\x80\x8B"), 0 }, /* zero width space is none */
	{ S("^\\s$"), S("\xC2\x85"), 0 },     /* nor is NEL */
	{ S("^\\s$"), S("\xE1\xA0\x8E"), 0 }, /* nor Mongolian vowel separator */
	{ S("^\\s$"), S("\x01"), 0 },
	{ S("^\\S$"), S("\x01"), 1 },
	{ S("^\\S$"), S("\xE2\x80\x93"), 1 },
	{ S("^\\S$"), S("\xEF\xBB\xBF"), 0 },
	{ S("^\\S$"), S("\xE2\x80\x83"), 0 },
	{ S("^\\S$"), S("\xC2\x85"), 1 },
	{ S("^\\S$"), S("🐲"), 1 },
	/* \p{...} */
	{ S("\\p{Letter}cole"), S("l'école"), 1 },
	{ S("\\p{Letter}cole"), S("L'ÉCOLE"), 0 },
	{ S("^\\p{L}$"), S("中"), 1 },
	{ S("^\\p{Lu}$"), S("É"), 1 },
	{ S("^\\p{Lu}$"), S("é"), 0 },
	{ S("^\\p{Uppercase_Letter}$"), S("É"), 1 },
	{ S("^\\p{digit}+$"), S("৪২"), 1 },
	{ S("^\\p{Nd}+$"), S("42"), 1 },
	{ S("^\\p{punct}$"), S("!"), 1 },
	{ S("^\\p{cntrl}$"), S("\x01"), 1 },
	{ S("^\\p{LC}$"), S("a"), 1 },
	{ S("^\\p{LC}$"), S("中"), 0 },
	{ S("^\\p{Cased_Letter}$"), S("Ω"), 1 },
	{ S("^\\p{Combining_Mark}$"), S("\xCC\x81"), 1 },
	{ S("^\\p{General_Category=Decimal_Number}$"), S("4"), 1 },
	{ S("^\\p{gc=Sc}$"), S("€"), 1 },
	{ S("^\\p{Currency_Symbol}$"), S("a"), 0 },
	{ S("^\\p{Script=Greek}+$"), S("αΩ"), 1 },
	{ S("^\\p{Script=Greek}$"), S("a"), 0 },
	{ S("^\\p{sc=Grek}$"), S("α"), 1 },
	{ S("^\\p{sc=Hiragana}$"), S("ー"), 0 },
	{ S("^\\p{scx=Hiragana}$"), S("ー"), 1 },
	{ S("^\\p{Script_Extensions=Han}$"), S("中"), 1 },
	{ S("^\\P{Script=Latin}$"), S("α"), 1 },
	{ S("^\\P{L}$"), S("1"), 1 },
	{ S("^\\P{L}$"), S("a"), 0 },
	{ S("^\\p{Alphabetic}$"), S("é"), 1 },
	{ S("^\\p{Alpha}$"), S("1"), 0 },
	{ S("^\\p{White_Space}$"), S("\xC2\x85"), 1 },
	{ S("^\\p{ASCII}+$"), S("az~"), 1 },
	{ S("^\\p{ASCII}$"), S("é"), 0 },
	{ S("^\\p{Any}$"), S("\n"), 1 },
	{ S("^\\p{Assigned}$"), S("a"), 1 },
	{ S("^\\P{Assigned}$"), S("a"), 0 },
	{ S("^\\p{Unassigned}$"), S("\xCD\xB8"), 1 },
	{ S("^\\p{Emoji_Presentation}$"), S("🐲"), 1 },
	{ S("^\\p{ID_Start}\\p{ID_Continue}*$"), S("été9"), 1 },
	{ S("^\\p{Surrogate}?$"), S(""), 1 },
	/* 22.2.2.8 classes */
	{ S("^[abc]$"), S("b"), 1 },
	{ S("^[^abc]$"), S("b"), 0 },
	{ S("^[^abc]$"), S("\n"), 1 },
	{ S("^[a-z0-9_]+$"), S("tool_1"), 1 },
	{ S("^[a-z0-9_]+$"), S("Tool"), 0 },
	{ S("[]"), S("a"), 0 },
	{ S("[]"), S("]"), 0 },
	{ S("a[]|b"), S("b"), 1 },
	{ S("^[^]$"), S("\n"), 1 },
	{ S("^[^]$"), S("🐲"), 1 },
	{ S("^[^]$"), S(""), 0 },
	{ S("^[a-]$"), S("-"), 1 },
	{ S("^[-a]$"), S("-"), 1 },
	{ S("^[a\\-z]$"), S("-"), 1 },
	{ S("^[a\\-z]$"), S("b"), 0 },
	{ S("^[--/]$"), S("."), 1 },
	{ S("^[.*+?$|(){}]+$"), S(".*+?$|(){}"), 1 },
	{ S("^[.]$"), S("a"), 0 },
	{ S("^[\\]]$"), S("]"), 1 },
	{ S("^[[]$"), S("["), 1 },
	{ S("^[a^]$"), S("^"), 1 },
	{ S("^[\\^a]$"), S("^"), 1 },
	{ S("^[\\\\]$"), S("\\"), 1 },
	{ S("^[[:alpha:]+$"), S("[:alph"), 1 }, /* no POSIX classes */
	{ S("^[[:alpha:]$"), S("z"), 0 },
	{ S("^[\\b]$"), S("\b"), 1 },
	{ S("^[\\b]$"), S("b"), 0 },
	{ S("^[\\d_]+$"), S("1_2"), 1 },
	{ S("^[\\D]$"), S("1"), 0 },
	{ S("^[\\D]$"), S("é"), 1 },
	{ S("^[\\W_]$"), S("_"), 1 },
	{ S("^[\\W]$"), S("a"), 0 },
	{ S("^[\\W]$"), S("`"), 1 },
	{ S("^[\\s,]+$"), S(" ,\xE3\x80\x80"), 1 },
	{ S("^[\\S]$"), S("\xC2\xA0"), 0 },
	{ S("^[\\S]$"), S("a"), 1 },
	{ S("^[\\s\\S]*$"), S("a\n🐲"), 1 },
	{ S("^[^\\s\\S]$"), S("a"), 0 },
	{ S("^[^\\S]$"), S(" "), 1 },
	{ S("^[^\\S ]$"), S(" "), 0 },
	{ S("^[^\\W]+$"), S("a_1"), 1 },
	{ S("^[\\p{L}\\p{N}]+$"), S("é٣"), 1 },
	{ S("^[^\\p{L}]$"), S("é"), 0 },
	{ S("^[\\P{L}]$"), S("1"), 1 },
	{ S("^[\\p{Assigned}]$"), S("a"), 1 },
	{ S("^[^\\P{Lu}]$"), S("É"), 1 },
	{ S("^[\\u{1F400}-\\u{1F4FF}]$"), S("🐲"), 1 },
	{ S("^[\\uD83D\\uDC00-\\uD83D\\uDCFF]$"), S("🐲"), 1 },
	{ S("^[🐀-🙏]$"), S("🐲"), 1 },
	{ S("^[🐲🐉]$"), S("🐉"), 1 },
	{ S("[\\uD800-\\uDFFF]"), S("🐲"), 0 },
	{ S("[\\uD83D]"), S("🐲"), 0 },
	{ S("^[^\\uD83D]$"), S("🐲"), 1 },
	{ S("^[\\uD7FE-\\uD801]$"), S("\xED\x9F\xBF"), 1 },
	{ S("^[\\uD800-\\uFFFF]$"), S("\xEF\xBF\xBF"), 1 },
	{ S("^[\\u0000-\\uFFFF]$"), S("🐲"), 0 },
	{ S("^[\\x00-\\x1f]$"), S("\t"), 1 },
	{ S("^[\\0-\\t]$"), S("\x05"), 1 },
	{ S("^[\\cA-\\cC]$"), S("\x02"), 1 },
	{ S("^[!-/]$"), S("-"), 1 },
	{ S("^[一-龥]+$"), S("中文"), 1 },
	/* what people write */
	{ S("^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$"), S("a.b@example.org"), 1 },
	{ S("^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$"), S("a b@example.org"), 0 },
	{ S("^\\d{4}-\\d{2}-\\d{2}$"), S("2026-07-28"), 1 },
	{ S("^\\d{4}-\\d{2}-\\d{2}$"), S("٢٠٢٦-07-28"), 0 },
	{ S("^https?:\\/\\/"), S("https://example.org"), 1 },
	{ S("^v\\d+(\\.\\d+){2}$"), S("v1.2.3"), 1 },
	{ S("^#(?:[0-9a-fA-F]{3}){1,2}$"), S("#a1B2c3"), 1 },
	{ S("^(?!-)[a-z0-9-]{1,63}(?<!-)$"), S("a-b"), 1 },
	{ S("^(?!-)[a-z0-9-]{1,63}(?<!-)$"), S("a-"), 0 },
};

/* 22.2.2.7 BackReference: what has not taken part matches the empty string. */
static const struct sample references[] = {
	{ S("^(a)\\1$"), S("aa"), 1 },
	{ S("^(a)\\1$"), S("a"), 0 },
	{ S("^(.)(.)\\2\\1$"), S("abba"), 1 },
	{ S("^(.)(.)\\2\\1$"), S("abab"), 0 },
	{ S("^(.)\\1$"), S("🐲🐲"), 1 },
	{ S("^([\"']).*?\\1$"), S("'it'"), 1 },
	{ S("^([\"']).*?\\1$"), S("'it\""), 0 },
	{ S("^(?:([\"'])x\\1,?)*$"), S("'x',\"x\""), 1 },
	{ S("^(?<q>a|b)\\k<q>$"), S("bb"), 1 },
	{ S("^(?<q>a|b)\\k<q>$"), S("ab"), 0 },
	{ S("^(?<é>a)\\k<é>$"), S("aa"), 1 },
	{ S("^(?<\\u0061b>x)\\k<ab>$"), S("xx"), 1 },
	{ S("^(?<$_>x)\\1$"), S("xx"), 1 },
	{ S("\\k<n>(?<n>a)"), S("a"), 1 }, /* forward */
	{ S("^\\1(a)$"), S("a"), 1 },
	{ S("^(?:\\2b|(a)(b))+$"), S("abb"), 1 },
	{ S("^(a\\1)$"), S("a"), 1 }, /* inside itself */
	{ S("^(?:(a\\1)b)+$"), S("abab"), 1 },
	{ S("^(?:(a\\1)b)+$"), S("abaab"), 0 },
	{ S("^(?:(a)|b)\\1$"), S("b"), 1 }, /* did not take part */
	{ S("^(?!(a))\\1b$"), S("b"), 1 },
	{ S("^(?=(a))\\1$"), S("a"), 1 },
	{ S("^(?:(a)){0}\\1b$"), S("b"), 1 },
	{ S("^(x)(y)(z)\\3$"), S("xyzz"), 1 },
	{ S("^(x)(?:y)(z)\\2$"), S("xyzz"), 1 },
	{ S("^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10$"), S("abcdefghijj"), 1 },
	{ S("^(a)\\1(?:0)$"), S("aa0"), 1 },
	{ S("^(a)\\1\\x30$"), S("aa0"), 1 },
	{ S("^(a*)\\1$"), S("aaaa"), 1 },
	{ S("^(a*)\\1$"), S("aaa"), 0 },
	{ S("^(a)(?:b\\1){2}$"), S("ababa"), 1 },
};

/* Wrong with the u flag, right without it (Annex B.1.2). */
static const struct sample annex_b[] = {
	{ S("^\\-$"), S("-"), 1 },
	{ S("^a\\-b\\_c\\@d\\:$"), S("a-b_c@d:"), 1 },
	{ S("^\\ \\#\\%\\&\\'\\\"\\<\\>\\~\\`\\!\\=\\,\\;$"), S(" #%&'\"<>~`!=,;"), 1 },
	{ S("^\\é$"), S("é"), 1 },
	{ S("^[\\w-.]+$"), S("a-b.c"), 1 },
	{ S("^[\\w-.]+$"), S("a/b"), 0 },
	{ S("^[a-\\d]+$"), S("a-1"), 1 },
	{ S("^[a-\\d]+$"), S("b"), 0 },
	{ S("^[\\s-\\d]+$"), S("1 -"), 1 },
	{ S("^[\\w-_]+$"), S("a-_"), 1 },
	{ S("^[\\_\\@\\.]+$"), S("_@."), 1 },
	{ S("^]$"), S("]"), 1 },
	{ S("^}$"), S("}"), 1 },
	{ S("^{$"), S("{"), 1 },
	{ S("^a]b}c{d$"), S("a]b}c{d"), 1 },
	{ S("^{[a-z]+}$"), S("{name}"), 1 },
	{ S("^a{,5}$"), S("a{,5}"), 1 },
	{ S("^a{,5}$"), S("aaa"), 0 },
	{ S("^a{1$"), S("a{1"), 1 },
	{ S("^x{{0}y$"), S("xy"), 1 },
	{ S("^[[:alpha:]]$"), S("a]"), 1 },
	{ S("^[[:alpha:]]$"), S("a"), 0 },
	{ S("^[]]$"), S("]"), 0 },
	{ S("^[^]]$"), S("a]"), 1 },
	{ S("^(?=a)*a$"), S("a"), 1 },
	{ S("^(?=b)*a$"), S("a"), 1 },
	{ S("^(?!b)?a$"), S("a"), 1 },
	{ S("^(?=b){0}a$"), S("a"), 1 },
	{ S("^(?=b){2}a$"), S("a"), 0 },
	{ S("^\\07$"), S("\x07"), 1 },
	{ S("^[\\000-\\037]$"), S("\x1F"), 1 },
	{ S("^[\\000-\\037]$"), S(" "), 0 },
	{ S("^\\377$"), S("ÿ"), 1 },
	{ S("^\\400$"), S(" 0"), 1 },
	{ S("^\\1$"), S("\x01"), 1 },
	{ S("^(a)\\2$"), S("a\x02"), 1 },
	{ S("^\\8$"), S("8"), 1 },
	{ S("^[\\1]$"), S("\x01"), 1 },
};

static void run_samples(const struct sample *table, size_t n, bool valid)
{
	for (size_t i = 0; i < n; i++) {
		struct regex *re;
		cleat_error e;
		int got;

		error_clear(&e);
		if (pattern_is_valid(table[i].pattern) != valid)
			fail_msg("%s: valid is %d", table[i].pattern.p, !valid);
		if (pattern_compile(NULL, table[i].pattern, &re, &e) != CLEAT_OK)
			fail_msg("%s: %s", table[i].pattern.p, e.message);
		got = regex_match(re, table[i].text, 0, NULL, NULL);
		if (got != table[i].want)
			fail_msg("%s with \"%s\": %d", table[i].pattern.p, table[i].text.p, got);
		regex_free(re);
	}
}

TEST(patterns_match_as_in_ecma_262)
{
	run_samples(matching, CLEAT_COUNT(matching), true);
}

TEST(back_references_match_as_in_ecma_262)
{
	run_samples(references, CLEAT_COUNT(references), true);
}

TEST(what_only_annex_b_allows_is_taken_but_not_valid)
{
	run_samples(annex_b, CLEAT_COUNT(annex_b), false);
}

/* ---- refused ------------------------------------------------------------------------------ */

static const struct {
	struct str pattern;
	const char *message;
} wrong[] = {
	/* other dialects */
	{ S("\\a"), "column 1: this escape means nothing in ECMA-262" },
	{ S("x\\Z"), "column 2: this escape means nothing in ECMA-262" },
	{ S("\\Aabc\\z"), "column 1: this escape means nothing in ECMA-262" },
	{ S("\\Qa\\E"), "column 1: this escape means nothing in ECMA-262" },
	{ S("\\h"), "column 1: this escape means nothing in ECMA-262" },
	{ S("\\e"), "column 1: this escape means nothing in ECMA-262" },
	{ S("[\\B]"), "column 2: this escape means nothing in ECMA-262" },
	{ S("[\\k]"), "column 2: this escape means nothing in ECMA-262" },
	{ S("\\X"), "column 1: this escape means nothing in ECMA-262" },
	{ S("(?i)abc"), "column 1: ECMA-262 has no such group" },
	{ S("(?ims)abc"), "column 1: ECMA-262 has no such group" },
	{ S("(?P<name>x)"), "column 1: ECMA-262 has no such group" },
	{ S("(?P=n)"), "column 1: ECMA-262 has no such group" },
	{ S("(?#comment)a"), "column 1: ECMA-262 has no such group" },
	{ S("(?>a)"), "column 1: ECMA-262 has no such group" },
	{ S("(?|a)"), "column 1: ECMA-262 has no such group" },
	{ S("(?R)"), "column 1: ECMA-262 has no such group" },
	{ S("(?'n'a)"), "column 1: ECMA-262 has no such group" },
	{ S("(?"), "column 1: ECMA-262 has no such group" },
	{ S("(*UTF)a"), "column 2: nothing that could be repeated" },
	{ S("a++"), "column 3: nothing that could be repeated" },
	{ S("a*+"), "column 3: nothing that could be repeated" },
	{ S("a{2}+"), "column 5: nothing that could be repeated" },
	{ S("\\pL"), "column 1: \\p without {property}" },
	{ S("\\p"), "column 1: \\p without {property}" },
	{ S("\\p{L"), "column 1: \\p without {property}" },
	/* repeats */
	{ S("*a"), "column 1: nothing that could be repeated" },
	{ S("a|*"), "column 3: nothing that could be repeated" },
	{ S("(+)"), "column 2: nothing that could be repeated" },
	{ S("^*"), "column 2: nothing that could be repeated" },
	{ S("$?"), "column 2: nothing that could be repeated" },
	{ S("\\b+"), "column 3: nothing that could be repeated" },
	{ S("é??+"), "column 4: nothing that could be repeated" },
	{ S("{1}"), "column 1: nothing that could be repeated" },
	{ S("a{1}{2}"), "column 5: nothing that could be repeated" },
	{ S("(?<=a)*"), "column 7: nothing that could be repeated" },
	{ S("a{2,1}"), "column 2: the numbers of the repeat are out of order" },
	{ S("a{99999,70000}"), "column 2: the numbers of the repeat are out of order" },
	/* groups */
	{ S("(a"), "column 3: a group does not end" },
	{ S("a)"), "column 2: no group is open" },
	{ S("^(abc]"), "column 7: a group does not end" },
	{ S("(?<>a)"), "column 4: the name of the group is empty" },
	{ S("(?<1a>a)"), "column 4: not a character of a group's name" },
	{ S("(?<a-b>a)"), "column 5: not a character of a group's name" },
	{ S("(?<a\\x41>a)"), "column 5: not a character of a group's name" },
	{ S("(?<\\uD83D>a)"), "column 4: not a character of a group's name" },
	{ S("(?<ab"), "column 6: the name of the group does not end" },
	{ S("(?<a>x)(?<a>y)"), "column 8: another group has this name" },
	{ S("(?<a>x)|(?<a>y)"), "column 9: another group has this name" },
	{ S("(?<a>x)|(?<\\u{61}>y)"), "column 9: another group has this name" },
	{ S("\\k<n>"), "column 1: no group has this name" },
	{ S("(?<n>a)\\k<m>"), "column 8: no group has this name" },
	{ S("\\k"), "column 1: \\k without <name>" },
	{ S("(?<n>a)\\kn"), "column 8: \\k without <name>" },
	/* classes */
	{ S("[a"), "column 2: the class does not end" },
	{ S("[^a\\]"), "column 3: the class does not end" },
	{ S("[z-a]"), "column 2: the range is out of order" },
	{ S("[\\u{62}-a]"), "column 2: the range is out of order" },
	/* escapes */
	{ S("a\\"), "column 2: there is nothing after the last backslash" },
	{ S("[a\\"), "column 3: there is nothing after the last backslash" },
	{ S("\\x4"), "column 1: incomplete escape" },
	{ S("\\xg0"), "column 1: incomplete escape" },
	{ S("\\u123"), "column 1: incomplete escape" },
	{ S("\\u{}"), "column 1: incomplete escape" },
	{ S("\\u{110000}"), "column 1: incomplete escape" },
	{ S("\\u{41"), "column 1: incomplete escape" },
	{ S("\\c1"), "column 1: incomplete escape" },
	{ S("\\c"), "column 1: incomplete escape" },
	{ S("\\p{Foo}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{letter}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{Greek}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{Script=greek}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{Script=}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{gc=Greek}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{Block=Greek}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{L&}"), "column 1: ECMA-262 has no such property" },
	{ S("\\p{^L}"), "column 1: ECMA-262 has no such property" },
	{ S("[\\p{Xan}]"), "column 2: ECMA-262 has no such property" },
	{ S("ab\xFF"), "column 3: not UTF-8" },
	{ S("\xED\xA0\xBD"), "column 1: not UTF-8" },
};

TEST(what_is_wrong_is_refused_with_its_place)
{
	for (size_t i = 0; i < CLEAT_COUNT(wrong); i++) {
		struct regex *re;
		cleat_error e;

		if (pattern_compile(NULL, wrong[i].pattern, &re, &e) != CLEAT_EINVAL)
			fail_msg("%s was not refused", wrong[i].pattern.p);
		assert_string_equal(e.message, wrong[i].message);
		assert_int_equal(e.status, CLEAT_EINVAL);
		assert_null(re);
		assert_int_equal(pattern_compile(NULL, wrong[i].pattern, &re, NULL), CLEAT_EINVAL);
		assert_false(pattern_is_valid(wrong[i].pattern));
	}
}

/* Correct, so valid, but beyond PCRE2. */
TEST(what_cannot_be_had_is_valid_and_unsupported)
{
	static const struct {
		struct str pattern;
		const char *message;
	} table[] = {
		{ S("x\\p{Changes_When_NFKC_Casefolded}"),
		  "column 2: PCRE2 has no property Changes_When_NFKC_Casefolded" },
		{ S("[\\P{CWKCF}]"), "column 2: PCRE2 has no property CWKCF" },
		{ S("(a)(?<=\\1)"), "column 8: PCRE2 has no back reference in a lookbehind" },
		{ S("(?<n>a)(?<!(\\k<n>))"),
		  "column 13: PCRE2 has no back reference in a lookbehind" },
		{ S("(?<=a+)b"), NULL }, /* PCRE2's words */
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct regex *re;
		cleat_error e;

		assert_true(pattern_is_valid(table[i].pattern));
		assert_int_equal(pattern_compile(NULL, table[i].pattern, &re, &e),
				 CLEAT_EUNSUPPORTED);
		assert_null(re);
		if (table[i].message)
			assert_string_equal(e.message, table[i].message);
		else
			assert_non_null(strstr(e.message, "PCRE2 cannot do this: "));
	}
	/* A mistake is found after it nevertheless. */
	assert_false(pattern_is_valid(STR_LIT("\\p{CWKCF}(")));
	assert_false(pattern_is_valid(STR_LIT("a{65536}(")));
}

/* PCRE2 has it from 10.43 on; until then it must say so and not guess. */
TEST(lookbehind_of_two_lengths_is_right_or_unsupported)
{
	struct regex *re;
	int rc = pattern_compile(NULL, STR_LIT("^a+(?<=xa{1,2}|a{3})b"), &re, NULL);

	if (rc == CLEAT_OK) {
		assert_int_equal(regex_match(re, STR_LIT("aaab"), 0, NULL, NULL), 1);
		assert_int_equal(regex_match(re, STR_LIT("aab"), 0, NULL, NULL), 0);
	} else {
		assert_int_equal(rc, CLEAT_EUNSUPPORTED);
	}
	regex_free(re);
}

/* ---- JSON-Schema-Test-Suite --------------------------------------------------------------- */

static cleat_doc *suite(const char *draft, const char *file)
{
	char name[200], path[500];
	size_t n = 0;
	cleat_doc *doc;
	char *text;

	snprintf(name, sizeof name, "JSON-Schema-Test-Suite/tests/%s/%s.json", draft, file);
	if (!support_data_path(path, sizeof path, name))
		return NULL;
	text = support_read_file(path, &n);
	assert_non_null(text);
	doc = cleat_doc_parse(text, n, NULL, NULL, NULL);
	assert_non_null(doc);
	free(text);
	return doc;
}

static struct str string(const cleat_json *v)
{
	struct str s;

	s.p = cleat_json_strn(v, &s.n);
	return s;
}

/* Returns how many tests there were. */
static int check_group(const cleat_json *group)
{
	const cleat_json *schema = cleat_json_get(group, "schema");
	const cleat_json *tests = cleat_json_get(group, "tests");
	struct str pattern = string(cleat_json_get(schema, "pattern"));
	const char *format = cleat_json_str(cleat_json_get(schema, "format"), "");
	struct regex *re = NULL;
	int n = 0;

	if (pattern.p)
		assert_int_equal(pattern_compile(NULL, pattern, &re, NULL), CLEAT_OK);
	for (size_t i = 0; i < cleat_json_size(tests); i++) {
		const cleat_json *test = cleat_json_at(tests, i);
		struct str data = string(cleat_json_get(test, "data"));
		bool want = cleat_json_bool(cleat_json_get(test, "valid"), false);
		bool got = re ? regex_match(re, data, 0, NULL, NULL) == 1 : pattern_is_valid(data);

		if (!data.p || (!re && strcmp(format, "regex") != 0))
			continue;
		n++;
		if (got != want)
			fail_msg("%s: %s", pattern.p ? pattern.p : "format",
				 cleat_json_str(cleat_json_get(test, "description"), ""));
	}
	regex_free(re);
	return n;
}

TEST(suite_of_json_schema)
{
	static const char *const drafts[] = { "draft2020-12", "draft7" };
	static const char *const files[] = { "pattern", "optional/ecmascript-regex",
					     "optional/non-bmp-regex", "optional/format/regex",
					     "optional/format/ecmascript-regex" };
	int n = 0;

	for (size_t d = 0; d < CLEAT_COUNT(drafts); d++)
		for (size_t f = 0; f < CLEAT_COUNT(files); f++) {
			cleat_doc *doc = suite(drafts[d], files[f]);
			const cleat_json *groups = doc ? cleat_doc_root(doc) : NULL;

			for (size_t i = 0; i < cleat_json_size(groups); i++)
				n += check_group(cleat_json_at(groups, i));
			cleat_doc_free(doc);
		}
	if (n == 0)
		skip();
	assert_true(n > 100);
}
