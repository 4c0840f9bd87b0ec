/* base/regex.c - see regex.h. PCRE2's functions are called through a table that the dynamic loader
 * fills on first use (base/lazy.h) or, with CLEAT_LINK_PCRE2, the linker.
 *
 * PCRE2's own match limit counts backtracking for each start position anew and not the length of a
 * scan, so `[ab]*[cd]` may take n * n / 2 steps of n characters without reaching it. Therefore the
 * pattern is compiled with a callout before every item (some 5 ns each), and the callout spends a
 * budget: a fee for the item and one for every byte moved since the last. Fees are about nanoseconds
 * and estimates from above. PCRE2's limits stay behind as a second fence.
 *
 * Deliberately without JIT: it wants memory that is writable and executable, which hardened systems
 * refuse, it knows neither heap limit nor, in the same way, the match limit, and compiling costs more
 * than the handful of short matches that a schema asks for.
 *
 * Invariant: a match ends after about 10 ms and 0.1 us for each byte of text, whatever the pattern.
 */
#include "base/regex.h"

#include "base/error.h"
#include "base/lazy.h"
#include "base/mem.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The functions in use, named as in the library. */
struct calls {
	pcre2_general_context_8 *(*pcre2_general_context_create_8)(void *(*)(size_t, void *),
								   void (*)(void *, void *),
								   void *);
	void (*pcre2_general_context_free_8)(pcre2_general_context_8 *);
	pcre2_compile_context_8 *(*pcre2_compile_context_create_8)(pcre2_general_context_8 *);
	void (*pcre2_compile_context_free_8)(pcre2_compile_context_8 *);
	int (*pcre2_set_newline_8)(pcre2_compile_context_8 *, uint32_t);
	int (*pcre2_set_parens_nest_limit_8)(pcre2_compile_context_8 *, uint32_t);
	pcre2_code_8 *(*pcre2_compile_8)(PCRE2_SPTR8, size_t, uint32_t, int *, size_t *,
					 pcre2_compile_context_8 *);
	void (*pcre2_code_free_8)(pcre2_code_8 *);
	int (*pcre2_pattern_info_8)(const pcre2_code_8 *, uint32_t, void *);
	int (*pcre2_get_error_message_8)(int, PCRE2_UCHAR8 *, size_t);
	pcre2_match_context_8 *(*pcre2_match_context_create_8)(pcre2_general_context_8 *);
	void (*pcre2_match_context_free_8)(pcre2_match_context_8 *);
	int (*pcre2_set_callout_8)(pcre2_match_context_8 *,
				   int (*)(pcre2_callout_block_8 *, void *), void *);
	int (*pcre2_set_match_limit_8)(pcre2_match_context_8 *, uint32_t);
	int (*pcre2_set_heap_limit_8)(pcre2_match_context_8 *, uint32_t);
	pcre2_match_data_8 *(*pcre2_match_data_create_8)(uint32_t, pcre2_general_context_8 *);
	void (*pcre2_match_data_free_8)(pcre2_match_data_8 *);
	size_t *(*pcre2_get_ovector_pointer_8)(pcre2_match_data_8 *);
	int (*pcre2_match_8)(const pcre2_code_8 *, PCRE2_SPTR8, size_t, size_t, uint32_t,
			     pcre2_match_data_8 *, pcre2_match_context_8 *);
};

#define CALLS(X)                                                                                   \
	X(pcre2_general_context_create_8)                                                          \
	X(pcre2_general_context_free_8)                                                            \
	X(pcre2_compile_context_create_8)                                                          \
	X(pcre2_compile_context_free_8)                                                            \
	X(pcre2_set_newline_8)                                                                     \
	X(pcre2_set_parens_nest_limit_8)                                                           \
	X(pcre2_compile_8)                                                                         \
	X(pcre2_code_free_8)                                                                       \
	X(pcre2_pattern_info_8)                                                                    \
	X(pcre2_get_error_message_8)                                                               \
	X(pcre2_match_context_create_8)                                                            \
	X(pcre2_match_context_free_8)                                                              \
	X(pcre2_set_callout_8)                                                                     \
	X(pcre2_set_match_limit_8)                                                                 \
	X(pcre2_set_heap_limit_8)                                                                  \
	X(pcre2_match_data_create_8)                                                               \
	X(pcre2_match_data_free_8)                                                                 \
	X(pcre2_get_ovector_pointer_8)                                                             \
	X(pcre2_match_8)

#ifdef CLEAT_LINK_PCRE2
LAZY_LINKED(CALLS)
#else
LAZY_LOADED(CALLS, "libpcre2-8.so.0", "libpcre2-8-0")
#endif

