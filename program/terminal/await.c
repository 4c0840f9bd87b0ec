/* program/terminal/await.c - waits for a call: shows its progress, and gives it up on Ctrl-C.
 *
 * The first Ctrl-C (or SIGTERM) cancels what is under way, so that the server hears of it and the child
 * ends as it should; the second ends the program at once, with it the child: the library sees to that.
 */
#include "terminal/await.h"

#include "text/print.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GIVE_UP_MS = 3000, SILENCE_MS = 7000, BAR = 24 };

/* ---- signals ------------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals, last_signal;
static cleat_loop *volatile signal_loop;
static int signal_pipe[2] = { -1, -1 };

static void on_signal(int number)
{
	int saved = errno;

	if (signals++)
		_exit(128 + number);
	last_signal = number;
	if (write(signal_pipe[1], "!", 1) < 0)
		last_signal = number; /* the pipe is full: it is readable anyway */
	if (signal_loop)
		cleat_loop_wake(signal_loop);
	errno = saved;
}

void await_signals(cleat_loop *loop)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal };

	signal_loop = loop;
	if (signal_pipe[0] >= 0 || pipe(signal_pipe) != 0)
		return;
	for (int i = 0; i < 2; i++) {
		fcntl(signal_pipe[i], F_SETFD, FD_CLOEXEC);
		fcntl(signal_pipe[i], F_SETFL, O_NONBLOCK);
	}
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < CLEAT_COUNT(numbers); i++) {
		struct sigaction old;

		/* nohup, and shells that start something in the background, say what to ignore. */
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &act, NULL);
	}
}

void await_forgive(void)
{
	char drop[16];

	while (signal_pipe[0] >= 0 && read(signal_pipe[0], drop, sizeof drop) > 0)
		continue;
	signals = 0;
	last_signal = 0;
}

bool cli_interrupted(void)
{
	return signals > 0;
}

int cli_interrupted_code(void)
{
	return last_signal ? 128 + last_signal : EXIT_INTERRUPTED;
}

int cli_interrupt_fd(void)
{
	return signal_pipe[0];
}

/* ---- waiting ------------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* When whoever waits is told that there is nothing yet: a server that says nothing must not look like a program that
 * hangs. */
static int64_t silence_ms(const struct cli *cli)
{
	const char *text = cli_option(cli, "timeout");
	uint64_t ms;

	return text && cli_duration(text, &ms) && ms / 2 < SILENCE_MS ? (int64_t)ms / 2
								      : SILENCE_MS;
}

static bool is_silent(const struct cli *cli)
{
	return cli->client && !cleat_client_revision(cli->client);
}

static void wait_until(struct cli *cli, const bool *done, int timeout_ms, bool stop_on_signal)
{
	int64_t until = now_ms() + timeout_ms, told = now_ms() + silence_ms(cli);

	while (!*done && !(stop_on_signal && cli_interrupted())) {
		int64_t now = now_ms(), left = timeout_ms < 0 ? -1 : until - now;

		if (timeout_ms >= 0 && left <= 0)
			return;
		if (told && is_silent(cli) && now >= told) {
			cli_note(cli, "no answer from the server yet; still waiting (Ctrl-C ends, "
				      "--timeout TIME says how long)");
			told = 0;
		} else if (told && is_silent(cli) && (left < 0 || told - now < left)) {
			left = told - now;
		}
		if (cleat_loop_step(cli->loop, (int)left) != CLEAT_OK)
			return;
	}
}

void cli_wait(struct cli *cli, const bool *done, int timeout_ms)
{
	wait_until(cli, done, timeout_ms, true);
}

/* ---- progress ------------------------------------------------------------------------------------ */

static struct {
	bool shown, hidden; /* hidden: await_restore() puts it back */
	double done, total;
	char *message;
} bar;

static struct {
	void (*hide)(void), (*show)(void);
} prompt;

static bool wants_bar(const struct cli *cli)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0 && !cli->quiet &&
	       !cli->verbose && !cli->json;
}

