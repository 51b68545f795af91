/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_OPTIONS_H
#define ROCED_OPTIONS_H

/**
 * @file
 * The command line of roced.
 */

#include <stdbool.h>
#include <stdint.h>

#define EXIT_USAGE 2

struct options {
	const char *dir;   /**< NULL: the run-time folder of the user */
	const char *group; /**< NULL: for this user alone */
	const char *port;  /**< of the uplink, as in dat.conf(5); NULL: there is none */
	const char *ip;    /**< address/prefix, separated by commas; valid with port */
	const char *gw;    /**< NULL: none */
	const char *mtu;   /**< NULL: not given */
	bool on_demand;
	bool verbose;
	bool status;
	bool json;
	bool has_linger;
	uint32_t linger_ms;
};

/** @return -1: go on; else the exit status, and all was said. */
int options_read(struct options *options, int argc, char **argv);

#endif /* ROCED_OPTIONS_H */
