/* program/serve/argument/danger.c - names of variables, and the options of interpreters (danger.h). */
#include "serve/argument/danger.h"

#include <cleat/base.h>

#include <limits.h>

enum { DANGER_WORDS_MAX = 1024 }; /* as program.c has it */

/* ---- variables ---------------------------------------------------------------------------- */

/* Variables that change how a shell, the loader or common programs work. A name that ends in '*' stands for
 * all that begin so. */
static const char *const reserved[] = {
	/* loader and C library */
	"LD_*",
	"DYLD_*",
	"GLIBC_*",
	"MALLOC_*",
	"GCONV_PATH",
	"GETCONF_DIR",
	"HOSTALIASES",
	"LOCALDOMAIN",
	"LOCPATH",
	"NIS_PATH",
	"NLSPATH",
	"RES_OPTIONS",
	"RESOLV_*",
	"TMPDIR",
	"TZ",
	"TZDIR",
	"LANG",
	"LANGUAGE",
	"LC_*",
	/* shells */
	"PATH",
	"HOME",
	"IFS",
	"ENV",
	"BASH*",
	"SHELL",
	"SHELLOPTS",
	"CDPATH",
	"GLOBIGNORE",
	"PS1",
	"PS2",
	"PS4",
	"PROMPT_COMMAND",
	"PWD",
	"OLDPWD",
	"FPATH",
	"ZDOTDIR",
	"HIST*",
	"MAIL",
	"MAILPATH",
	"OPTARG",
	"OPTIND",
	"PPID",
	"LINENO",
	"RANDOM",
	"UID",
	"EUID",
	"_",
	/* who we are */
	"USER",
	"LOGNAME",
	"TERM",
	"TERMINFO",
	"DISPLAY",
	"XDG_*",
	"DBUS_*",
	"SSH_*",
	"SUDO_*",
	/* interpreters and tools that run what a variable names */
	"PYTHON*",
	"PERL*",
	"RUBY*",
	"GEM_*",
	"NODE_*",
	"NPM_*",
	"JAVA_*",
	"JDK_*",
	"CLASSPATH",
	"LUA_*",
	"R_*",
	"PHP*",
	"GIT_*",
	"GUILE_*",
	"TCL*",
	"EDITOR",
	"VISUAL",
	"PAGER",
	"BROWSER",
	"LESS*",
	"MANPAGER",
	"AWKPATH",
	"AWKLIBPATH",
	"GREP_OPTIONS",
	"TAR_OPTIONS",
	"MAKE*",
	"OPENSSL_*",
	"SSL_CERT_*",
	"CURL_*",
	"HTTP_PROXY",
	"HTTPS_PROXY",
	"ALL_PROXY",
	"NO_PROXY",
	"http_proxy",
	"https_proxy",
	"all_proxy",
	"no_proxy",
	"KRB5*",
	"PG*",
	"AWS_*",
};

bool danger_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return s.n > 0;
}

const char *danger_variable(struct str name)
{
	if (!danger_is_name(name))
		return "is not a variable name (letters, digits and _, not starting with a digit)";
	for (size_t i = 0; i < CLEAT_COUNT(reserved); i++) {
		struct str r = str_of(reserved[i]);
		bool all = r.p[r.n - 1] == '*';

		if (all ? name.n >= r.n - 1 && !memcmp(name.p, r.p, r.n - 1) : str_eq(name, r))
			return "would change how programs work; give the argument another name";
	}
	return NULL;
}

/* ---- scripts ------------------------------------------------------------------------------ */

enum kind {
	BY_OPTION,  /* a script comes after an option; a word without one is a script's file */
	BY_WORD,    /* the first word is the script, unless an option gives it */
	BY_JOINING, /* all words together are a script for a shell, here or elsewhere */
	BY_NAME     /* env: what it runs, and which variables it sets */
};

