/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_SAY_H
#define RUN_SAY_H

/** One sentence on the standard error output, behind the program's name. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
