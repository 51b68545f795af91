/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_ADAPTER_H
#define INFO_ADAPTER_H

/**
 * @file
 * Interface adapters as JSON. One that another process has open is not opened a second time: its process is asked.
 */

struct json_object;

/**
 * All adapters that can be opened, each with its driver, address, link and pages; of one that cannot, the reason was
 * printed, and those are missing.
 * @param processes  a look; NULL: there are none.
 * @return the object, the caller's; NULL: the registry refused, and the reason was printed.
 */
struct json_object *info_adapter_list(struct json_object *processes);

/**
 * All attributes of one adapter, or what the process that has it open tells of it.
 * @param processes  as above. @return the object, the caller's; NULL: the reason was printed.
 */
struct json_object *info_adapter_describe(const char *name, struct json_object *processes);

#endif /* INFO_ADAPTER_H */