enum {
	MAX_NESTING = 200,
	BUDGET = 10000000, /* about 10 ms, */
	BUDGET_BYTE = 96,  /* and this for each byte of the text */
	FEE = 10,          /* for an item of the pattern, at least */
	HEAP_FIRST = 4,    /* KiB of backtracking memory that most matches do with, */
	HEAP = 1024,       /* KiB that any may have, and as many */
	HEAP_BYTE = 512,   /* bytes for each byte of the text, */
	HEAP_MOST = 48 * 1024,
	KEEP = 32 * 1024 /* bytes that stay with an idle regex */
};

/* What one match at a time needs; a regex keeps one for the next match. */
struct slot {
	const struct regex *re;
	pcre2_match_context_8 *context;
	pcre2_match_data_8 *data;
	size_t largest; /* block that the data asked for */
	size_t last;    /* position at the last callout */
	uint64_t left;  /* of the budget */
	bool refused;   /* memory that the budget has not */
};

struct regex {
	cleat_allocator mem;
	struct calls calls; /* a copy: neither matching nor freeing can then fail for want of it */
	pcre2_code_8 *code;
	uint32_t fee;      /* for an item */
	uint32_t byte_fee; /* for a byte, in quarters */
	bool backrefs;
	size_t size; /* of the code */
	struct slot *_Atomic idle;
};

/* ---- memory ------------------------------------------------------------------------------- */

static void *code_alloc(size_t n, void *data)
{
	struct regex *re = data;

	return mem_alloc(&re->mem, n);
}

static void code_free(void *p, void *data)
{
	struct regex *re = data;

	mem_free(&re->mem, p);
}

/* Backtracking memory is paid for as well: fresh pages cost time. */
static void *slot_alloc(size_t n, void *data)
{
	struct slot *s = data;

	s->refused = n / 4 > s->left;
	if (s->refused)
		return NULL;
	s->left -= n / 4;
	if (n > s->largest)
		s->largest = n;
	return mem_alloc(&s->re->mem, n);
}

static void slot_release(void *p, void *data)
{
	struct slot *s = data;

	mem_free(&s->re->mem, p);
}

/* ---- compiling ---------------------------------------------------------------------------- */

/* Estimates what an item may cost between two callouts: a fixed repeat that fails at its end, a step
 * back to where a lookbehind starts, a class that is a list to be searched (only characters beyond
 * Latin-1 and properties are), and the captures that are copied for every backtracking point. */
static void weigh(struct regex *re, struct str p)
{
	uint32_t repeat = 0, wide = 0, behind = 0, backref = 0;
	size_t frame = 0;

	for (size_t i = 0; i < p.n; i++) {
		if ((unsigned char)p.p[i] >= 0xC0) {
			wide++;
		} else if (p.p[i] == '\\' && i + 1 < p.n) {
			wide += strchr("xpPouN", p.p[++i]) != NULL;
			if (i + 1 < p.n && p.p[i + 1] == '{' && strchr("xpPouNgk", p.p[i]))
				i++; /* not a repeat */
		} else if (p.p[i] == '{') {
			uint32_t n = 0;

			while (i + 1 < p.n && p.p[i + 1] >= '0' && p.p[i + 1] <= '9' && n < 65536)
				n = n * 10 + (uint32_t)(p.p[++i] - '0');
			repeat = n > repeat ? n : repeat;
		}
	}
	re->calls.pcre2_pattern_info_8(re->code, PCRE2_INFO_MAXLOOKBEHIND, &behind);
	re->calls.pcre2_pattern_info_8(re->code, PCRE2_INFO_BACKREFMAX, &backref);
	re->calls.pcre2_pattern_info_8(re->code, PCRE2_INFO_FRAMESIZE, &frame);
	re->fee = FEE + repeat + behind + wide / 2 + (uint32_t)(frame / 16);
	re->byte_fee = 4 + wide;
	re->backrefs = backref > 0;
	re->calls.pcre2_pattern_info_8(re->code, PCRE2_INFO_SIZE, &re->size);
}

static int compile_status(int code)
{
	switch (code) {
	case PCRE2_ERROR_HEAP_FAILED: return CLEAT_ENOMEM;
	case PCRE2_ERROR_QUANTIFIER_TOO_BIG:
	case PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP:
	case PCRE2_ERROR_PATTERN_TOO_LARGE:
	case PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED:
	case PCRE2_ERROR_PATTERN_TOO_COMPLICATED:
	case PCRE2_ERROR_LOOKBEHIND_TOO_LONG: return CLEAT_ELIMIT;
	default: return CLEAT_EINVAL;
	}
}

