/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_LOG_H
#define LIBDAT_LOG_H

/**
 * @file
 * How the registry talks to the person at the terminal.
 *
 * A DAT_RETURN has no room for the name of a file or the reason of the dynamic loader, so the
 * registry can say a sentence as well. DAT_DBG_DEST says where: nothing or 0 is the standard error
 * output, 1 the standard output, 2 syslog, 3 both. DAT_DBG_TYPE is a sum of the bits below and says
 * which of the optional sentences are wanted. Both are read from the environment each time.
 */

enum libdat_log {
	LIBDAT_LOG_ERROR = 0x01,   /**< why a call failed */
	LIBDAT_LOG_STATIC = 0x04,  /**< dat.conf and the libraries it names */
	LIBDAT_LOG_DYNAMIC = 0x08, /**< registrations, opens and closes */
};

/** Say a sentence whatever DAT_DBG_TYPE is; @p format has no newline. Threads: any. */
void libdat_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * The same, unless it is what was said so last: a program that tries again and again is told once.
 * Threads: one at a time; the caller holds a lock.
 */
void libdat_say_news(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Say a sentence if DAT_DBG_TYPE has one of the bits in @p types. Threads: any. */
void libdat_log(unsigned int types, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* LIBDAT_LOG_H */
