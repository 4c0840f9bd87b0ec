/* The smallest program that proves an installation: it compiles against the installed headers, links
 * with the installed library and the two agree about the version. */
#include <cleat/base.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	printf("cleat %s: %s\n", cleat_version(), cleat_strstatus(CLEAT_OK));
	return strcmp(cleat_version(), CLEAT_VERSION) != 0 ||
	       cleat_version_num() != CLEAT_VERSION_NUM;
}
