/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * taken_queue PARAMS [OTHER]: two ports of one process want the same queue of an interface. The second is refused, as often as it
 * is tried, also when the first has given the queue back.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <roce/device.h>

#define TRIES 3

static struct roce_device *
open_it(const char *params, int want)
{
	struct roce_device *device = NULL;
	char errmsg[256] = "";
	int rc = roce_device_open(params, &device, errmsg, sizeof(errmsg));

	if (rc == want)
		return device;
	printf("%s: %d is wanted, and it is %d: %s\n", params, want, rc, errmsg);
	exit(EXIT_FAILURE);
}

int
main(int argc, char **argv)
{
	struct roce_device *first;

	if (argc < 2)
		return 2;
	first = open_it(argv[1], 0);
	for (unsigned int i = 0; argc > 2 && i < TRIES; i++)
		open_it(argv[2], -EBUSY);
	roce_device_close(first);
	if (argc > 2)
		open_it(argv[2], -EBUSY);
	return EXIT_SUCCESS;
}
