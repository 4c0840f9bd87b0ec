/* serve/danger.c - names of variables, and the options of interpreters (danger.h). */
#include "serve/danger.h"

#include <cleat/base.h>

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
		return "is no name for a variable (letters, digits and _, no digit first)";
	for (size_t i = 0; i < CLEAT_COUNT(reserved); i++) {
		struct str r = str_of(reserved[i]);
		bool all = r.p[r.n - 1] == '*';

		if (all ? name.n >= r.n - 1 && !memcmp(name.p, r.p, r.n - 1) : str_eq(name, r))
			return "would change how programs work; give the argument another name";
	}
	return NULL;
}

/* ---- scripts ------------------------------------------------------------------------------ */

static const struct interpreter {
	const char *name;  /* also with a version behind it: python3.11 */
	const char *eval;  /* options whose word is a script */
	const char *takes; /* options that take some other word */
} interpreters[] = {
	{ "sh", "c", "oO" },         { "bash", "c", "oO" },     { "dash", "c", "o" },
	{ "ash", "c", "o" },         { "zsh", "c", "o" },       { "ksh", "c", "o" },
	{ "mksh", "c", "o" },        { "yash", "c", "o" },      { "fish", "cC", "d" },
	{ "csh", "c", "" },          { "tcsh", "c", "" },       { "su", "c", "gGsw" },
	{ "runuser", "c", "ugGsw" }, { "python", "c", "WXQ" },  { "pypy", "c", "WXQ" },
	{ "perl", "eE", "IMm" },     { "ruby", "e", "IrC" },    { "node", "ep", "rC" },
	{ "nodejs", "ep", "rC" },    { "php", "rBRE", "dcz" },  { "lua", "e", "l" },
	{ "Rscript", "e", "" },      { "osascript", "e", "l" }, { "env", "S", "uC" },
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

static bool is_option(const char *word)
{
	return word && (word[0] == '-' || word[0] == '+') && word[1];
}

/* -c, -lc, --eval, --command */
static bool is_eval(const struct interpreter *in, const char *word)
{
	if (!strncmp(word, "--", 2))
		return !strncmp(word, "--eval", 6) || !strncmp(word, "--print", 7) ||
		       !strncmp(word, "--command", 9);
	return strpbrk(word + 1, in->eval) != NULL;
}

/* -o, and what follows it */
static bool takes_word(const struct interpreter *in, const char *option)
{
	return strncmp(option, "--", 2) != 0 && strchr(in->takes, option[strlen(option) - 1]);
}

size_t danger_script(const char *const *words)
{
	const struct interpreter *in = NULL;

	for (size_t i = 0; words[i]; i++) {
		if (in && is_option(words[i]) && is_eval(in, words[i])) {
			if (strchr(words[i], '='))
				return i;
			while (is_option(words[i + 1])) /* options may still follow -c */
				i++;
			return words[i + 1] ? i + 1 : 0;
		}
		if (in && is_option(words[i])) {
			if (takes_word(in, words[i]) && words[i + 1])
				i++;
		} else if (interpreter_of(words[i])) {
			in = interpreter_of(words[i]);
		} else if (in && (strcmp(in->name, "env") != 0 || !strchr(words[i], '='))) {
			in = NULL; /* a script's file, or a program: what follows is its own */
		}
	}
	return 0;
}
