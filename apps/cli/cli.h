/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_H
#define CLI_H

/**
 * @file
 * How our programs talk to the person at the terminal.
 *
 * Every failure is one sentence on standard error, headed by the program's name, and a non-zero
 * exit status: 2 when the command line is wrong, 1 when the work failed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat/udat.h>

#define CLI_EXIT_FAILED 1
#define CLI_EXIT_USAGE  2

/** Name the program; @p name must live as long as the process. To be called first. */
void cli_begin(const char *name);

/** Say one sentence, without a newline, on standard error. Any thread. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Say what failed and, in DAT's own words, why. Any thread. */
void cli_say_dat(DAT_RETURN ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** @return the first sentence said so far, which is the cause of those after it; NULL: none. */
const char *cli_said(void);

/** A server: all said so far was about a client that has gone, and is no cause of what follows. Any thread. */
void cli_forget_said(void);

/**
 * Say what is wrong with an option that getopt_long() did not take, and where help is.
 * @param option  what it returned: '?', or ':' when a value is missing.
 * @return CLI_EXIT_USAGE.
 */
int cli_complain(int option, char **argv);

/**
 * Read a number that fills the whole text: decimal, or hexadecimal behind 0x.
 * @return false: it is no number or outside @p min .. @p max; @p number is untouched.
 */
bool cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

/** The same of bytes: one of k, m and g behind the number, also as capitals, is 1024, 1024^2 and 1024^3. */
bool cli_size(const char *text, uint64_t min, uint64_t max, uint64_t *size);

/**
 * Read the value of an option, optarg of getopt_long(), or say what @p option takes.
 * @return -1: it is read; CLI_EXIT_USAGE: a sentence was said, and the number is untouched.
 */
int cli_option_number(const char *option, uint64_t min, uint64_t max, uint64_t *number);

/** The same of bytes, as cli_size() reads them. */
int cli_option_size(const char *option, uint64_t min, uint64_t max, uint64_t *size);

/**
 * Resolve a host name or a numeric IPv4 or IPv6 address.
 * @return false: it cannot be resolved, and the reason was printed.
 */
bool cli_host(const char *host, struct sockaddr_storage *address);

/** Write an address as text into @p text. @return @p text. */
const char *cli_address(const struct sockaddr *address, char *text, unsigned int size);

#endif /* CLI_H */
