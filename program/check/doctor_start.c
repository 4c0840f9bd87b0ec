/* program/check/doctor_start.c - begins the conversation, and says why it could not begin.
 *
 * What the program wrote to stderr, and what is known about certificate and HTTP, is remembered on the way.
 */
#include "check/doctor.h"
#include "reach/reach.h"
#include "terminal/await.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SLOW_START_MS = 5000, SOON_DAYS = 21 };

/* ---- what happens meanwhile ---------------------------------------------------------------------- */

static void on_state(cleat_client *c, const cleat_error *state, void *userdata)
{
	struct doctor *d = userdata;
	(void)c;
	(void)state;
	d->heard.told = true;
}

static void on_stderr(cleat_client *c, const char *line, void *userdata)
{
	struct doctor *d = userdata;
	char **slot = &d->heard.tail[d->heard.lines++ % DOCTOR_TAIL];

	(void)c;
	*slot = keepf("%.200s", line);
}

/* "Nov 18 03:00:00 2026 GMT"; 0: it is not that. */
static time_t date_of(const char *text)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm tm = { 0 };
	char month[4];
	const char *found;

	if (sscanf(text, "%3s %d %d:%d:%d %d", month, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
		   &tm.tm_sec, &tm.tm_year) != 6 ||
	    !(found = strstr(months, month)) || strlen(month) != 3)
		return 0;
	tm.tm_mon = (int)(found - months) / 3;
	tm.tm_year -= 1900;
	return timegm(&tm);
}

static void on_trace(cleat_client *c, bool out, const char *line, void *userdata)
{
	struct doctor *d = userdata;
	static const char expires[] = "* expire date: ", issuer[] = "* issuer: ",
			  challenge[] = "www-authenticate: ";

	(void)c;
	if (strncmp(line, expires, sizeof expires - 1) == 0)
		d->heard.expires = date_of(line + sizeof expires - 1);
	else if (strncmp(line, issuer, sizeof issuer - 1) == 0)
		d->heard.issuer = keepf("%.200s", line + sizeof issuer - 1);
	else if (!out && strncasecmp(line, challenge, sizeof challenge - 1) == 0)
		d->heard.challenge = keepf("%.400s", line + sizeof challenge - 1);
	else if (!out && strncmp(line, "HTTP/", 5) == 0)
		d->heard.status = atoi(line + strcspn(line, " "));
}

void doctor_listen(struct doctor *d, cleat_client_options *want)
{
	want->userdata = d;
	want->on_state = on_state;
	want->on_stderr = on_stderr;
	want->on_trace = on_trace;
}

/* ---- beginning ----------------------------------------------------------------------------------- */

/* A program that ends when it is asked for server/discover is started once more, for initialize, and says the
 * same again. */
static bool said_twice(const struct doctor *d)
{
	size_t half = d->heard.lines / 2;

	if (!half || d->heard.lines % 2 || half >= DOCTOR_TAIL)
		return false;
	for (size_t i = half; i < d->heard.lines; i++)
		if (d->heard.lines - (i - half) <= DOCTOR_TAIL && /* is still known */
		    strcmp(d->heard.tail[i % DOCTOR_TAIL],
			   d->heard.tail[(i - half) % DOCTOR_TAIL]) != 0)
			return false;
	return true;
}

const char *doctor_last_words(const struct doctor *d)
{
	struct text t = { 0 };
	size_t first = said_twice(d)                  ? d->heard.lines / 2
		       : d->heard.lines > DOCTOR_TAIL ? d->heard.lines - DOCTOR_TAIL
						      : 0;

	for (size_t i = first; i < d->heard.lines; i++)
		text_printf(&t, "\n| %s", d->heard.tail[i % DOCTOR_TAIL]);
	return keep(text_take(&t));
}

static const struct {
	enum cleat_step step;
	int code;
	const char *name, *fix; /* name NULL: "start" of a program, "connection" of anything else */
} reasons[] = {
	{ CLEAT_STEP_SPAWN, EXIT_UNREACHABLE, "start", "run the command by hand and see" },
	{ CLEAT_STEP_DNS, EXIT_UNREACHABLE, "DNS", "correct the name in the URL" },
	{ CLEAT_STEP_CONNECT, EXIT_UNREACHABLE, "TCP", "start the server, or correct the address" },
	{ CLEAT_STEP_TLS, EXIT_UNREACHABLE, "TLS",
	  "correct the certificate; --ca FILE trusts an authority of your own, --insecure any" },
	{ CLEAT_STEP_HTTP, EXIT_UNREACHABLE, "HTTP",
	  "correct the path of the URL (often /mcp); something else may listen there" },
	{ CLEAT_STEP_AUTH, EXIT_AUTH, "authorization",
	  "get a token and give it: --bearer TOKEN, or $CLEAT_BEARER" },
	{ CLEAT_STEP_EXCHANGE, EXIT_UNREACHABLE, NULL,
	  "the program ended: run the command by hand and see what it says" },
	{ CLEAT_STEP_NEGOTIATE, EXIT_PROTOCOL, "revision",
	  "is it an MCP server at all? -v shows what it says; --era legacy and --protocol try others" },
	{ CLEAT_STEP_PROTOCOL, EXIT_PROTOCOL, "messages",
	  "-v shows the message; tell whoever made the server" },
	{ CLEAT_STEP_TIMEOUT, EXIT_TIMEOUT, NULL,
	  "does it wait for something? Run the command by hand; --timeout gives it longer" },
};

