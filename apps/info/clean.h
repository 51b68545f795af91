/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_CLEAN_H
#define INFO_CLEAN_H

/**
 * @file
 * Text of other programs goes to terminals and into files, where no byte of it may be a command.
 */

#include <stddef.h>

struct json_object;

/** Put a question mark in the place of each byte that is not printable ASCII. @return @p text. */
char *info_clean_text(char *text);

/**
 * Parse a message, and do the same with all strings in it, which is no deeper than the parser lets it be. A member whose name
 * has such a byte is removed: none of ours has. A number that is infinite or none becomes 0: what is printed is to be JSON.
 * @return the caller's; NULL: it is not an object of JSON.
 */
struct json_object *info_clean_parse(const char *text, size_t len);

#endif /* INFO_CLEAN_H */
