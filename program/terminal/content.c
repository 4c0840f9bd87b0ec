/* program/terminal/content.c - the content of a result for people: text as it is, images where the terminal can show
 * them, files with --save.
 *
 * Names of files are ours, never the server's.
 */
#include "base/base64.h"
#include "base/str.h"
#include "terminal/output.h"
#include "text/print.h"
#include "text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *mime, *extension;
} extensions[] = {
	{ "image/png", "png" },         { "image/jpeg", "jpg" },      { "image/gif", "gif" },
	{ "image/webp", "webp" },       { "image/svg+xml", "svg" },   { "image/bmp", "bmp" },
	{ "image/tiff", "tiff" },       { "image/avif", "avif" },     { "audio/wav", "wav" },
	{ "audio/x-wav", "wav" },       { "audio/mpeg", "mp3" },      { "audio/mp3", "mp3" },
	{ "audio/ogg", "ogg" },         { "audio/flac", "flac" },     { "audio/webm", "webm" },
	{ "application/pdf", "pdf" },   { "application/zip", "zip" }, { "application/gzip", "gz" },
	{ "application/json", "json" }, { "video/mp4", "mp4" },
};

static const char *extension_of(const char *mime)
{
	for (size_t i = 0; mime && i < CLEAT_COUNT(extensions); i++)
		if (strcmp(extensions[i].mime, mime) == 0)
			return extensions[i].extension;
	return "bin";
}

static const char *kind_of(const cleat_content *c)
{
	if (c->kind == CLEAT_CONTENT_IMAGE)
		return "image";
	return c->kind == CLEAT_CONTENT_AUDIO ? "audio" : "data";
}

bool cli_is_text(const cleat_content *c)
{
	static const char *const types[] = { "text/",
					     "application/json",
					     "application/xml",
					     "application/yaml",
					     "application/toml",
					     "application/javascript",
					     "application/x-ndjson",
					     "application/sql",
					     "application/x-sh",
					     "application/x-yaml" };
	size_t n = c->mime ? strcspn(c->mime, "; ") : 0, i = 0;

	if (!c->data || !n || memchr(c->data, 0, c->size) ||
	    utf8_valid_prefix((struct str){ c->data, c->size }) != c->size)
		return false;
	while (i < CLEAT_COUNT(types) && strncasecmp(c->mime, types[i], strlen(types[i])) != 0)
		i++;
	return i < CLEAT_COUNT(types) || (n > 5 && strncasecmp(c->mime + n - 5, "+json", 5) == 0) ||
	       (n > 4 && strncasecmp(c->mime + n - 4, "+xml", 4) == 0 &&
		c->kind == CLEAT_CONTENT_RESOURCE);
}

/* ---- images in terminals ------------------------------------------------------------------------- */

enum graphics { GRAPHICS_NONE, GRAPHICS_KITTY, GRAPHICS_ITERM };

/* What the terminal says about itself; there is no asking without waiting. */
static enum graphics graphics_of(FILE *to)
{
	const char *term = getenv("TERM"), *program = getenv("TERM_PROGRAM");

	if (!isatty(fileno(to)) || getenv("TMUX"))
		return GRAPHICS_NONE;
	if ((term && strcmp(term, "xterm-kitty") == 0) || getenv("KITTY_WINDOW_ID") ||
	    (program && strcmp(program, "ghostty") == 0))
		return GRAPHICS_KITTY;
	if (program && (strcmp(program, "iTerm.app") == 0 || strcmp(program, "WezTerm") == 0))
		return GRAPHICS_ITERM;
	return GRAPHICS_NONE;
}

/* Kitty takes PNG as it is, in pieces of 4096. */
static void print_kitty(FILE *to, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i += 4096) {
		size_t part = n - i < 4096 ? n - i : 4096;

		fprintf(to, "\033_G%sm=%d;", i ? "" : "a=T,f=100,q=2,", i + part < n);
		fwrite(data + i, 1, part, to);
		fputs("\033\\", to);
	}
	fputc('\n', to);
}

