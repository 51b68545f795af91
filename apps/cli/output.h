/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

/**
 * @file
 * Output of a program arrives, or its exit status says that it did not: a full device, a closed
 * standard output, a file that cannot be made.
 */

#include <stdio.h>

/**
 * Keep the numbers of closed standard descriptors from files that are opened later; writing to a
 * standard output that was closed fails. Called by cli_begin().
 */
void cli_output_begin(void);

/** Write out what was printed on standard output. @return 0; -1: it cannot be written; the error was printed, once. */
int cli_output_flush(void);

/**
 * Close standard output; to be called last.
 * @return @p status; CLI_EXIT_FAILED: not all that was printed was written; the error was printed.
 */
int cli_exit(int status);

/** One text for a file, or for standard output. */
struct cli_output {
	const char *path; /**< NULL: standard output */
	FILE *file;
};

/**
 * Open it before the work begins that makes the text. A file that exists keeps what it holds until
 * cli_output_write(); its folder need not be writable.
 * @param what  the text, for messages. @return 0; -1: it cannot be written to; the error was printed.
 */
int cli_output_open(struct cli_output *output, const char *path, const char *what);

/** Write the text and a newline instead of what the file holds, and close it. @return 0; -1 on error; the error was printed. */
int cli_output_write(struct cli_output *output, const char *text, const char *what);

#endif /* CLI_OUTPUT_H */