static uint32_t compile_options(unsigned flags)
{
	uint32_t options =
		PCRE2_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;

	if (flags & REGEX_CASELESS)
		options |= PCRE2_CASELESS;
	if (flags & REGEX_MULTILINE)
		options |= PCRE2_MULTILINE;
	if (flags & REGEX_ECMA)
		options |=
			PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF;
	return options;
}

static int base_regex_compile(struct regex *re, struct str pattern, unsigned flags,
			      cleat_error *err)
{
	const struct calls *c = &re->calls;
	pcre2_general_context_8 *memory =
		c->pcre2_general_context_create_8(code_alloc, code_free, re);
	pcre2_compile_context_8 *context =
		memory ? c->pcre2_compile_context_create_8(memory) : NULL;
	int code = PCRE2_ERROR_HEAP_FAILED, rc = CLEAT_OK;
	size_t at = 0;

	if (context) {
		c->pcre2_set_newline_8(context, PCRE2_NEWLINE_LF);
		c->pcre2_set_parens_nest_limit_8(context, MAX_NESTING);
		re->code = c->pcre2_compile_8((PCRE2_SPTR8)(pattern.p ? pattern.p : ""), pattern.n,
					      compile_options(flags), &code, &at, context);
	}
	if (!re->code) {
		char words[160] = "";

		c->pcre2_get_error_message_8(code, (PCRE2_UCHAR8 *)words, sizeof words);
		rc = error_set(err, compile_status(code), "offset %zu: %s", at, words);
	}
	c->pcre2_compile_context_free_8(context);
	c->pcre2_general_context_free_8(memory);
	return rc;
}

int regex_compile(const cleat_allocator *mem, struct str pattern, unsigned flags,
		  struct regex **ret, cleat_error *err)
{
	const cleat_allocator a = mem_resolve(mem);
	struct calls own;
	const struct calls *c = calls_get(&own, err);
	struct regex *re;
	int rc;

	*ret = NULL;
	if (!c)
		return CLEAT_EUNSUPPORTED;
	if (pattern.n > REGEX_MAX_PATTERN)
		return error_set(err, CLEAT_ELIMIT, "longer than %d bytes", REGEX_MAX_PATTERN);
	re = mem_zalloc(&a, sizeof *re);
	if (!re)
		return error_set(err, CLEAT_ENOMEM, "no memory for a regular expression");
	re->mem = a;
	re->calls = *c;
	rc = base_regex_compile(re, pattern, flags, err);
	if (rc) {
		regex_free(re);
		return rc;
	}
	weigh(re, pattern);
	*ret = re;
	return CLEAT_OK;
}

/* ---- matching ----------------------------------------------------------------------------- */

/* A back reference may compare this much in vain. */
static uint64_t capture_fee(const pcre2_callout_block_8 *at)
{
	size_t longest = 0;

	for (uint32_t i = 1; i < at->capture_top; i++) {
		size_t start = at->offset_vector[2 * i], end = at->offset_vector[2 * i + 1];

		if (start != PCRE2_UNSET && end > start && end - start > longest)
			longest = end - start;
	}
	return longest / 16 + at->capture_top;
}

static int spend(pcre2_callout_block_8 *at, void *data)
{
	struct slot *s = data;
	uint64_t cost = s->re->fee;

	if (at->current_position > s->last)
		cost += (uint64_t)(at->current_position - s->last) * s->re->byte_fee / 4;
	s->last = at->current_position;
	if (s->re->backrefs)
		cost += capture_fee(at);
	if (cost > s->left)
		return PCRE2_ERROR_CALLOUT;
	s->left -= cost;
	return 0;
}

static void slot_free(struct slot *s)
{
	const struct regex *re = s->re;

	re->calls.pcre2_match_data_free_8(s->data);
	re->calls.pcre2_match_context_free_8(s->context);
	mem_free(&re->mem, s);
}

static struct slot *slot_new(const struct regex *re)
{
	struct slot *s = mem_zalloc(&re->mem, sizeof *s);
	pcre2_general_context_8 *memory;

	if (!s)
		return NULL;
	s->re = re;
	s->left = BUDGET;
	memory = re->calls.pcre2_general_context_create_8(slot_alloc, slot_release, s);
	if (memory) {
		s->context = re->calls.pcre2_match_context_create_8(memory);
		s->data = re->calls.pcre2_match_data_create_8(1 + REGEX_GROUPS, memory);
		re->calls.pcre2_general_context_free_8(memory);
	}
	if (!s->context || !s->data) {
		slot_free(s);
		return NULL;
	}
	re->calls.pcre2_set_callout_8(s->context, spend, s);
	return s;
}

/* Whoever finds the place empty makes a slot of its own; whoever puts one back where there is one
 * already frees the other. */