static bool print_image(FILE *to, const cleat_content *c)
{
	enum graphics how = graphics_of(to);
	size_t n = base64_size(BASE64_STANDARD, c->size);
	char *text;

	if (c->kind != CLEAT_CONTENT_IMAGE || !c->data || how == GRAPHICS_NONE ||
	    (how == GRAPHICS_KITTY && (!c->mime || strcmp(c->mime, "image/png") != 0)))
		return false;
	text = must_alloc(n + 1);
	*base64_encode(BASE64_STANDARD, c->data, c->size, text) = '\0';
	if (how == GRAPHICS_KITTY)
		print_kitty(to, text, n);
	else
		fprintf(to, "\033]1337;File=inline=1;size=%zu:%s\a\n", c->size, text);
	free(text);
	return true;
}

/* ---- files --------------------------------------------------------------------------------------- */

struct page {
	struct cli *cli;
	FILE *to;
	unsigned images, audios, datas;
	size_t blocks;
	bool color;
	bool reading;     /* the contents of a resource: one needs no title */
	const char *role; /* of the last block */
	int code;
};

static bool write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t part = write(fd, data, n);

		if (part < 0 && errno != EINTR)
			return false;
		data += part < 0 ? 0 : part;
		n -= part < 0 ? 0 : (size_t)part;
	}
	return true;
}

static bool write_file(const struct page *p, const char *path, const void *data, size_t n)
{
	int fd = cli_create(p->cli, path, 0666, cli_flag(p->cli, "force"));
	bool good = fd >= 0 && write_all(fd, data, n);

	if (fd >= 0 && close(fd) != 0)
		good = false;
	if (fd >= 0 && !good) { /* a part of it helps nobody */
		cli_error(p->cli, EXIT_OTHER, "cannot write %s: %s", path, strerror(errno));
		unlink(path);
	}
	return good;
}

