/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_CLEAN_H
#define INFO_CLEAN_H

/**
 * @file
 * Text of other programs goes to terminals and into files, where no byte of it may be a command.
 */

struct json_object;

/** Put a question mark in the place of each byte that is not printable ASCII. @return @p text. */
char *info_clean_text(char *text);

/**
 * The same for all strings in an object, and in what it has. A member whose name has such a byte is removed: none of ours has.
 * A number that is infinite or none becomes 0: what is printed is to be JSON.
 * @param object  as it was parsed, so that it is no deeper than the parser lets it be; may be NULL.
 */
void info_clean(struct json_object *object);

#endif /* INFO_CLEAN_H */
