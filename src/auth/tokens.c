/* auth/tokens.c - see tokens.h. A token is known by its mark: SHA-256 of a key that was made for this
 * table, and the token's SHA-256. Marks stand in a hash table.
 *
 * Why there is nothing to measure: everything that a search does depends on the mark of the token that
 * was presented. Without the key nobody can say which token has which mark, so how far a search went
 * says nothing about any token, not even to somebody who computes hashes all day. The comparison that
 * decides takes constant time.
 *
 * Not here: files (the text is given), and wiping that text, which is the caller's; tokens are hashed
 * where they stand and never copied. No message repeats anything of the file: a word in the wrong
 * place may be the secret.
 */
#include "auth/tokens.h"

#include "base/crypto.h"
#include "base/error.h"
#include "base/mem.h"

enum {
	MAX_TOKENS = 10000,
	MAX_LINE = 4096,
	MAX_NAME = 64,
	/* What can be tried from outside must not be found by trying. Sixteen characters at random
	 * are 75 bits even when all are letters of one case. */
	MIN_TOKEN = 16,
};

struct entry {
	unsigned char mark[CRYPTO_HASH_SIZE];
	unsigned line;
	char name[MAX_NAME + 1];
};

struct tokens {
	cleat_allocator mem;
	unsigned char key[CRYPTO_KEY_SIZE];
	struct entry *entries;
	size_t count;
	/* Places of entries, from 1, by mark; 0: free. At least half of the slots are. */
	uint16_t *slots;
	size_t n_slots;  /* a power of two */
	uint16_t *names; /* as slots, by name */
	uint32_t seed;
};

_Static_assert(MAX_TOKENS < UINT16_MAX, "places fit into slots");

/* ---- marks -------------------------------------------------------------------------------- */

/* The mark of the token with this hash. */
static int mark_of(const struct tokens *t, const unsigned char hash[CRYPTO_HASH_SIZE],
		   unsigned char mark[CRYPTO_HASH_SIZE], cleat_error *err)
{
	char text[CRYPTO_KEY_SIZE + CRYPTO_HASH_SIZE];
	int rc;

	memcpy(text, t->key, CRYPTO_KEY_SIZE);
	memcpy(text + CRYPTO_KEY_SIZE, hash, CRYPTO_HASH_SIZE);
	rc = crypto_sha256((struct str){ text, sizeof text }, mark, err);
	crypto_wipe(text, sizeof text);
	return rc;
}

/* The slot of the entry with this mark, or the free one where it would be. */
static uint16_t *slot_of(const struct tokens *t, const unsigned char mark[CRYPTO_HASH_SIZE])
{
	uint32_t at;

	memcpy(&at, mark, sizeof at);
	for (;; at++) {
		uint16_t *slot = &t->slots[at & (t->n_slots - 1)];

		if (!*slot || crypto_equal(t->entries[*slot - 1].mark, mark, CRYPTO_HASH_SIZE))
			return slot;
	}
}

static uint16_t *name_slot(const struct tokens *t, struct str name)
{
	uint32_t at = str_hash(name, t->seed);

	for (;; at++) {
		uint16_t *slot = &t->names[at & (t->n_slots - 1)];

		if (!*slot || str_eqz(name, t->entries[*slot - 1].name))
			return slot;
	}
}

/* NULL when there is none. */
static const char *name_of(const struct tokens *t, const unsigned char hash[CRYPTO_HASH_SIZE])
{
	unsigned char mark[CRYPTO_HASH_SIZE];
	uint16_t place = 0;

	if (mark_of(t, hash, mark, NULL) == CLEAT_OK)
		place = *slot_of(t, mark);
	return place ? t->entries[place - 1].name : NULL;
}

const char *tokens_find_hash(const struct tokens *t, struct str token,
			     unsigned char hash[CRYPTO_HASH_SIZE])
{
	const char *name = NULL;

	if (!t || token.n < MIN_TOKEN || token.n > MAX_LINE)
		return NULL;
	if (crypto_sha256(token, hash, NULL) == CLEAT_OK)
		name = name_of(t, hash);
	if (!name)
		crypto_wipe(hash, CRYPTO_HASH_SIZE);
	return name;
}