static void save(struct page *p, const cleat_content *c, const char *dir)
{
	const char *kind = kind_of(c);
	unsigned *count = *kind == 'i' ? &p->images : *kind == 'a' ? &p->audios : &p->datas;
	char *path = keepf("%s/%s-%u.%s", dir, kind, ++*count, extension_of(c->mime));

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		p->code = cli_error(p->cli, EXIT_OTHER, "cannot make %s: %s", dir, strerror(errno));
	else if (!write_file(p, path, c->data, c->size))
		p->code = EXIT_OTHER;
	else
		fprintf(p->to, "%s\n", path);
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static void print_data(struct page *p, const cleat_content *c)
{
	const char *dir = cli_option(p->cli, "save");

	if (!c->data) {
		fprintf(p->to, "[%s: its data is not base64]\n", kind_of(c));
		return;
	}
	if (dir) {
		save(p, c, dir);
		return;
	}
	if (print_image(p->to, c))
		return;
	fprintf(p->to, "[%s", kind_of(c));
	if (c->mime) {
		fputs(", ", p->to);
		print_line(p->to, c->mime);
	}
	fprintf(p->to, ", %zu bytes; --save DIR writes it to a file]\n", c->size);
}

static void print_block_text(struct page *p, const cleat_content *c)
{
	const char *text = c->text ? c->text : c->data;

	print_content(p->to, text, c->size);
	if (!c->size || text[c->size - 1] != '\n')
		fputc('\n', p->to);
}

static void print_link(struct page *p, const cleat_content *c)
{
	if (c->name && (!c->uri || strcmp(c->name, c->uri) != 0)) {
		print_line(p->to, c->name);
		fputs(": ", p->to);
	}
	print_line(p->to, c->uri ? c->uri : "");
	if (c->mime) {
		fputs(" (", p->to);
		print_line(p->to, c->mime);
		fputs(")", p->to);
	}
	if (c->description) {
		fputs(" - ", p->to);
		print_line(p->to, c->description);
	}
	fputc('\n', p->to);
}

static void print_title(struct page *p, const cleat_content *c)
{
	if (c->role && (!p->role || strcmp(p->role, c->role) != 0)) {
		fputs(p->color ? COLOR_BOLD : "", p->to);
		print_line(p->to, c->role);
		fprintf(p->to, ":%s\n", p->color ? COLOR_OFF : "");
	}
	p->role = c->role;
	if (c->kind == CLEAT_CONTENT_RESOURCE && c->uri && !(p->reading && p->blocks == 1)) {
		fputs("--- ", p->to);
		print_line(p->to, c->uri);
		fputc('\n', p->to);
	}
}

static void print_block(struct page *p, const cleat_content *c)
{
	print_title(p, c);
	switch (c->kind) {
	case CLEAT_CONTENT_TEXT: print_block_text(p, c); break;
	case CLEAT_CONTENT_RESOURCE:
		if (c->text || (cli_is_text(c) && !cli_option(p->cli, "save")))
			print_block_text(p, c);
		else
			print_data(p, c);
		break;
	case CLEAT_CONTENT_IMAGE:
	case CLEAT_CONTENT_AUDIO: print_data(p, c); break;
	case CLEAT_CONTENT_LINK: print_link(p, c); break;
	case CLEAT_CONTENT_OTHER: cli_pretty(p->cli, p->to, c->json); break;
	}
}

/* Is this text that value, as JSON? */
static bool is_same(const cleat_content *c, const cleat_json *v)
{
	cleat_doc *doc;
	bool same;

	if (!v || c->kind != CLEAT_CONTENT_TEXT)
		return false;
	doc = cleat_doc_parse(c->text, c->size, NULL, NULL, NULL);
	same = doc && cleat_json_equal(cleat_doc_root(doc), v);
	cleat_doc_free(doc);
	return same;
}

/* Some servers put the text into an object: 42 and {"result": 42}, or {"content": "42"}. */
static bool is_wrapped(const cleat_content *c, const cleat_json *structured)
{
	cleat_json_iter it = cleat_json_each(structured);
	const char *text;
	size_t n = 0;

	if (cleat_json_size(structured) != 1 || !cleat_json_next(&it) ||
	    c->kind != CLEAT_CONTENT_TEXT)
		return false;
	text = cleat_json_strn(it.value, &n);
	return (text && n == c->size && memcmp(text, c->text, n) == 0) || is_same(c, it.value);
}

/* One piece of data, and no terminal to be careful about: as curl would, with nothing around it. */
static bool print_raw(struct page *p, cleat_result *r)
{
	cleat_content c;

	if (p->blocks != 1 || cli_option(p->cli, "save") || isatty(fileno(p->to)) ||
	    !cleat_result_content(r, 0, &c) || !c.data || c.text)
		return false;
	fwrite(c.data, 1, c.size, p->to);
	return true;
}

/* Content is for people, structured content for programs. Where one of the texts is the same JSON once more,
 * for older clients, that is shown in its place, indented; where there is no content at all, alone. */
static void print_all(struct page *p, cleat_result *r, const cleat_json *structured)
{
	bool shown = !structured;
	cleat_content c;

	for (size_t i = 0; i < p->blocks && cleat_result_content(r, i, &c); i++) {
		if (!is_same(&c, structured)) {
			print_block(p, &c);
			shown = shown || (p->blocks == 1 && is_wrapped(&c, structured));
			continue;
		}
		if (!shown)
			cli_pretty(p->cli, p->to, structured);
		shown = true;
	}
	if (!shown && !p->blocks)
		cli_pretty(p->cli, p->to, structured);
	else if (!shown && isatty(STDERR_FILENO))
		cli_note(p->cli, "there is structured content, too: --json shows it");
}

/* With --json and --jq: the result is on stdout, and that it is none to go on with is said as other errors are. */
static int say_failed(struct cli *cli, cleat_result *r)
{
	cleat_content c;

	for (size_t i = 0; cleat_result_content(r, i, &c); i++)
		if (c.kind == CLEAT_CONTENT_TEXT)
			return cli_error(cli, EXIT_TOOL, "the tool failed: %.*s", (int)c.size,
					 c.text);
	return cli_error(cli, EXIT_TOOL, "the tool failed");
}

int cli_print_content(struct cli *cli, cleat_result *r)
{
	const cleat_json *raw = cleat_result_raw(r);
	struct page p = { .cli = cli, .code = EXIT_GOOD };
	bool failed = cleat_result_is_tool_error(r);
	int code;

	if (cli_print_json(cli, raw, &code))
		return code || !failed ? code : say_failed(cli, r);
	/* What went wrong is not a result. */
	p.to = failed ? stderr : cli_out(cli);
	if (!p.to)
		return EXIT_OTHER;
	p.color = cli_color(cli, p.to);
	p.reading = cleat_json_get(raw, "contents") != NULL;
	for (cleat_content c; cleat_result_content(r, p.blocks, &c);)
		p.blocks++;
	if (failed)
		fprintf(stderr, "cleat: the tool failed%s\n", p.blocks ? ":" : "");
	if (failed || !print_raw(&p, r))
		print_all(&p, r, cleat_json_get(raw, "structuredContent"));
	return failed && !p.code ? EXIT_TOOL : p.code;
}
