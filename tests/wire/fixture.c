/* fixture.c - see fixture.h. What the parts share. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

const unsigned char fixture_png[70] = {
	0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
	0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00,
	0x00, 0x1f, 0x15, 0xc4, 0x89, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78,
	0xda, 0x63, 0xfc, 0xcf, 0xc0, 0xf0, 0x1f, 0x00, 0x05, 0x05, 0x02, 0x00, 0x5f, 0xc8,
	0xf1, 0xd2, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

const unsigned char fixture_wav[44] = {
	0x52, 0x49, 0x46, 0x46, 0x26, 0x00, 0x00, 0x00, 0x57, 0x41, 0x56, 0x45, 0x66, 0x6d, 0x74,
	0x20, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x40, 0x1f, 0x00, 0x00, 0x00, 0x7d,
	0x00, 0x00, 0x02, 0x00, 0x10, 0x00, 0x64, 0x61, 0x74, 0x61, 0x02, 0x00, 0x00, 0x00,
};

bool fixture_park(cleat_request *req, const char *key)
{
	struct fixture *f = cleat_server_userdata(cleat_request_server(req));

	if (!f || f->n_parked == FIXTURE_PARKED)
		return false;
	f->parked[f->n_parked] = req;
	snprintf(f->keys[f->n_parked], sizeof f->keys[0], "%s", key);
	f->n_parked++;
	return true;
}

cleat_request *fixture_parked(const struct fixture *f, const char *key)
{
	for (size_t i = 0; i < f->n_parked; i++)
		if (strcmp(f->keys[i], key) == 0)
			return f->parked[i];
	return NULL;
}

static void unpark(struct fixture *f, size_t i)
{
	f->n_parked--;
	memmove(&f->parked[i], &f->parked[i + 1], (f->n_parked - i) * sizeof f->parked[0]);
	memmove(&f->keys[i], &f->keys[i + 1], (f->n_parked - i) * sizeof f->keys[0]);
}

bool fixture_finish(struct fixture *f, const char *key, int status)
{
	cleat_request *req = fixture_parked(f, key);

	for (size_t i = 0; i < f->n_parked; i++)
		if (f->parked[i] == req) {
			unpark(f, i);
			cleat_request_finish(req, status);
			return true;
		}
	return false;
}

void fixture_finish_all(struct fixture *f)
{
	while (f->n_parked) {
		cleat_request *req = f->parked[0];

		unpark(f, 0);
		cleat_request_finish(req, CLEAT_OK);
	}
}

void fixture_add_usual(cleat_server *s)
{
	fixture_add_suite_tools(s);
	fixture_add_suite_asks(s);
	fixture_add_suite_resources(s);
	fixture_add_suite_prompts(s);
	fixture_add_shapes(s);
	fixture_add_calls(s);
	fixture_add_asks(s);
	fixture_add_contents(s);
	fixture_add_schemas(s);
	fixture_add_methods(s);
}

void fixture_add_all(cleat_server *s)
{
	fixture_add_usual(s);
	fixture_add_misuse(s);
}
