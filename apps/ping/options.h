/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PING_OPTIONS_H
#define PING_OPTIONS_H

/**
 * @file
 * The command line of dat-ping.
 */

#include <stdbool.h>
#include <stdint.h>

enum ping_mode {
	PING_LOOP,   /**< both ends in this process, on loop0 and loop1 */
	PING_SERVER, /**< -D and -l */
	PING_CLIENT, /**< -D and a host */
};

struct ping_options {
	enum ping_mode mode;
	const char *ia;
	const char *host;
	uint16_t port;
	uint32_t size;
	uint64_t count; /**< rounds, or clients of a server; 0: until interrupted */
	uint32_t interval_ms;
	bool json;
	const char *json_file; /**< NULL: standard output */
};

/**
 * Read a command line. The strings of @p argv must outlive @p options.
 * @return -1: go on; else the status to exit with: 0 after --help or --version, 2 after one
 *         sentence on standard error.
 */
int ping_options_read(struct ping_options *options, int argc, char **argv);

#endif /* PING_OPTIONS_H */