void await_clear(void)
{
	if (bar.shown)
		fputs("\r\033[K", stderr);
	bar.hidden = bar.hidden || bar.shown;
	bar.shown = false;
	if (prompt.hide)
		prompt.hide();
}

void await_prompt(void (*hide)(void), void (*show)(void))
{
	prompt.hide = hide;
	prompt.show = show;
}

/* "[########                ]  33% message", as much of it as the terminal has room for. */
static void draw(double done, double total, const char *message)
{
	size_t room = print_room(stderr), used;
	char line[64];

	fputs("\r\033[K", stderr);
	bar.shown = true;
	bar.hidden = false;
	if (total > 0) {
		double part = done < 0 ? 0 : done > total ? 1 : done / total;
		int wide = room > 2 * BAR ? BAR : BAR / 3, full = (int)(part * wide);

		used = (size_t)snprintf(line, sizeof line, "[%.*s%*s] %3d%% ", full,
					"########################", wide - full, "",
					(int)(part * 100));
	} else {
		used = (size_t)snprintf(line, sizeof line, "%d ", (int)(done > 2e9 ? 2e9 : done));
	}
	fputs(line, stderr);
	if (used + 1 < room)
		print_safe(stderr, message, print_fit(message, room - used - 1));
	fflush(stderr);
}

void await_restore(void)
{
	if (bar.hidden)
		draw(bar.done, bar.total, bar.message ? bar.message : "");
	if (prompt.show)
		prompt.show();
}

static void forget_bar(void)
{
	await_clear();
	free(bar.message);
	bar.message = NULL;
	bar.hidden = false;
}

/* ---- calls --------------------------------------------------------------------------------------- */

struct waiting {
	struct cli *cli;
	cleat_result *result;
	bool done;
};

static cleat_call *current;

void await_give_up(void)
{
	if (current)
		cleat_call_cancel(current);
}

static void on_progress(cleat_call *call, double done, double total, const char *message)
{
	const struct waiting *w = cleat_call_userdata(call);

	if (!wants_bar(w->cli))
		return;
	free(bar.message);
	bar.message = strdup(message);
	bar.done = done;
	bar.total = total;
	draw(done, total, message);
}

static void await_on_done(cleat_call *call, cleat_result *result)
{
	struct waiting *w = cleat_call_userdata(call);

	w->result = result;
	w->done = true;
	current = NULL;
}

static cleat_result *await_finish(struct waiting *w, cleat_call *call)
{
	if (!call)
		return NULL;
	if (!w->done)
		current = call;
	wait_until(w->cli, &w->done, -1, true);
	if (!w->done && current) {
		cleat_call_cancel(current);
		wait_until(w->cli, &w->done, GIVE_UP_MS, false);
	}
	forget_bar();
	return w->result;
}

static cleat_call_options options(struct cli *cli, struct waiting *w)
{
	*w = (struct waiting){ .cli = cli };
	return (cleat_call_options){ .on_done = await_on_done,
				     .on_progress = on_progress,
				     .no_cache = cli_flag(cli, "no-cache"),
				     .userdata = w };
}

cleat_result *cli_await(struct cli *cli, const char *method, const cleat_json *params)
{
	struct waiting *w = keep_alloc(sizeof *w);
	cleat_call_options o = options(cli, w);

	/* Whoever asks for this wants an answer, not what is known. */
	o.no_cache = o.no_cache || strcmp(method, "server/discover") == 0;
	if (!params)
		return await_finish(w, cleat_client_start_requestf(cli->client, &o, method, NULL));
	return await_finish(
		w, cleat_client_start_requestf(cli->client, &o, method, "%p", (void *)params));
}

cleat_result *cli_await_list(struct cli *cli, enum cleat_list what)
{
	struct waiting *w = keep_alloc(sizeof *w);
	cleat_call_options o = options(cli, w);

	return await_finish(w, cleat_client_start_list(cli->client, &o, what));
}

int cli_say_interrupted(const struct cli *cli)
{
	return cli_error_at(cli, cli_interrupted_code(), NULL, 0, 0, "interrupted");
}