const char *tokens_find(const struct tokens *t, struct str token)
{
	unsigned char hash[CRYPTO_HASH_SIZE];
	const char *name = tokens_find_hash(t, token, hash);

	crypto_wipe(hash, sizeof hash);
	return name;
}

bool tokens_have(const struct tokens *t, struct str name,
		 const unsigned char hash[CRYPTO_HASH_SIZE])
{
	const char *found;

	if (!t || !hash)
		return t && *name_slot(t, name);
	found = name_of(t, hash);
	return found && str_eqz(name, found);
}

/* ---- lines -------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next line, without its end; text moves past it. */
static struct str take_line(struct str *text)
{
	const char *end = memchr(text->p, '\n', text->n);
	size_t n = end ? (size_t)(end - text->p) : text->n;
	struct str line = { text->p, n };

	text->p += end ? n + 1 : n;
	text->n -= end ? n + 1 : n;
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

/* The next word of a line; empty when there is none, or only a comment. */
static struct str take_word(struct str *line)
{
	struct str word;

	while (line->n && is_blank(*line->p))
		line->p++, line->n--;
	if (line->n && *line->p == '#')
		line->n = 0;
	word = (struct str){ line->p, 0 };
	while (line->n && !is_blank(*line->p))
		line->p++, line->n--, word.n++;
	return word;
}

static bool is_printable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7F)
			return false;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Does it begin with "sha256:", in any case? Otherwise "SHA256:..." would be a token. */
static bool is_hash(struct str word)
{
	static const char mark[] = "sha256:";

	if (word.n < sizeof mark - 1)
		return false;
	for (size_t i = 0; i < sizeof mark - 1; i++)
		if (word.p[i] != mark[i] && !(mark[i] >= 'a' && (word.p[i] | 0x20) == mark[i]))
			return false;
	return true;
}

