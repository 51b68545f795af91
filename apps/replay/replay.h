/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdint.h>

/**
 * Let a responder hear a recording, frame by frame, and print its verdict on each to standard output: number, verdict,
 * the counter that has moved, what the frame is, what the counter means, between tabs. Then how often each verdict came,
 * and how many messages were delivered.
 *
 * The verdict is that of the engine: the first of its counters that has moved. A frame is heard when everything that
 * followed from the one before it is done, so a recording cannot be too fast.
 *
 * @param params  of an adapter, as in dat.conf(5), on net_pcap, with the qpn=, psn= and seed= of the recorded side.
 * @param port    connections to it are accepted in their order, each with receives enough.
 * @note ends the process with CLI_EXIT_FAILED and one sentence when there is no such device, or no memory.
 */
void replay_run(const char *params, uint16_t port);

#endif
