/* fuzz_serve_openapi.c - any text as an OpenAPI document: tools come of it, or a reason why not. What makes no
 * tool is left out; nothing that a document says can spoil the rest of the configuration.
 */
#include "serve/kit/set.h"
#include "serve/web/source.h"

#include "base/mem.h"
#include "require.h"
#include "json/parse.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static cleat_server *server;
	static int fd = -1;
	struct runtime rt;
	struct draft b;
	const cleat_json *node = NULL;
	char text[200];

	if (!server) {
		server = cleat_server_new("fuzz", "1", NULL);
		fd = memfd_create("document", 0);
	}
	require(server && fd >= 0);
	require(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	rt = (struct runtime){ .mem = mem_default, .server = server };
	b = (struct draft){ .conf = conf_new(NULL), .rt = &rt, .set = set_new(NULL) };
	require(b.conf && b.set);
	conf_ready(b.conf);
	snprintf(text, sizeof text,
		 "{\"file\":\"/proc/self/fd/%d\",\"server\":\"http://127.0.0.1:1/v\","
		 "\"headers\":{\"X-Key\":\"k\"},\"query\":{\"q\":\"v\"}}",
		 fd);
	require(json_parse(conf_arena(b.conf), str_of(text), NULL, &node, NULL) == CLEAT_OK);
	source_openapi(&b, "x", node);
	require((set_size(b.set) > 0) != (conf_problems(b.conf) > 0));
	set_free(b.set);
	conf_free(b.conf);
	return 0;
}
