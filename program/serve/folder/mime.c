/* program/serve/folder/mime.c - see mime.h. */
#include "serve/folder/mime.h"

#include "base/lazy.h"

#include <magic.h>
#include <pthread.h>
#include <stdio.h>

struct calls {
	magic_t (*magic_open)(int);
	void (*magic_close)(magic_t);
	int (*magic_load)(magic_t, const char *);
	const char *(*magic_buffer)(magic_t, const void *, size_t);
};

#define CALLS(X)                                                                                   \
	X(magic_open)                                                                              \
	X(magic_close)                                                                             \
	X(magic_load)                                                                              \
	X(magic_buffer)

LAZY_LOADED(CALLS, "libmagic.so.1", "libmagic1")

/* ---- names ---------------------------------------------------------------------------------- */

struct kind {
	const char *ending, *mime;
	bool text;
};

static const struct kind kinds[] = {
	{ "md", "text/markdown", true },
	{ "markdown", "text/markdown", true },
	{ "txt", "text/plain", true },
	{ "log", "text/plain", true },
	{ "json", "application/json", true },
	{ "jsonl", "application/jsonl", true },
	{ "ndjson", "application/x-ndjson", true },
	{ "geojson", "application/geo+json", true },
	{ "csv", "text/csv", true },
	{ "tsv", "text/tab-separated-values", true },
	{ "html", "text/html", true },
	{ "htm", "text/html", true },
	{ "css", "text/css", true },
	{ "js", "text/javascript", true },
	{ "mjs", "text/javascript", true },
	{ "cjs", "text/javascript", true },
	{ "ts", "text/x-typescript", true },
	{ "tsx", "text/x-typescript", true },
	{ "jsx", "text/javascript", true },
	{ "xml", "application/xml", true },
	{ "svg", "image/svg+xml", true },
	{ "yaml", "application/yaml", true },
	{ "yml", "application/yaml", true },
	{ "toml", "application/toml", true },
	{ "ini", "text/plain", true },
	{ "conf", "text/plain", true },
	{ "c", "text/x-c", true },
	{ "h", "text/x-c", true },
	{ "cc", "text/x-c++", true },
	{ "cpp", "text/x-c++", true },
	{ "hpp", "text/x-c++", true },
	{ "py", "text/x-python", true },
	{ "rb", "text/x-ruby", true },
	{ "go", "text/x-go", true },
	{ "rs", "text/x-rust", true },
	{ "java", "text/x-java", true },
	{ "php", "text/x-php", true },
	{ "sh", "text/x-shellscript", true },
	{ "sql", "application/sql", true },
	{ "tex", "text/x-tex", true },
	{ "rst", "text/x-rst", true },
	{ "diff", "text/x-diff", true },
	{ "patch", "text/x-diff", true },
	{ "ics", "text/calendar", true },
	{ "vcf", "text/vcard", true },
	{ "eml", "message/rfc822", true },
	{ "png", "image/png", false },
	{ "jpg", "image/jpeg", false },
	{ "jpeg", "image/jpeg", false },
	{ "gif", "image/gif", false },
	{ "webp", "image/webp", false },
	{ "bmp", "image/bmp", false },
	{ "ico", "image/vnd.microsoft.icon", false },
	{ "tif", "image/tiff", false },
	{ "tiff", "image/tiff", false },
	{ "avif", "image/avif", false },
	{ "mp3", "audio/mpeg", false },
	{ "wav", "audio/x-wav", false },
	{ "ogg", "audio/ogg", false },
	{ "opus", "audio/ogg", false },
	{ "flac", "audio/flac", false },
	{ "m4a", "audio/mp4", false },
	{ "mp4", "video/mp4", false },
	{ "webm", "video/webm", false },
	{ "mov", "video/quicktime", false },
	{ "pdf", "application/pdf", false },
	{ "zip", "application/zip", false },
	{ "gz", "application/gzip", false },
	{ "tar", "application/x-tar", false },
	{ "xz", "application/x-xz", false },
	{ "zst", "application/zstd", false },
	{ "wasm", "application/wasm", false },
	{ "db", "application/vnd.sqlite3", false },
	{ "sqlite", "application/vnd.sqlite3", false },
	{ "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	  false },
	{ "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", false },
	{ "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	  false },
	{ "odt", "application/vnd.oasis.opendocument.text", false },
	{ "ods", "application/vnd.oasis.opendocument.spreadsheet", false },
	{ "woff2", "font/woff2", false },
};

static bool is_ending(struct str ending, const char *z)
{
	size_t i = 0;

	for (; i < ending.n && z[i]; i++) {
		char c = ending.p[i];

		if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != z[i])
			return false;
	}
	return i == ending.n && !z[i];
}

static const struct kind *kind_of(struct str name)
{
	size_t i = name.n;

	while (i > 0 && name.p[i - 1] != '.' && name.p[i - 1] != '/')
		i--;
	if (i == 0 || name.p[i - 1] != '.')
		return NULL;
	for (size_t k = 0; k < CLEAT_COUNT(kinds); k++)
		if (is_ending((struct str){ name.p + i, name.n - i }, kinds[k].ending))
			return &kinds[k];
	return NULL;
}

const char *mime_by_name(struct str name)
{
	const struct kind *k = kind_of(name);

	return k ? k->mime : NULL;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

bool mime_is_lines(struct str head)
{
	return !str_has_nul(head);
}

bool mime_is_text(struct str head, bool whole)
{
	size_t valid = utf8_valid_prefix(head);
	size_t rest = head.n - valid;

	if (str_has_nul(head))
		return false;
	if (rest == 0)
		return true;
	/* At most three bytes of a character whose others were cut off. */
	if (whole || rest > 3 || (unsigned char)head.p[valid] < 0xC2 ||
	    (unsigned char)head.p[valid] > 0xF4)
		return false;
	for (size_t i = valid + 1; i < head.n; i++)
		if (((unsigned char)head.p[i] & 0xC0) != 0x80)
			return false;
	return true;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static magic_t cookie; /* stays: loading the database takes milliseconds */
static bool forgotten;

void mime_forget_libmagic(bool forget)
{
	pthread_mutex_lock(&lock);
	forgotten = forget;
	pthread_mutex_unlock(&lock);
}

/* The type's words, with the lock held; NULL: libmagic is not to be had. */
static const char *ask_magic(const struct calls *c, struct str head)
{
	if (!cookie) {
		cookie = c->magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS |
				       MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_ELF);
		if (cookie && c->magic_load(cookie, NULL)) {
			c->magic_close(cookie);
			cookie = NULL;
		}
	}
	return cookie ? c->magic_buffer(cookie, head.p, head.n) : NULL;
}

static bool by_magic(struct str head, char ret[MIME_MAX])
{
	struct calls own;
	const struct calls *c = calls_get(&own, NULL);
	const char *words;
	bool found;

	if (!c)
		return false;
	pthread_mutex_lock(&lock);
	words = forgotten ? NULL : ask_magic(c, head);
	found = words && strchr(words, '/') && strlen(words) < MIME_MAX;
	if (found)
		snprintf(ret, MIME_MAX, "%s", words);
	pthread_mutex_unlock(&lock);
	return found;
}

void mime_guess(struct str name, struct str head, bool whole, char ret[MIME_MAX])
{
	const struct kind *k = kind_of(name);
	bool text;

	if (head.n > MIME_HEAD) {
		head.n = MIME_HEAD;
		whole = false;
	}
	text = mime_is_text(head, whole);
	if (text && k && k->text) {
		snprintf(ret, MIME_MAX, "%s", k->mime);
		return;
	}
	if (head.n && by_magic(head, ret)) {
		/* "application/octet-stream" means that it does not know, and text is not
		 * something else because of what it says about itself in a language of its own. */
		bool unknown = strcmp(ret, "application/octet-stream") == 0;

		if (!unknown && (!text || strncmp(ret, "text/", 5) == 0 || strstr(ret, "json") ||
				 strstr(ret, "xml")))
			return;
	}
	if (!text && k && !k->text)
		snprintf(ret, MIME_MAX, "%s", k->mime);
	else
		snprintf(ret, MIME_MAX, "%s", text ? "text/plain" : "application/octet-stream");
}
