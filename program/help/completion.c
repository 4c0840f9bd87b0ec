/* program/help/completion.c - `cleat completion SHELL`: completions, made of the tables of the verbs.
 *
 * Servers and names are completed live: by `cleat ls --names`, of the configuration files and of the server
 * that stands on the line. What comes from there may be anybody's: no shell is given it to expand. A
 * command that was only typed is never run for this, so after "--" there are no names.
 */
#include "cli/run.h"
#include "text/text.h"

#include <string.h>

/* What comes after SERVER, as `cleat ls` is asked for it; NULL: nothing that can be listed. */
static const char *listed_by(const struct verb *v)
{
	static const struct {
		const char *verb, *options;
	} known[] = {
		{ "call", "--tools" },     { "show", "--all" },        { "prompt", "--prompts" },
		{ "read", "--resources" }, { "watch", "--resources" }, { "complete", "--prompts" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (strcmp(known[i].verb, v->name) == 0)
			return known[i].options;
	return NULL;
}

static void put_verbs(const char *between)
{
	for (size_t i = 0, n = 0; cli_verbs[i]; i++)
		if (!cli_verbs[i]->hidden)
			printf("%s%s", n++ ? between : "", cli_verbs[i]->name);
}

/* The options of a verb (NULL: those before it), or those only that take a value. */
static void put_options(const struct verb *v, bool valued)
{
	struct cli_list list;
	size_t n = 0;

	for (size_t i = 0; cli_lists(v, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name; o++) {
			if (valued && !o->arg)
				continue;
			printf("%s--%s", n++ ? " " : "", o->name);
			if (valued && o->letter)
				printf(" -%c", o->letter);
		}
}

static void put_choices(const char *choices)
{
	for (; *choices; choices++)
		putchar(*choices == '|' ? ' ' : *choices);
}

/* ---- bash ---------------------------------------------------------------------------------------- */

/* bash cuts words at : and =, which addresses and arguments have inside, and replaces what comes after the
 * last of those only. compgen -W would expand what a server says. */
static const char bash_head[] =
	"# bash completion for cleat: eval \"$(cleat completion bash)\"\n"
	"_cleat_offer() {\n"
	"\tlocal word quoted cut=\n"
	"\t[[ $COMP_WORDBREAKS == *:* && $cur == *:* ]] && cut=${cur%\"${cur##*:}\"}\n"
	"\t[[ $COMP_WORDBREAKS == *=* && $cur == *=* ]] && cut=${cur%\"${cur##*[=:]}\"}\n"
	"\tfor word; do\n"
	"\t\tword=$before$word\n"
	"\t\t[[ -n $word && $word == \"$cur\"* ]] || continue\n"
	"\t\tprintf -v quoted %q \"${word#\"$cut\"}\"\n"
	"\t\tCOMPREPLY+=(\"$quoted\")\n"
	"\tdone\n"
	"}\n"
	"_cleat_lines() {\n"
	"\tlocal -a lines\n"
	"\tmapfile -t lines < <(cleat \"$@\" 2>/dev/null </dev/null)\n"
	"\t_cleat_offer \"${lines[@]}\"\n"
	"}\n"
	"_cleat_files() {\n"
	"\tlocal -a lines\n"
	"\tmapfile -t lines < <(compgen \"$1\" -- \"${cur#\"$before\"}\")\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tCOMPREPLY=(\"${lines[@]}\")\n"
	"}\n"
	"_cleat() {\n"
	"\tlocal cur verb= server= named= option= options valued i word before= rest=$COMP_LINE IFS=$' \\t\\n'\n"
	"\tlocal -a words=()\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 0; i <= COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif [[ $i -eq 0 || $rest == [[:space:]]* ]]; then words+=(\"$word\"); else words[-1]+=$word; fi\n"
	"\t\trest=${rest#\"${rest%%[![:space:]]*}\"}\n"
	"\t\trest=${rest#\"$word\"}\n"
	"\tdone\n"
	"\tcur=${words[-1]}\n";

static const char bash_walk[] =
	"\tfor ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
	"\t\tword=${words[i]}\n"
	"\t\toption=\n"
	"\t\tcase $word in\n"
	"\t\t--) _cleat_files -f; return ;;\n"
	"\t\t--*=*) ;;\n"
	"\t\t-*) [[ \" $valued \" == *\" $word \"* ]] && { option=$word; ((i++)); } ;;\n"
	"\t\t*)\n"
	"\t\t\tif [[ -z $verb ]]; then verb=$word; _cleat_verb\n"
	"\t\t\telif [[ -z $server ]]; then server=$word\n"
	"\t\t\telse named=1; fi ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t[[ $i -ge ${#words[@]} ]] || option=\n"
	"\t[[ $cur == --*=* ]] && { option=${cur%%=*}; before=$option=; }\n"
	"\tif [[ -n $option ]]; then _cleat_value; return; fi\n"
	"\tif [[ $cur == -* ]]; then _cleat_offer $options; return; fi\n";

static const char bash_tail[] =
	"\t[[ -z $server ]] && case $verb in\n"
	"\tcompletion) _cleat_offer bash zsh fish; return ;;\n"
	"\t*) [[ -n $takes_server ]] && _cleat_lines ls --names -q; return ;;\n"
	"\tesac\n"
	"\tif [[ -z $listed || -n $named ]]; then _cleat_files -f; return; fi\n"
	"\tcase $server in\n"
	"\t*[\\'\\\"\\\\\\$\\`]*) ;;\n"
	"\t*://* | unix:* | unix-stream:*) _cleat_lines ls $listed --names -q --timeout 5s \"$server\" ;;\n"
	"\t*/*) ;;\n"
	"\t*) _cleat_lines ls $listed --names -q --timeout 5s \"$server\" ;;\n"
	"\tesac\n"
	"}\n"
	"complete -F _cleat cleat";

/* What follows an option: its choices, or a file. */
static void bash_values(void)
{
	puts("_cleat_value() {\n\tcase $verb$option in");
	for (size_t k = 0; cli_verbs[k]; k++) {
		struct cli_list list;

		for (size_t i = 0; cli_lists(cli_verbs[k], i, &list); i++)
			for (const struct cli_option *o = list.options; o->name; o++) {
				if (!o->choices)
					continue;
				printf("\t%s--%s) _cleat_offer ", cli_verbs[k]->name, o->name);
				put_choices(o->choices);
				puts("; return ;;");
			}
	}
	puts("\tesac\n\tcase $option in");
	for (size_t k = 0; cli_verbs[k]; k++) {
		struct cli_list list;

		for (size_t i = 0; cli_lists(cli_verbs[k], i, &list); i++)
			for (const struct cli_option *o = list.options; o->name; o++)
				if (o->arg &&
				    (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0)) {
					printf("\t--%s", o->name);
					if (o->letter)
						printf(" | -%c", o->letter);
					printf(") _cleat_files %s ;;\n",
					       *o->arg == 'F' ? "-f" : "-d");
				}
	}
	puts("\tesac\n}");
}

static int bash(void)
{
	fputs(bash_head, stdout);
	fputs("\tlocal takes_server= listed=\n\toptions='", stdout);
	put_options(NULL, false);
	fputs("' valued='", stdout);
	put_options(NULL, true);
	puts("'");
	fputs(bash_walk, stdout);
	fputs("\tif [[ -z $verb ]]; then _cleat_offer ", stdout);
	put_verbs(" ");
	fputs("; return; fi\n\tif [[ $verb == help ]]; then _cleat_offer ", stdout);
	put_verbs(" ");
	puts("; return; fi");
	puts(bash_tail);
	puts("_cleat_verb() {\n\tcase $verb in");
	for (size_t i = 0; cli_verbs[i]; i++) {
		const char *listed = listed_by(cli_verbs[i]);

		printf("\t%s)\n\t\toptions='", cli_verbs[i]->name);
		put_options(cli_verbs[i], false);
		fputs("'\n\t\tvalued='", stdout);
		put_options(cli_verbs[i], true);
		printf("'\n\t\ttakes_server=%s listed=%s ;;\n",
		       cli_verbs[i]->groups & CLI_SERVER ? "1" : "", listed ? listed : "");
	}
	puts("\tesac\n}");
	bash_values();
	return EXIT_GOOD;
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

/* Text inside of '...[text]...'. */
static void zsh_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *s))
			printf("\\%c", *s);
		else
			putchar(*s);
	}
}

