/* run/client_attach.c - a client over two descriptors of the program's. */
#include "base/error.h"
#include "run/client.h"

cleat_client *cleat_client_attach_(int in, int out, const cleat_client_options *o, size_t size)
{
	struct client_given given = client_run_given(o, size);
	struct client_run *run = client_run_new(&given, NULL);
	struct link_base_options base;
	struct link *l = NULL;
	cleat_error err;

	if (!run)
		return NULL;
	base = client_run_base(run);
	if (in < 0 || out < 0)
		error_set(&err, CLEAT_EINVAL, "%d and %d are not two descriptors", in, out);
	else
		l = link_fds_new(&base, in, out, &err);
	return client_run_finish(run, l, &err);
}
