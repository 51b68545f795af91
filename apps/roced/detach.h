/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_DETACH_H
#define ROCED_DETACH_H

/**
 * @file
 * A daemon takes over as little as possible from the process that starts it.
 */

/** Before any file is opened: the standard descriptors are open, and no other one is inherited. */
void detach_descriptors(void);

/** The service manager of the starter is none of ours: it would take our words for those of the starter's service. */
void detach_environment(void);

/** Signals are as a program expects them, whatever the starter had. */
void detach_signals(void);

/** As many descriptors, and as large files, as the system allows. A file that may not be so large is an error, no signal. */
void detach_limits(void);

/**
 * Go on in the background, in a session of its own; the process that was started ends with 0.
 * @return 0; -1, and the reason was said.
 */
int detach(void);

#endif /* ROCED_DETACH_H */
