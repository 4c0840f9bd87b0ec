/* client_typed.c - what a server offers, results as C structs, content of every kind.
 *
 *	build/release/examples/client_typed build/release/examples/typed
 *	build/release/examples/client_typed build/release/examples/content show
 */
#include <cleat/cleat.h>

#include <stdio.h>

struct outlook {
	const char *city;
	const double *highs;
	size_t n_highs;
};
static const cleat_field outlook_fields[] = {
	CLEAT_FIELD(struct outlook, city, "As asked"),
	CLEAT_ARRAY(struct outlook, highs, n_highs, "The highest temperature of each day"),
	CLEAT_FIELD_END,
};

static void print_outlook(cleat_result *r)
{
	struct outlook o;
	int rc = cleat_result_record(r, outlook_fields, &o);

	for (size_t i = 0; rc == CLEAT_OK && i < o.n_highs; i++)
		printf("%s in %zu days: %g\n", o.city, i + 1, o.highs[i]);
}

static void print_content(cleat_result *r)
{
	cleat_content b;

	for (size_t i = 0; cleat_result_content(r, i, &b); i++)
		if (b.kind == CLEAT_CONTENT_TEXT)
			printf("text: %s\n", b.text);
		else
			printf("%s: %s, %zu bytes\n", b.uri ? b.uri : "data", b.mime, b.size);
}

int main(int argc, char **argv)
{
	const char *const server[] = { argc > 1 ? argv[1] : "./typed", NULL };
	cleat_client *c = cleat_client_spawn(server, NULL);
	cleat_result *r, *list = cleat_client_list(c, CLEAT_LIST_TOOLS);
	cleat_json_iter it = cleat_json_each(cleat_result_items(list));

	while (cleat_json_next(&it))
		printf("%s has the tool %s\n", cleat_client_server_name(c),
		       cleat_json_str(cleat_json_get(it.value, "name"), ""));
	cleat_result_free(list);
	r = argc > 2 ? cleat_client_callf(c, argv[2], NULL)
		     : cleat_client_callf(c, "forecast", "{city: %s, days: %d}", "Oslo", 2);
	print_outlook(r);
	print_content(r);
	cleat_result_free(r);
	cleat_client_free(c);
	return 0;
}