static bool read_hash(struct str word, unsigned char hash[CRYPTO_HASH_SIZE])
{
	const size_t before = strlen("sha256:");
	const char *p = word.p + before;

	if (word.n != before + 2 * CRYPTO_HASH_SIZE)
		return false;
	for (size_t i = 0; i < CRYPTO_HASH_SIZE; i++) {
		int high = hex_digit(p[2 * i]), low = hex_digit(p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		hash[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* A file that is being read. */
struct reading {
	struct tokens *t;
	unsigned line;
	cleat_error *err;
};

static int tokens_refuse(const struct reading *r, const char *why)
{
	return error_set(r->err, CLEAT_EINVAL, "line %u: %s", r->line, why);
}

static int refuse_second(const struct reading *r, const char *what, uint16_t place)
{
	return error_set(r->err, CLEAT_EINVAL, "line %u: the same %s as in line %u", r->line, what,
			 r->t->entries[place - 1].line);
}

static int tokens_add(struct reading *r, struct str name,
		      const unsigned char hash[CRYPTO_HASH_SIZE])
{
	struct tokens *t = r->t;
	struct entry *e = &t->entries[t->count];
	uint16_t *by_name = name_slot(t, name), *by_mark;
	int rc;

	if (*by_name)
		return refuse_second(r, "name", *by_name);
	rc = mark_of(t, hash, e->mark, r->err);
	if (rc != CLEAT_OK)
		return rc;
	by_mark = slot_of(t, e->mark);
	if (*by_mark)
		return refuse_second(r, "token", *by_mark);
	e->line = r->line;
	memcpy(e->name, name.p, name.n);
	e->name[name.n] = '\0';
	*by_name = *by_mark = (uint16_t)++t->count;
	return CLEAT_OK;
}

/* The hash of what the second word is, or says. */
static int hash_word(const struct reading *r, struct str word, unsigned char hash[CRYPTO_HASH_SIZE])
{
	if (is_hash(word))
		return read_hash(word, hash)
			       ? CLEAT_OK
			       : tokens_refuse(r, "64 hexadecimal digits must follow \"sha256:\"");
	if (word.n < MIN_TOKEN)
		return tokens_refuse(r, "a token must have at least 16 characters");
	if (!is_printable(word))
		return tokens_refuse(r, "a token must be printable ASCII");
	return crypto_sha256(word, hash, r->err);
}

static int read_line(struct reading *r, struct str line)
{
	struct str name = take_word(&line), token = take_word(&line);
	unsigned char hash[CRYPTO_HASH_SIZE];
	int rc;

	if (name.n == 0)
		return CLEAT_OK;
	if (token.n == 0)
		return tokens_refuse(r, "a name and a token are needed, with a space between them");
	if (take_word(&line).n)
		return tokens_refuse(r, "there is something after the token");
	if (name.n > MAX_NAME || !is_printable(name))
		return tokens_refuse(r, "a name must be printable ASCII, at most 64 characters");
	rc = hash_word(r, token, hash);
	if (rc == CLEAT_OK)
		rc = tokens_add(r, name, hash);
	crypto_wipe(hash, sizeof hash);
	return rc;
}

/* How many lines have something in them; over MAX_TOKENS when there are too many. */
static size_t count_lines(struct str text)
{
	size_t n = 0;

	while (text.n && n <= MAX_TOKENS) {
		struct str line = take_line(&text);

		n += take_word(&line).n > 0;
	}
	return n;
}

static int tokens_read_all(struct reading *r, struct str text)
{
	int rc = CLEAT_OK;

	while (text.n && rc == CLEAT_OK) {
		struct str line = take_line(&text);

		r->line++;
		rc = line.n > MAX_LINE ? tokens_refuse(r, "longer than 4096 bytes")
				       : read_line(r, line);
	}
	return rc;
}

/* Room for n of them. */
static bool reserve(struct tokens *t, size_t n)
{
	for (t->n_slots = 16; t->n_slots < 2 * n; t->n_slots *= 2)
		;
	t->entries = mem_zalloc(&t->mem, n * sizeof *t->entries);
	t->slots = mem_zalloc(&t->mem, t->n_slots * sizeof *t->slots);
	t->names = mem_zalloc(&t->mem, t->n_slots * sizeof *t->names);
	return t->entries && t->slots && t->names;
}

static int tokens_fill(struct tokens *t, struct str text, size_t n, cleat_error *err)
{
	struct reading r = { .t = t, .err = err };
	int rc = crypto_random(t->key, sizeof t->key, err);

	if (rc != CLEAT_OK)
		return rc;
	memcpy(&t->seed, t->key, sizeof t->seed);
	return reserve(t, n) ? tokens_read_all(&r, text)
			     : error_set(err, CLEAT_ENOMEM, "out of memory for the tokens");
}

int tokens_parse(const cleat_allocator *mem, struct str text, struct tokens **ret, cleat_error *err)
{
	cleat_allocator hooks = mem_resolve(mem);
	size_t n = count_lines(text);
	struct tokens *t;
	int rc;

	if (n == 0)
		return error_set(err, CLEAT_EINVAL, "there is no token in it");
	if (n > MAX_TOKENS)
		return error_set(err, CLEAT_ELIMIT, "more than %d tokens", MAX_TOKENS);
	t = mem_zalloc(&hooks, sizeof *t);
	if (!t)
		return error_set(err, CLEAT_ENOMEM, "out of memory for the tokens");
	t->mem = hooks;
	rc = tokens_fill(t, text, n, err);
	if (rc != CLEAT_OK) {
		tokens_free(t);
		return rc;
	}
	*ret = t;
	return CLEAT_OK;
}

void tokens_free(struct tokens *t)
{
	cleat_allocator mem;

	if (!t)
		return;
	mem = t->mem;
	mem_free(&mem, t->entries);
	mem_free(&mem, t->slots);
	mem_free(&mem, t->names);
	crypto_wipe(t->key, sizeof t->key);
	mem_free(&mem, t);
}
