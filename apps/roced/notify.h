/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_NOTIFY_H
#define ROCED_NOTIFY_H

/**
 * @file
 * Messages to a service manager (sd_notify(3)).
 */

/** Send @p state to the socket that NOTIFY_SOCKET names, if it does. */
void notify(const char *state);

#endif /* ROCED_NOTIFY_H */
