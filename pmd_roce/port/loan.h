/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_LOAN_H
#define ROCE_PORT_LOAN_H

/**
 * @file
 * Frames that consumers may hold (`lend=`, engine/loan.h): where they come from, so that whoever holds them for long takes
 * nothing from anybody else.
 *
 * A port of our own has so many more buffers to receive into. Frames that a program receives come from its pools, which it
 * makes as large as it likes. Frames of others, those that came over net_ring for one, are copied into a pool that
 * is there for nothing else.
 */

#include "port/port.h"

/** Make what `lend=` wants, unless it is there already. The path MTU is known. @return 0; -ENOMEM. */
int roce_port_make_loans(struct roce_port *port, int socket, struct roce_errmsg *errmsg);

/** The configuration for its engines. */
void roce_port_describe_loans(const struct roce_port *port, struct roce_loan_config *config);

/** Give back the pools, which live until the last frame that is lent is home. */
void roce_port_retire_loans(struct roce_port *port);

#endif
