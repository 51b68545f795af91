/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

/**
 * @file
 * The command that is to run: where it is, and whether the loader would put our libraries before its own.
 */

#include <limits.h>

/* As a shell and env(1) have them. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND  127

/**
 * Find a command as execvp(3) does.
 *
 * @param path receives PATH_MAX bytes at most.
 * @return 0; EXIT_NOT_FOUND; EXIT_CANNOT_RUN: it is there, and is none. The sentence was said.
 */
int command_find(const char *name, char path[PATH_MAX]);

/**
 * Would the dynamic loader take the library path of its environment? Not for a program that is linked statically, is of another
 * architecture, or has rights of its own. Of a script it is the interpreter that counts.
 *
 * @return 0; EXIT_CANNOT_RUN, or EXIT_NOT_FOUND for an interpreter that is not there; a sentence was said why.
 */
int command_check(const char *path);

#endif
