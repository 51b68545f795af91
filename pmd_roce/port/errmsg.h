/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_ERRMSG_H
#define ROCE_PORT_ERRMSG_H

/**
 * @file
 * The one sentence that says why an open failed. The first sentence wins: it
 * was said nearest to the cause.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/** Where the sentence goes; @c text may be NULL when nobody wants to know. */
struct roce_errmsg {
	char *text;
	size_t len; /**< bytes at @c text, with the terminating zero */
};

/**
 * Say why, unless something was said already.
 * @return @p rc, so that a failure is one statement.
 */
static inline int __attribute__((format(printf, 3, 4)))
roce_errmsg_set(struct roce_errmsg *why, int rc, const char *format, ...)
{
	va_list args;

	if (why->text == NULL || why->len == 0 || why->text[0] != '\0')
		return rc;
	va_start(args, format);
	vsnprintf(why->text, why->len, format, args);
	va_end(args);
	return rc;
}

#endif
