/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program with an EAL of its own, whose threads take every signal, has a device until its standard input ends.
 *
 *   own_eal PARAMS
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "roce/device.h"

int
main(int argc, char **argv)
{
	static char words[][24] = { "own_eal", "--no-huge", "-m", "512", "--no-pci", "--no-shconf",
		"--no-telemetry", "--log-level=*:critical" };
	char *eal[RTE_DIM(words)];
	struct roce_device *device;
	char errmsg[256], byte;

	for (size_t i = 0; i < RTE_DIM(words); i++)
		eal[i] = words[i];
	if (argc != 2 || rte_eal_init(RTE_DIM(eal), eal) < 0)
		return EXIT_FAILURE;
	if (roce_device_open(argv[1], &device, errmsg, sizeof(errmsg)) != 0) {
		fprintf(stderr, "%s\n", errmsg);
		return EXIT_FAILURE;
	}
	puts("open");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	roce_device_close(device);
	return EXIT_SUCCESS;
}
