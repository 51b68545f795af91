/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_ADAPTER_H
#define INFO_ADAPTER_H

/**
 * @file
 * Interface adapters in the words of DAT, as objects. They are the caller's.
 */

struct json_object;

/** The adapters that can be opened. @return an object; NULL: the registry refused; the error was printed. */
struct json_object *info_adapter_list(void);

/** Open one, ask for all of its attributes, and close it. @return an object; NULL: the reason was printed. */
struct json_object *info_adapter_describe(const char *name);

#endif /* INFO_ADAPTER_H */