static struct slot *slot_take(struct regex *re)
{
	struct slot *s = atomic_exchange(&re->idle, NULL);

	return s ? s : slot_new(re);
}

static void slot_give(struct regex *re, struct slot *s)
{
	if (s->largest <= KEEP)
		s = atomic_exchange(&re->idle, s);
	if (s)
		slot_free(s);
}

/* In KiB. */
static uint32_t heap_limit(size_t n)
{
	size_t most = (size_t)(HEAP_MOST - HEAP) * 1024 / HEAP_BYTE;

	return HEAP + (uint32_t)((n < most ? n : most) * HEAP_BYTE / 1024);
}

/* PCRE2's result. */
static int regex_run(struct slot *s, struct str text, size_t from, uint64_t most)
{
	const struct calls *c = &s->re->calls;
	uint64_t steps;
	int rc;

	s->left = most;
	s->last = from;
	steps = s->left / (FEE / 2);
	c->pcre2_set_match_limit_8(s->context, steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX);
	c->pcre2_set_heap_limit_8(s->context, HEAP_FIRST);
	rc = c->pcre2_match_8(s->re->code, (PCRE2_SPTR8)(text.p ? text.p : ""), text.n, from,
			      PCRE2_NO_UTF_CHECK, s->data, s->context);
	if (rc == PCRE2_ERROR_HEAPLIMIT) {
		c->pcre2_set_heap_limit_8(s->context, heap_limit(text.n));
		s->last = from;
		rc = c->pcre2_match_8(s->re->code, (PCRE2_SPTR8)text.p, text.n, from,
				      PCRE2_NO_UTF_CHECK, s->data, s->context);
	}
	return rc;
}

/* Where the groups were found, `pairs` of them with the whole as the first; 0: all that there is room for. */
static void take_groups(const size_t *place, int pairs, struct str text, struct str *ret)
{
	for (int i = 1; i <= REGEX_GROUPS; i++) {
		bool found = (pairs == 0 || i < pairs) && place[2 * i] != PCRE2_UNSET &&
			     place[2 * i + 1] >= place[2 * i];

		ret[i - 1] = found ? (struct str){ text.p + place[2 * i],
						   place[2 * i + 1] - place[2 * i] }
				   : (struct str){ NULL, 0 };
	}
}

static int match(const struct regex *re, struct str text, size_t from, uint64_t *budget,
		 size_t *ret_at, size_t *ret_end, struct str *ret_groups)
{
	uint64_t most = BUDGET + (uint64_t)text.n * BUDGET_BYTE;
	/* Only the place of the idle slot changes, and that atomically. */
	struct regex *mutable = (struct regex *)re;
	struct slot *s;
	int rc;

	if (from > text.n || utf8_valid_prefix(text) != text.n ||
	    (from < text.n && ((unsigned char)text.p[from] & 0xC0) == 0x80))
		return CLEAT_EINVAL;
	s = slot_take(mutable);
	if (!s)
		return CLEAT_ENOMEM;
	if (budget && *budget < most)
		most = *budget;
	rc = regex_run(s, text, from, most);
	if (budget)
		*budget -= most - s->left;
	if (rc >= 0) {
		const size_t *place = re->calls.pcre2_get_ovector_pointer_8(s->data);

		if (ret_at)
			*ret_at = place[0];
		if (ret_end)
			*ret_end = place[1];
		if (ret_groups)
			take_groups(place, rc, text, ret_groups);
		rc = 1;
	} else if (rc == PCRE2_ERROR_NOMATCH) {
		rc = 0;
	} else {
		rc = rc == PCRE2_ERROR_NOMEMORY && !s->refused ? CLEAT_ENOMEM : CLEAT_ELIMIT;
	}
	slot_give(mutable, s);
	return rc;
}

int regex_match(const struct regex *re, struct str text, size_t from, size_t *ret_at,
		size_t *ret_end)
{
	return match(re, text, from, NULL, ret_at, ret_end, NULL);
}

int regex_match_within(const struct regex *re, struct str text, uint64_t *budget)
{
	return match(re, text, 0, budget, NULL, NULL, NULL);
}

int regex_groups(const struct regex *re, struct str text, struct str ret[REGEX_GROUPS],
		 uint64_t *budget)
{
	return match(re, text, 0, budget, NULL, NULL, ret);
}

size_t regex_size(const struct regex *re)
{
	return sizeof *re + re->size;
}

void regex_free(struct regex *re)
{
	struct slot *s;

	if (!re)
		return;
	s = atomic_load(&re->idle);
	if (s)
		slot_free(s);
	re->calls.pcre2_code_free_8(re->code);
	mem_free(&re->mem, re);
}
