/* program/serve/command/limits.c - see limits.h. */
#include "serve/command/limits.h"

#include "serve/kit/draft.h"
#include "json/parse.h"

#include <errno.h>
#include <sys/resource.h>

enum {
	OPEN_FILES_SOFT = 1024, /* what select() can take; who needs more has to ask, as usual */
	CPU_LEFT = 2            /* seconds between SIGXCPU and SIGKILL */
};

/* Ordinary tools are far from these (a browser has half a gigabyte); a broken one takes no machine down. The
 * time of a processor is bounded by "timeout" already. */
static const struct limits usual = { .memory = UINT64_C(4) << 30,
				     .file_size = UINT64_C(4) << 30,
				     .open_files = 4096,
				     .processes = 512 };

/* ---- reading ------------------------------------------------------------------------------ */

static const cleat_json *limits_find(struct draft *b, const cleat_json *node, const char *key)
{
	const cleat_json *v = cleat_json_get(cleat_json_get(node, "limits"), key);

	return v ? v : cleat_json_get(draft_default(b, "limits"), key);
}

static unsigned limits_count(const cleat_json *v, unsigned fallback)
{
	return json_is_string(v) ? 0 : (unsigned)cleat_json_uint(v, fallback); /* "none" */
}

struct limits limits_conf(struct draft *b, const cleat_json *node)
{
	uint64_t ms = conf_timeout(b->conf, limits_find(b, node, "cpu"), usual.cpu_s * 1000);

	return (struct limits){
		.memory = conf_limit(b->conf, limits_find(b, node, "memory"), usual.memory),
		.cpu_s = (ms + 999) / 1000,
		.file_size =
			conf_limit(b->conf, limits_find(b, node, "file_size"), usual.file_size),
		.open_files = limits_count(limits_find(b, node, "open_files"), usual.open_files),
		.processes = limits_count(limits_find(b, node, "processes"), usual.processes),
	};
}

/* ---- keeping ------------------------------------------------------------------------------ */

static int limits_lower(int what, rlim_t soft, rlim_t hard)
{
	struct rlimit now;

	if (getrlimit(what, &now))
		return errno;
	if (now.rlim_max == RLIM_INFINITY || now.rlim_max > hard)
		now.rlim_max = hard;
	if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > soft)
		now.rlim_cur = soft;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	return setrlimit(what, &now) ? errno : 0;
}

int limits_enter(const struct limits *l)
{
	int error = limits_lower(RLIMIT_CORE, 0, 0);

	if (!error && l->memory)
		error = limits_lower(RLIMIT_DATA, l->memory, l->memory);
	if (!error && l->cpu_s)
		error = limits_lower(RLIMIT_CPU, l->cpu_s, l->cpu_s + CPU_LEFT);
	if (!error && l->file_size)
		error = limits_lower(RLIMIT_FSIZE, l->file_size, l->file_size);
	if (!error && l->open_files)
		error = limits_lower(RLIMIT_NOFILE,
				     l->open_files < OPEN_FILES_SOFT ? l->open_files
								     : OPEN_FILES_SOFT,
				     l->open_files);
	return error;
}