/* One spelling of an option. */
static void zsh_option(const struct cli_option *o, const char *spelling)
{
	printf("\t\t%s'%s[", o->repeat ? "\\*" : "", spelling);
	zsh_text(o->help);
	putchar(']');
	if (o->arg) {
		putchar(':');
		zsh_text(o->arg);
		putchar(':');
	}
	if (o->choices) {
		putchar('(');
		put_choices(o->choices);
		putchar(')');
	} else if (o->arg && strcmp(o->arg, "FILE") == 0) {
		fputs("_files", stdout);
	} else if (o->arg && strcmp(o->arg, "DIR") == 0) {
		fputs("_files -/", stdout);
	}
	puts("' \\");
}

static void zsh_verb(const struct verb *v)
{
	const char *listed = listed_by(v);
	struct cli_list list;

	printf("\t%s)\n", v->name);
	if (listed)
		printf("\t\tlisted='%s'\n", listed);
	puts("\t\t_arguments -s -S -C \\");
	for (size_t i = 0; cli_lists(v, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name; o++) {
			zsh_option(o, keepf("--%s%s", o->name, o->arg ? "=" : ""));
			if (o->letter)
				zsh_option(o, keepf("-%c%s", o->letter, o->arg ? "+" : ""));
		}
	if (v->groups & CLI_SERVER)
		puts("\t\t'1:server:->servers' \\");
	if (listed)
		puts("\t\t'2:name:->names' \\");
	if (strcmp(v->name, "completion") == 0)
		puts("\t\t'1:shell:(bash zsh fish)' \\");
	if (strcmp(v->name, "help") == 0) {
		fputs("\t\t'1:verb:(", stdout);
		put_verbs(" ");
		puts(")' \\");
	}
	puts("\t\t'*:word:_files' && return 0 ;;");
}

static int zsh(void)
{
	puts("#compdef cleat\n"
	     "# zsh completion for cleat: cleat completion zsh > ~/.zfunc/_cleat, or\n"
	     "# eval \"$(cleat completion zsh)\" behind compinit\n"
	     "_cleat_lines() {\n"
	     "\tlocal -a lines\n"
	     "\tlines=(${(f)\"$(cleat \"$@\" 2>/dev/null </dev/null)\"})\n"
	     "\tcompadd -a lines\n"
	     "}\n"
	     "_cleat() {\n"
	     "\tlocal context state state_descr curcontext=$curcontext listed=\n"
	     "\tlocal -a line verbs\n"
	     "\tlocal -A opt_args\n"
	     "\tverbs=(");
	for (size_t i = 0; cli_verbs[i]; i++) {
		if (cli_verbs[i]->hidden)
			continue;
		printf("\t\t'%s:", cli_verbs[i]->name);
		zsh_text(cli_verbs[i]->summary);
		puts("'");
	}
	puts("\t)\n"
	     "\tif (( CURRENT == 2 )); then _describe verb verbs; return; fi\n"
	     "\tif (( ${words[(i)--]} < CURRENT )); then _files; return; fi\n"
	     "\tlocal verb=${words[2]}\n"
	     "\tshift words; (( CURRENT-- ))\n"
	     "\tcase $verb in");
	for (size_t k = 0; cli_verbs[k]; k++)
		zsh_verb(cli_verbs[k]);
	puts("\tesac\n"
	     "\tcase $state in\n"
	     "\tservers) _cleat_lines ls --names -q ;;\n"
	     "\tnames)\n"
	     "\t\tlocal server=${(Q)line[1]}\n"
	     "\t\t[[ $server == *://* || $server == unix:* || $server != */* ]] &&\n"
	     "\t\t\t_cleat_lines ls $listed --names -q --timeout 5s \"$server\" ;;\n"
	     "\tesac\n"
	     "}\n"
	     "if [[ $funcstack[1] == _cleat ]]; then _cleat \"$@\"; else compdef _cleat cleat; fi");
	return EXIT_GOOD;
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void fish_text(const char *s)
{
	putchar('\'');
	for (; *s; s++)
		printf(*s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
	putchar('\'');
}

static void fish_option(const char *verb, const struct cli_option *o)
{
	printf("complete -c cleat -n '__cleat_is %s' -l %s", verb, o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->choices) {
		fputs(" -x -a '", stdout);
		put_choices(o->choices);
		putchar('\'');
	} else if (o->arg) {
		fputs(strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0 ? " -r -F" : " -x",
		      stdout);
	}
	fputs(" -d ", stdout);
	fish_text(o->help);
	putchar('\n');
}

/* The words that are no options and no values of options: a verb, a server, a name. */
static void fish_words(void)
{
	fputs("function __cleat_words\n"
	      "\tset -l words\n"
	      "\tset -l valued ",
	      stdout);
	put_options(NULL, true);
	puts("\n"
	     "\tset -l skip 0\n"
	     "\tfor word in (commandline -opc)[2..-1]\n"
	     "\t\tif test $skip -eq 1\n"
	     "\t\t\tset skip 0\n"
	     "\t\telse if test \"$word\" = --\n"
	     "\t\t\tset words $words -- --\n"
	     "\t\t\tbreak\n"
	     "\t\telse if string match -q -- '-*' $word\n"
	     "\t\t\tcontains -- $word $valued; and set skip 1\n"
	     "\t\telse\n"
	     "\t\t\tset -a words $word\n"
	     "\t\t\tif test (count $words) -eq 1\n"
	     "\t\t\t\tswitch $word");
	for (size_t k = 0; cli_verbs[k]; k++) {
		printf("\t\t\t\tcase %s\n\t\t\t\t\tset valued ", cli_verbs[k]->name);
		put_options(cli_verbs[k], true);
		putchar('\n');
	}
	puts("\t\t\t\tend\n"
	     "\t\t\tend\n"
	     "\t\tend\n"
	     "\tend\n"
	     "\tstring join -- \\n $words\n"
	     "end");
}

static void fish_verb(const struct verb *v)
{
	const char *listed = listed_by(v);
	struct cli_list list;

	if (!v->hidden) {
		printf("complete -c cleat -n '__cleat_at 0' -a %s -d ", v->name);
		fish_text(v->summary);
		putchar('\n');
	}
	for (size_t i = 0; cli_lists(v, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name; o++)
			fish_option(v->name, o);
	if (v->groups & CLI_SERVER)
		printf("complete -c cleat -n '__cleat_at 1 %s' -a '(cleat ls --names -q "
		       "2>/dev/null)'\n",
		       v->name);
	if (listed)
		printf("complete -c cleat -n '__cleat_at 2 %s' -a '(__cleat_names %s)'\n", v->name,
		       listed);
}

static int fish(void)
{
	puts("# fish completion for cleat: cleat completion fish > ~/.config/fish/completions/cleat.fish\n"
	     "complete -c cleat -f");
	fish_words();
	puts("function __cleat_is\n"
	     "\tset -l words (__cleat_words)\n"
	     "\ttest \"$words[1]\" = $argv[1]; and not contains -- -- $words\n"
	     "end\n"
	     "function __cleat_at\n"
	     "\tset -l words (__cleat_words)\n"
	     "\ttest (count $words) -eq $argv[1]; and not contains -- -- $words; or return 1\n"
	     "\ttest (count $argv) -eq 1; or test \"$words[1]\" = $argv[2]\n"
	     "end\n"
	     "function __cleat_names\n"
	     "\tset -l words (__cleat_words)\n"
	     "\tif string match -q -- '*/*' $words[2]; and not string match -qr -- '://|^unix' $words[2]\n"
	     "\t\treturn\n"
	     "\tend\n"
	     "\tcleat ls $argv --names -q --timeout 5s $words[2] 2>/dev/null </dev/null\n"
	     "end\n"
	     "function __cleat_free\n"
	     "\tset -l words (__cleat_words)\n"
	     "\ttest (count $words) -gt 2; or contains -- -- $words\n"
	     "end\n"
	     "complete -c cleat -n __cleat_free -F");
	for (size_t k = 0; cli_verbs[k]; k++)
		fish_verb(cli_verbs[k]);
	fputs("complete -c cleat -n '__cleat_at 1 completion' -a 'bash zsh fish'\n"
	      "complete -c cleat -n '__cleat_at 1 help' -a '",
	      stdout);
	put_verbs(" ");
	puts("'");
	return EXIT_GOOD;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static int completion_run(struct cli *cli)
{
	const char *shell = cli->argc == 1 ? cli->argv[0] : "";

	if (strcmp(shell, "bash") == 0)
		return bash();
	if (strcmp(shell, "zsh") == 0)
		return zsh();
	if (strcmp(shell, "fish") == 0)
		return fish();
	return cli_usage(cli, "for which shell: bash, zsh or fish?");
}

static const char *const usage[] = { "completion bash|zsh|fish", NULL };
static const struct cli_example examples[] = {
	{ "cleat completion bash", "for ~/.bashrc: eval \"$(cleat completion bash)\"" },
	{ "cleat completion fish", "for ~/.config/fish/completions/cleat.fish" },
	{ 0 },
};

const struct verb verb_completion = {
	.name = "completion",
	.summary = "print completions for a shell",
	.usage = usage,
	.about =
		"Verbs, options and their values are completed, servers from the configuration files, and "
		"names of tools, prompts and resources from the server named on the line: an address or "
		"a name. A command after -- is not run for this.",
	.examples = examples,
	.run = completion_run,
};
