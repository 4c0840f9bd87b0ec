/* cli/completion.c - `cleat completion SHELL`: completions, made of the tables of the verbs.
 *
 * Servers and tools are completed live: by `cleat ls --names`, of the configuration files and of the server
 * that stands on the line.
 */
#include "cli.h"
#include "text.h"

#include <string.h>

static bool takes_tool(const struct verb *v)
{
	return strcmp(v->name, "call") == 0 || strcmp(v->name, "show") == 0;
}

/* ---- bash ---------------------------------------------------------------------------------------- */

static void bash_words(const struct verb *v)
{
	struct cli_list list;

	for (size_t i = 0; cli_lists(v, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name; o++)
			printf("%s--%s", i || o != list.options ? " " : "", o->name);
}

/* What follows an option: its choices, or a file. */
static void bash_values(void)
{
	struct words done = { 0 };
	struct cli_list list;

	for (size_t k = 0; cli_verbs[k]; k++)
		for (size_t i = 0; cli_lists(cli_verbs[k], i, &list); i++)
			for (const struct cli_option *o = list.options; o->name; o++) {
				bool known = false;

				for (size_t d = 0; d < done.n; d++)
					known = known || strcmp(done.at[d], o->name) == 0;
				if (known || !o->arg)
					continue;
				words_add(&done, o->name);
				if (o->choices)
					printf("\t--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
					       o->name, o->choices);
				else if (strcmp(o->arg, "FILE") == 0)
					printf("\t--%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
					       o->name);
				else if (strcmp(o->arg, "DIR") == 0)
					printf("\t--%s) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n",
					       o->name);
				else
					printf("\t--%s) return ;;\n", o->name);
			}
}

static int bash(void)
{
	puts("# bash completion for cleat: eval \"$(cleat completion bash)\"\n"
	     "_cleat() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	     "\tlocal verb=${COMP_WORDS[1]} server= options= i IFS=$' \\t\\n|'\n"
	     "\tif [[ $COMP_CWORD -eq 1 ]]; then");
	fputs("\t\tCOMPREPLY=($(compgen -W '", stdout);
	for (size_t i = 0; cli_verbs[i]; i++)
		if (!cli_verbs[i]->hidden)
			printf("%s%s", i ? " " : "", cli_verbs[i]->name);
	puts("' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $prev in");
	bash_values();
	puts("\tesac\n\tcase $verb in");
	for (size_t i = 0; cli_verbs[i]; i++) {
		printf("\t%s) options='", cli_verbs[i]->name);
		bash_words(cli_verbs[i]);
		puts("' ;;");
	}
	puts("\tesac\n"
	     "\tif [[ $cur == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	     "\t\t[[ ${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -o default -- \"$cur\")); return; }\n"
	     "\t\t[[ -z $server && ${COMP_WORDS[i]} != -* ]] && server=${COMP_WORDS[i]}\n"
	     "\tdone\n"
	     "\tcase $verb in");
	fputs("\thelp) COMPREPLY=($(compgen -W '", stdout);
	for (size_t i = 0; cli_verbs[i]; i++)
		printf("%s%s", i ? " " : "", cli_verbs[i]->name);
	puts("' -- \"$cur\")) ;;\n"
	     "\tcompletion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")) ;;");
	for (size_t i = 0; cli_verbs[i]; i++) {
		if (!(cli_verbs[i]->groups & CLI_SERVER))
			continue;
		printf("\t%s)\n\t\tif [[ -z $server ]]; then\n"
		       "\t\t\tCOMPREPLY=($(compgen -W \"$(cleat ls --names 2>/dev/null)\" -- \"$cur\"))\n",
		       cli_verbs[i]->name);
		if (takes_tool(cli_verbs[i]))
			printf("\t\telse\n\t\t\tCOMPREPLY=($(compgen -W \"$(cleat ls%s --names -q --timeout 5s "
			       "\"$server\" 2>/dev/null)\" -- \"$cur\"))\n",
			       strcmp(cli_verbs[i]->name, "show") == 0 ? " --all" : "");
		puts("\t\tfi ;;");
	}
	puts("\tesac\n}\ncomplete -F _cleat cleat");
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

static void zsh_option(const struct cli_option *o)
{
	char letter[] = { '-', o->letter, '\0' };

	printf("\t\t%s'", o->repeat ? "\\*" : "");
	printf("--%s%s[", o->name, o->arg ? "=" : "");
	zsh_text(o->help);
	putchar(']');
	if (o->arg) {
		putchar(':');
		zsh_text(o->arg);
		putchar(':');
	}
	if (o->choices) {
		putchar('(');
		for (const char *p = o->choices; *p; p++)
			putchar(*p == '|' ? ' ' : *p);
		putchar(')');
	} else if (o->arg && strcmp(o->arg, "FILE") == 0) {
		fputs("_files", stdout);
	} else if (o->arg && strcmp(o->arg, "DIR") == 0) {
		fputs("_files -/", stdout);
	}
	puts("' \\");
	if (o->letter) {
		printf("\t\t%s'%s%s[", o->repeat ? "\\*" : "", letter, o->arg ? "+" : "");
		zsh_text(o->help);
		printf("]%s' \\\n", o->arg ? ":value:" : "");
	}
}

static int zsh(void)
{
	struct cli_list list;

	puts("#compdef cleat\n"
	     "# zsh completion for cleat: cleat completion zsh > ~/.zfunc/_cleat\n"
	     "_cleat_servers() { compadd -- ${(f)\"$(cleat ls --names 2>/dev/null)\"} }\n"
	     "_cleat_names() { compadd -- ${(f)\"$(cleat ls $1 --names -q --timeout 5s ${words[2]} "
	     "2>/dev/null)\"} }\n"
	     "_cleat() {\n"
	     "\tlocal -a verbs\n"
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
	     "\tlocal verb=${words[2]}\n"
	     "\tshift words; (( CURRENT-- ))\n"
	     "\tcase $verb in");
	for (size_t k = 0; cli_verbs[k]; k++) {
		printf("\t%s)\n\t\t_arguments -s -S \\\n", cli_verbs[k]->name);
		for (size_t i = 0; cli_lists(cli_verbs[k], i, &list); i++)
			for (const struct cli_option *o = list.options; o->name; o++)
				zsh_option(o);
		if (cli_verbs[k]->groups & CLI_SERVER)
			puts("\t\t'1:server:_cleat_servers' \\");
		if (takes_tool(cli_verbs[k]))
			printf("\t\t'2:name:_cleat_names%s' \\\n",
			       strcmp(cli_verbs[k]->name, "show") == 0 ? " --all" : " --tools");
		if (strcmp(cli_verbs[k]->name, "completion") == 0)
			puts("\t\t'1:shell:(bash zsh fish)' \\");
		puts("\t\t'*::word:_files' ;;");
	}
	puts("\tesac\n}\n_cleat \"$@\"");
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

static void fish_option(const struct verb *v, const struct cli_option *o)
{
	printf("complete -c cleat -n '__fish_seen_subcommand_from %s' -l %s", v->name, o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->choices) {
		fputs(" -x -a '", stdout);
		for (const char *p = o->choices; *p; p++)
			putchar(*p == '|' ? ' ' : *p);
		putchar('\'');
	} else if (o->arg) {
		fputs(strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0 ? " -r -F" : " -x",
		      stdout);
	}
	fputs(" -d ", stdout);
	fish_text(o->help);
	putchar('\n');
}

static int fish(void)
{
	struct cli_list list;

	puts("# fish completion for cleat: cleat completion fish > ~/.config/fish/completions/cleat.fish\n"
	     "complete -c cleat -f\n"
	     "function __cleat_words\n"
	     "\tstring match -v -- '-*' (commandline -opc)[2..-1]\n"
	     "end");
	for (size_t k = 0; cli_verbs[k]; k++) {
		const struct verb *v = cli_verbs[k];

		if (!v->hidden) {
			printf("complete -c cleat -n __fish_use_subcommand -a %s -d ", v->name);
			fish_text(v->summary);
			putchar('\n');
		}
		for (size_t i = 0; cli_lists(v, i, &list); i++)
			for (const struct cli_option *o = list.options; o->name; o++)
				fish_option(v, o);
		if (v->groups & CLI_SERVER)
			printf("complete -c cleat -n '__fish_seen_subcommand_from %s; and test (count "
			       "(__cleat_words)) -eq 1' -a '(cleat ls --names 2>/dev/null)'\n",
			       v->name);
		if (takes_tool(v))
			printf("complete -c cleat -n '__fish_seen_subcommand_from %s; and test (count "
			       "(__cleat_words)) -eq 2' -a '(cleat ls%s --names -q --timeout 5s "
			       "(__cleat_words)[2] 2>/dev/null)'\n",
			       v->name, strcmp(v->name, "show") == 0 ? " --all" : "");
	}
	puts("complete -c cleat -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'");
	return EXIT_GOOD;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static int run(struct cli *cli)
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
		"names of tools from the server that stands on the line.",
	.examples = examples,
	.run = run,
};
