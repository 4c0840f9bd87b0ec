/* fuzz_serve_yaml.c - any text as YAML: what comes out is JSON within the limit, or there is a reason. */
#include "text/yaml.h"

#include <stdint.h>
#include <stdlib.h>

#include <cleat/json.h>

enum { MOST = 256 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const cleat_json_limits limits = { .max_depth = 512 };
	cleat_error err = { 0 };
	struct buf out;
	int rc;

	buf_init(&out, NULL, MOST);
	rc = yaml_to_json((struct str){ (const char *)data, size }, &out, &err);
	if (rc != CLEAT_OK && !*err.message)
		abort();
	if (rc == CLEAT_OK) { /* otherwise it is not YAML, or libyaml is not here */
		cleat_doc *doc =
			cleat_doc_parse(buf_str(&out).p, buf_size(&out), &limits, NULL, &err);

		if (!doc || buf_size(&out) > MOST)
			abort();
		cleat_doc_free(doc);
	}
	buf_done(&out);
	return 0;
}
