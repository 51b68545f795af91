/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_EAL_INIT_H
#define ROCE_ETHDEV_EAL_INIT_H

/**
 * @file
 * rte_eal_init() for arguments that a user gave. When it refuses one it prints a page of usage on the standard output
 * of a program that may know nothing of DPDK: that is left out. Its sentence about the argument is on the standard
 * error output.
 */

/**
 * The same arguments and results. Output of the process to the standard output meanwhile comes afterwards, but for
 * that page. `--help` is answered: the page is what was asked for. An EAL that ends the process by exit(3) (as
 * `--log-level=help` does) loses nothing.
 */
int roce_eal_init_quietly(int argc, char **argv);

#endif
