/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EMBED_OPTIONS_H
#define EMBED_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/** The options of a run. */
struct embed_options {
	const char *port[2]; /**< names of DPDK ports; NULL: the first and the second */
	char params[512];    /**< `ip=...` and more, as of dat.conf(5); empty: not given */
	bool gauge;
	uint16_t listen;  /**< port of the service */
	uint32_t seconds; /**< 0: until interrupted */
	uint32_t size;    /**< bytes of a message, and of a forwarded frame: gauge */
	uint32_t frame;
};

/**
 * Read the command line behind EAL's own.
 * @return -1: go on; else the exit status, and everything was said.
 */
int embed_options_read(struct embed_options *options, int argc, char **argv);

#endif
