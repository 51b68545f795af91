/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_ZCRX_H
#define ROCE_ETHDEV_ZCRX_H

/**
 * @file
 * Frames that consumers may hold (`zcrx=`, responder/zcrx.h): where they come from, so that whoever holds them for long takes
 * nothing from anybody else.
 *
 * A port of our own has so many more buffers to receive into. Frames that a program receives come from its pools, which it
 * makes as large as it likes. Frames of others, those that came over net_ring for one, are copied into a pool that
 * is there for nothing else.
 */

#include "ethdev/port.h"

/** Make what `zcrx=` wants, unless it is there already. The path MTU is known. @return 0; -ENOMEM. */
int roce_port_zcrx_create(struct roce_port *port, int socket, struct roce_errmsg *errmsg);

/** The configuration for its engines. */
void roce_port_zcrx_describe(const struct roce_port *port, struct roce_zcrx_config *config);

/** Give back the pools, which live until the last frame that is given is home. */
void roce_port_zcrx_retire(struct roce_port *port);

#endif
