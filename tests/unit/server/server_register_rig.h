/* tests/unit/server/server_register_rig.h - things to register, and refusals of them. */
#ifndef TESTS_SERVER_REGISTER_RIG_H
#define TESTS_SERVER_REGISTER_RIG_H

#include "unit/server/server_rig.h"

int ok(cleat_request *req);
void count_destroy(void *userdata);

void assert_tool_refused(const cleat_tool *tool, int status, const char *why);
void assert_resource_refused(const cleat_resource *resource, int status, const char *why);
void assert_prompt_refused(const cleat_prompt *prompt, int status, const char *why);

#endif