static const struct interpreter {
	const char *name; /* also with a version after it: python3.11 */
	enum kind kind;
	const char *eval;  /* options whose word is a script */
	const char *takes; /* options that take some other word */
	const char *file;  /* options that take a script's file: then no word is a script */
	bool again;        /* more scripts may follow the first */
} interpreters[] = {
	{ "sh", BY_OPTION, "c", "oO", "", false },
	{ "bash", BY_OPTION, "c", "oO", "", false },
	{ "dash", BY_OPTION, "c", "o", "", false },
	{ "ash", BY_OPTION, "c", "o", "", false },
	{ "zsh", BY_OPTION, "c", "o", "", false },
	{ "ksh", BY_OPTION, "c", "o", "", false },
	{ "mksh", BY_OPTION, "c", "o", "", false },
	{ "yash", BY_OPTION, "c", "o", "", false },
	{ "fish", BY_OPTION, "cC", "d", "", true },
	{ "csh", BY_OPTION, "c", "", "", false },
	{ "tcsh", BY_OPTION, "c", "", "", false },
	{ "su", BY_OPTION, "c", "gGsw", "", false },
	{ "runuser", BY_OPTION, "c", "ugGsw", "", false },
	{ "script", BY_OPTION, "c", "EIOBTmo", "", false },
	{ "flock", BY_OPTION, "c", "wE", "", false },
	{ "python", BY_OPTION, "c", "WXQ", "", false },
	{ "pypy", BY_OPTION, "c", "WXQ", "", false },
	{ "perl", BY_OPTION, "eE", "IMmCDFilx0V", "", true },
	{ "ruby", BY_OPTION, "e", "IrCEFTWx0", "", true },
	{ "node", BY_OPTION, "ep", "rC", "", true },
	{ "nodejs", BY_OPTION, "ep", "rC", "", true },
	{ "php", BY_OPTION, "rBRE", "dczF", "", true },
	{ "lua", BY_OPTION, "e", "l", "", true },
	{ "Rscript", BY_OPTION, "e", "", "", true },
	{ "osascript", BY_OPTION, "e", "l", "", true },
	{ "awk", BY_WORD, "e", "vFilo", "f", true },
	{ "gawk", BY_WORD, "e", "vFilo", "fE", true },
	{ "mawk", BY_WORD, "", "vFW", "f", true },
	{ "sed", BY_WORD, "e", "l", "f", true },
	{ "gsed", BY_WORD, "e", "l", "f", true },
	{ "ssh", BY_JOINING, "", "", "", false },
	{ "watch", BY_JOINING, "", "", "", false },
	{ "parallel", BY_JOINING, "", "", "", false },
	{ "env", BY_NAME, "S", "uC", "", true },
};

static const struct interpreter *interpreter_of(const char *word)
{
	const char *slash = strrchr(word, '/');

	word = slash ? slash + 1 : word;
	for (size_t i = 0; i < CLEAT_COUNT(interpreters); i++) {
		size_t n = strlen(interpreters[i].name);

		if (!strncmp(word, interpreters[i].name, n) &&
		    strspn(word + n, "0123456789.-") == strlen(word + n))
			return &interpreters[i];
	}
	return NULL;
}

/* Could the word be an option, once its places are filled? */
static bool may_be_option(const char *word)
{
	return word && (((word[0] == '-' || word[0] == '+') && word[1]) ||
			(word[0] == '{' && strstr(word, ":dash}")));
}

/* What an option says about what follows it. */
enum says { NOTHING, SCRIPT, WORD, PERHAPS_WORD, FILE_OF_SCRIPT };

static enum says long_option(const char *word)
{
	static const char *const scripts[] = { "--eval",           "--print",  "--command",
					       "--expression",     "--source", "--split-string",
					       "--session-command" };

	if (strchr(word, '=') || !word[2])
		return NOTHING; /* what it takes is here, and has no place */
	for (size_t i = 0; i < CLEAT_COUNT(scripts); i++)
		if (!strcmp(word, scripts[i]))
			return SCRIPT;
	return strcmp(word, "--file") ? PERHAPS_WORD : FILE_OF_SCRIPT;
}

