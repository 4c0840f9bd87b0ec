/* blocking.c - a handler that takes its time: with .blocking it runs on a worker thread, reports
 * progress, and stops when the client no longer wants the answer.
 *
 *	examples/try blocking checksum '{"path":"/bin/ls"}'
 */
#include <cleat/cleat.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a over the file, 64 KiB at a time. */
static int checksum(cleat_request *req)
{
	const char *path = cleat_arg_str(req, "path");
	unsigned char chunk[65536];
	uint64_t sum = 14695981039346656037u, seen = 0;
	FILE *f = fopen(path, "rb");
	bool broken;

	if (!f)
		return cleat_reply_error(req, "%s: %s", path, strerror(errno));
	for (size_t n;
	     !cleat_request_cancelled(req) && (n = fread(chunk, 1, sizeof chunk, f)) > 0;) {
		for (size_t i = 0; i < n; i++)
			sum = (sum ^ chunk[i]) * 1099511628211u;
		seen += n;
		cleat_request_progress(req, (double)seen, 0, "%llu bytes",
				       (unsigned long long)seen);
	}
	broken = ferror(f);
	fclose(f);
	if (cleat_request_cancelled(req))
		return CLEAT_ECANCELLED; /* nobody reads the answer */
	if (broken)
		return cleat_reply_error(req, "%s cannot be read", path);
	return cleat_reply_textf(req, "%016llx", (unsigned long long)sum);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("blocking", "1.0.0", NULL);
	cleat_server_add_tool(
		s, &(cleat_tool){
			   .signature = "checksum(path: string \"A file on this machine\")",
			   .description = "FNV-1a checksum of a file",
			   .call = checksum,
			   .blocking = true,
			   .read_only = CLEAT_YES,
		   });
	return cleat_server_main(s, argc, argv);
}