/* 401 says where tokens are from: resource_metadata="https://..." (RFC 9728). */
static const char *fix_authorization(const struct doctor *d, const char *usual)
{
	const char *at =
		d->heard.challenge ? strstr(d->heard.challenge, "resource_metadata=\"") : NULL;
	const cleat_client_options *opts;

	if (d->heard.status == 403)
		return "the token may not be good for this, or the server does not like this Host or "
		       "Origin: ask whoever runs it";
	if (cli_target(d->cli, &opts)->no_bearer)
		usual = keepf("%s (%s)", usual, cli_target(d->cli, &opts)->no_bearer);
	if (!at)
		return usual;
	at += strlen("resource_metadata=\"");
	return keepf("%s; %.*s says who gives them", usual, (int)strcspn(at, "\""), at);
}

/* What is wrong with a certificate is in the library's words; what mends it depends on it. */
static const char *fix_tls(const char *message, const char *usual)
{
	if (strstr(message, "another name"))
		return "put the name that the certificate is for into the URL, or get one for this name";
	if (strstr(message, "expired"))
		return "renew the certificate";
	if (strstr(message, "does not speak TLS"))
		return "write http:// instead of https://, or correct the port";
	return usual;
}

static const char *fix_for(const struct doctor *d, enum cleat_step step, bool program,
			   const char *usual)
{
	if (step == CLEAT_STEP_TLS)
		return fix_tls(cleat_client_error(d->cli->client)->message, usual);
	if (step == CLEAT_STEP_EXCHANGE && !program)
		return "the server, or something before it, closed the connection: look into its log";
	if (step == CLEAT_STEP_TIMEOUT && !program)
		return "something accepts connections there and says nothing: is it the right port? "
		       "--timeout waits longer";
	if (step == CLEAT_STEP_AUTH)
		return fix_authorization(d, usual);
	if (step == CLEAT_STEP_HTTP && d->heard.status >= 500)
		return "the server, or a proxy before it, has a problem of its own: look into its log";
	return usual;
}

static void fail_start(struct doctor *d, bool program)
{
	enum cleat_step step = cleat_client_error_step(d->cli->client);
	const cleat_error *e = cleat_client_error(d->cli->client);
	const char *start = program ? "start" : "connection", *name = start, *fix = NULL,
		   *more = doctor_last_words(d), *message;
	int code = EXIT_OTHER;

	if (e->status == CLEAT_ETIMEOUT)
		step = CLEAT_STEP_TIMEOUT;
	for (size_t i = 0; i < CLEAT_COUNT(reasons); i++)
		if (reasons[i].step == step) {
			code = reasons[i].code;
			name = reasons[i].name ? reasons[i].name : start;
			fix = fix_for(d, step, program, reasons[i].fix);
		}
	if (step == CLEAT_STEP_AUTH && d->heard.challenge)
		more = keepf("\nWWW-Authenticate: %s", d->heard.challenge);
	/* One line may be the wrong one: the others, too, where there are any. */
	message = cli_in_options(e->message);
	if (strstr(message, "it said") && !strchr(more + (*more == '\n'), '\n'))
		more = "";
	doctor_step(d, DOCTOR_FAILED, code, name, fix, "%s%s", message, more);
}

static void step_tls(struct doctor *d)
{
	double days = difftime(d->heard.expires, time(NULL)) / 86400;
	const char *issuer = d->heard.issuer ? keepf(", signed by %s", d->heard.issuer) : "";

	if (cli_flag(d->cli, "insecure"))
		doctor_step(d, DOCTOR_WARNING, 0, "TLS", "leave --insecure out",
			    "encrypted, but the certificate was not checked%s", issuer);
	else if (!d->heard.expires)
		doctor_step(d, DOCTOR_OK, 0, "TLS", NULL, "the certificate is good%s", issuer);
	else
		doctor_step(d, days < SOON_DAYS ? DOCTOR_WARNING : DOCTOR_OK, 0, "TLS",
			    days < SOON_DAYS ? "renew the certificate" : NULL,
			    "the certificate is good for %.0f more days%s", days, issuer);
}

bool doctor_start(struct doctor *d, const struct target *t)
{
	int rc = cleat_client_start(d->cli->client);
	double ms, waited = 0;

	d->since = cli_ms_since_start();
	if (rc == CLEAT_OK)
		cli_wait(d->cli, &d->heard.told, -1);
	if (cli_interrupted())
		return false;
	if (!cleat_client_revision(d->cli->client)) {
		fail_start(d, t->argv != NULL);
		return false;
	}
	ms = cli_ms_since_start() - d->since;
	/* It was asked for what only newer servers know, and says nothing to what it does not know: that wait is ours. */
	if (d->heard.initialize_at > d->since && !d->heard.answered_probe) {
		waited = d->heard.initialize_at - d->since;
		ms -= waited;
	}
	if (t->url && strncasecmp(t->url, "https:", 6) == 0)
		step_tls(d);
	doctor_step(
		d, ms > SLOW_START_MS ? DOCTOR_WARNING : DOCTOR_OK, 0,
		t->url ? "connection" : "start",
		ms > SLOW_START_MS ? "programs wait for this each time: let it start faster" : NULL,
		"ready after %.1f ms%s", ms,
		waited * 10 > SLOW_START_MS
			? keepf(" (and %.1f s in which it did not answer server/discover, as is "
				"its right)",
				waited / 1e3)
			: "");
	return true;
}