/* A cluster of letters: the first that takes something takes the rest of the word, or the next one. */
static enum says option_says(const struct interpreter *in, const char *word)
{
	enum says said = NOTHING;

	if (!strncmp(word, "--", 2))
		return long_option(word);
	for (const char *p = word + 1; *p; p++) {
		if (strchr(in->file, *p))
			return FILE_OF_SCRIPT;
		if (strchr(in->takes, *p))
			return said == SCRIPT || p[1] ? said : WORD;
		if (strchr(in->eval, *p))
			said = SCRIPT; /* of a shell further letters may follow: -ce */
	}
	return said;
}

/* Behind an option for a script, at `i`: where the script stands. */
static size_t script_at(const char *const *words, const bool *places, size_t i)
{
	while (may_be_option(words[i]) && !places[i])
		i++;
	return i;
}

/* A word that is not an option: does an argument in it do harm? */
static bool is_harmful(const struct interpreter *in, const char *word)
{
	size_t name = strcspn(word, "=");

	if (in->kind == BY_WORD)
		return true;
	return in->kind == BY_NAME &&
	       (strcspn(word, "{") < name || danger_variable((struct str){ word, name }));
}

/* One command behind an interpreter, from `i` on. The index of the harmful word, or 0; *ret_next: where to go
 * on looking for interpreters. */
static size_t look_behind(const struct interpreter *in, const char *const *words,
			  const bool *places, size_t i, size_t *ret_next)
{
	bool perhaps_word = false, has_script = false;

	for (; words[i]; i++) {
		if (may_be_option(words[i])) {
			enum says said = places[i] ? SCRIPT : option_says(in, words[i]);

			if (places[i])
				return i;
			perhaps_word = said == PERHAPS_WORD;
			has_script = has_script || said == SCRIPT || said == FILE_OF_SCRIPT;
			if (said == SCRIPT)
				i = script_at(words, places, i + 1);
			else if (said == WORD || said == FILE_OF_SCRIPT)
				i++;
			if (said == SCRIPT && words[i] && places[i])
				return i;
			if (!words[i] || (said == SCRIPT && !in->again))
				break;
			continue;
		}
		if (places[i] && !has_script && is_harmful(in, words[i]))
			return i;
		if (in->kind == BY_NAME && strchr(words[i], '='))
			continue;
		if (!perhaps_word || interpreter_of(words[i]))
			break; /* a file or a program: what follows is its own */
		perhaps_word = false;
	}
	*ret_next = i;
	return 0;
}

/* ssh takes one word for itself; with the others it makes a script of all. */
static size_t look_joined(const struct interpreter *in, const char *const *words,
			  const bool *places, size_t i)
{
	bool host = strcmp(in->name, "ssh") == 0;

	for (; words[i]; i++) {
		if (places[i] &&
		    !(host && !may_be_option(words[i]) && !may_be_option(words[i - 1])))
			return i;
		if (host && !may_be_option(words[i]) && !may_be_option(words[i - 1]))
			host = false;
	}
	return 0;
}

/* ---- programs that run others --------------------------------------------------------------- */

