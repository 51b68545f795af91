/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_ERRMSG_H
#define ROCE_OBSERVE_ERRMSG_H

/**
 * @file
 * Error message: one sentence that says why an open failed. The first one
 * that is set wins: it was set nearest to the cause.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/** Where the message goes; @c text may be NULL when the caller does not want it. */
struct roce_errmsg {
	char *text;
	size_t len; /**< bytes at @c text, with the terminating zero */
};

/**
 * Set the message, unless one was set already.
 * @return @p rc, so that a failure is one statement.
 */
static inline int __attribute__((format(printf, 3, 4)))
roce_errmsg_set(struct roce_errmsg *errmsg, int rc, const char *format, ...)
{
	va_list args;

	if (errmsg->text == NULL || errmsg->len == 0 || errmsg->text[0] != '\0')
		return rc;
	va_start(args, format);
	vsnprintf(errmsg->text, errmsg->len, format, args);
	va_end(args);
	return rc;
}

#endif
