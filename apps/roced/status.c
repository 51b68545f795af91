/* SPDX-License-Identifier: BSD-3-Clause */
#include "status.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask.h"
#include "folder.h"
#include "say.h"

/* It may be another user's roced that tells it, and no byte of it is a command to a terminal. */
static void
clean(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n')
			text[i] = '?';
}

int
status_print(const char *dir, bool json)
{
	char said[256] = "";
	struct roce_errmsg errmsg = { .text = said, .len = sizeof(said) };
	struct sockaddr_un address;
	int rc = EXIT_FAILURE;
	char *text;
	size_t len;

	if (folder_address(&address, dir) != 0)
		return EXIT_FAILURE;
	if (roced_ask(&address, json, &text, &len, &errmsg) != 0) {
		say("%s", said);
		return EXIT_FAILURE;
	}
	clean(text, len);
	if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0)
		say_errno("standard output");
	else
		rc = EXIT_SUCCESS;
	free(text);
	return rc;
}