/* Programs that run another: a "--" before its name ends their own options, not those of the other. */
static const struct wrapper {
	const char *name;
	unsigned own; /* words that it takes before the program's name, options aside */
} wrappers[] = {
	{ "env", 0 },
	{ "sudo", 0 },
	{ "doas", 0 },
	{ "nice", 0 },
	{ "ionice", 0 },
	{ "nohup", 0 },
	{ "setsid", 0 },
	{ "stdbuf", 0 },
	{ "time", 0 },
	{ "xargs", 0 },
	{ "strace", 0 },
	{ "ltrace", 0 },
	{ "unshare", 0 },
	{ "nsenter", 0 },
	{ "setpriv", 0 },
	{ "prlimit", 0 },
	{ "systemd-run", 0 },
	{ "firejail", 0 },
	{ "bwrap", 0 },
	{ "runuser", 0 },
	{ "timeout", 1 },
	{ "chroot", 1 },
	{ "flock", 1 },
	{ "taskset", 1 },
	{ "chrt", 1 },
	{ "docker", 2 },
	{ "podman", 2 },
	/* these have words of all kinds before it */
	{ "kubectl", UINT_MAX },
	{ "oc", UINT_MAX },
	{ "npm", UINT_MAX },
	{ "npx", UINT_MAX },
	{ "pnpm", UINT_MAX },
	{ "yarn", UINT_MAX },
	{ "bun", UINT_MAX },
	{ "cargo", UINT_MAX },
	{ "uv", UINT_MAX },
	{ "nix", UINT_MAX },
	{ "dotnet", UINT_MAX },
	{ "poetry", UINT_MAX },
};

static const struct wrapper *wrapper_of(const char *word)
{
	const char *slash = word ? strrchr(word, '/') : NULL;

	word = slash ? slash + 1 : word;
	for (size_t i = 0; word && i < CLEAT_COUNT(wrappers); i++)
		if (!strcmp(word, wrappers[i].name))
			return &wrappers[i];
	return NULL;
}

/* The words of a program that may run another. *ret_dashes: the "--" that ends the options of the last; n: none.
 * Gives the word that names a program and is an argument (words[i] NULL), or 0. */
static size_t look_wrapped(const char *const *words, size_t n, size_t *ret_dashes)
{
	const struct wrapper *in = n ? wrapper_of(words[0]) : NULL;
	size_t behind = 0; /* an option: this may be what it takes, or the program */
	unsigned own = 0;
	bool value = false;

	*ret_dashes = n;
	for (size_t i = 1; i < n; i++) {
		const char *z = words[i];

		if (z && !strcmp(z, "--")) {
			if (!in) {
				*ret_dashes = i;
				return 0;
			}
			value = false;
			if (in->own != UINT_MAX && own < in->own)
				continue; /* its own words follow: timeout -- 5 ls */
			if (i + 1 < n && !words[i + 1] && in->own != UINT_MAX)
				return i + 1;
			in = i + 1 < n ? wrapper_of(words[++i]) : NULL;
			own = 0;
		} else if (z && z[0] == '-') {
			value = true;
		} else if (value || (z && strchr(z, '='))) {
			behind = z ? behind : i;
			value = false;
		} else if (in && own++ == in->own) { /* the program that it runs */
			if (!z)
				return i;
			in = wrapper_of(z);
			own = 0;
			behind = 0;
		}
	}
	return in && in->own == own ? behind : 0;
}

size_t danger_dashes(const char *const *words, size_t n)
{
	size_t dashes;

	look_wrapped(words, n, &dashes);
	return dashes;
}

/* The word of an argument that a wrapper would run; 0: none. */
static size_t chosen_program(const char *const *words, const bool *places)
{
	const char *seen[DANGER_WORDS_MAX];
	size_t n = 0, dashes;

	for (; n < DANGER_WORDS_MAX && words[n]; n++)
		seen[n] = places[n] && words[n][0] == '{' ? NULL : words[n];
	return look_wrapped(seen, n, &dashes);
}

/* ---- all of it ------------------------------------------------------------------------------- */

size_t danger_script(const char *const *words, const bool *places)
{
	size_t found = 0, next;

	for (size_t i = 0; words[i] && !found; i = next) {
		const struct interpreter *in = interpreter_of(words[i]);

		next = i + 1;
		if (in && in->kind == BY_JOINING)
			return look_joined(in, words, places, i + 1);
		if (in)
			found = look_behind(in, words, places, i + 1, &next);
	}
	return found ? found : chosen_program(words, places);
}
