/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_IA_H
#define CLI_IA_H

/**
 * @file
 * Opening an interface adapter by name, and reading what it says about itself.
 */

#include <stdint.h>

#include <dat/udat.h>

/** At most this many adapters are listed. */
#define CLI_IA_MAX 64

/**
 * Names of the adapters that can be opened.
 * @param list  receives at most CLI_IA_MAX entries.
 * @return the number of entries; -1: the registry refused, and the reason was printed.
 */
int cli_ia_list(DAT_PROVIDER_INFO list[CLI_IA_MAX]);

/**
 * Open an adapter with an asynchronous EVD of its own.
 * @return 0; -1: it failed, and the reason was printed; for an unknown name with the known ones.
 */
int cli_ia_open(const char *name, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia);

/** All attributes of an adapter. Pointers inside hold until the next query or the close. */
struct cli_ia_attrs {
	DAT_IA_ATTR ia;
	DAT_PROVIDER_ATTR provider;
};

/** Query every attribute. @return 0; -1: it failed, and the reason was printed. */
int cli_ia_query(DAT_IA_HANDLE ia, struct cli_ia_attrs *attrs);

/**
 * Look up a named attribute, among those of the provider and those of the adapter's vendor.
 * @return its value; @p otherwise when there is none of that name.
 */
const char *cli_ia_attr(const struct cli_ia_attrs *attrs, const char *name, const char *otherwise);

/** @return value of a named attribute that is a number; 0 when there is none. */
uint64_t cli_ia_count(const struct cli_ia_attrs *attrs, const char *name);

#endif /* CLI_IA_H */
