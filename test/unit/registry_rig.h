/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_REGISTRY_RIG_H
#define ROCE_TEST_REGISTRY_RIG_H

/**
 * @file
 * The rig of the registry's tests: a Provider of their own and a dat.conf of their own.
 *
 * The Provider is linked in under the names that libdaplroce.a uses, so entries of dat.conf for libdaplroce.so.1 lead
 * to it. Loading a library is tested in test/abi.
 */

#include <dat/dat_registry.h>

#include "rules.h"

#define ERROR(type, subtype) (DAT_CLASS_ERROR | (DAT_RETURN)(type) | (DAT_RETURN)(subtype))

/** A line of dat.conf. */
#define LINE(name, version, safety, library, data) \
	name " u" version " " safety " default " library " fake.1.0 \"" data "\" \"\"\n"

/** The library in such a line that is the fake Provider. */
#define OWN "libdaplroce.so.1"

/** An interface adapter of the fake Provider. */
struct fake_ia {
	const DAT_PROVIDER *table; /**< NULL: closed */
	DAT_PROVIDER_INFO info;
};

/** The Provider's behaviour, as a test sets it, and the calls that it got. */
struct fake {
	DAT_RETURN open_returns;
	DAT_RETURN close_returns;
	bool forgets_to_register;
	unsigned int inits;
	unsigned int finis;
	DAT_PROVIDER_INFO info; /**< of the last init */
	char data[256];         /**< of the last init */
	char opened[64];        /**< name in the last open */
};

extern struct fake fake;
extern struct fake_ia ias[4];               /**< the first free one is opened */
extern const DAT_PROVIDER fake_table;       /**< its calls */
extern const DAT_PROVIDER fake_other_table; /**< those of a Provider that does nothing */
extern char conf_path[];                    /**< of the dat.conf in force */

void roce_dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data);
void roce_dat_provider_fini(const DAT_PROVIDER_INFO *info);

/** The description that a Provider of version 1.@p minor registers. */
DAT_PROVIDER_INFO info_of(const char *name, DAT_UINT32 minor, DAT_BOOLEAN thread_safe);

/** Make @p text the whole of dat.conf. */
void write_conf(const char *text);

/** dat_ia_openv() with a queue of 8 events. */
DAT_RETURN open_version(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN safe,
		DAT_IA_HANDLE *ia);

/** The same for version 1.2, thread safe or not. */
DAT_RETURN open_name(const char *name, DAT_IA_HANDLE *ia);

/** Each test starts with a conf file that is empty and in force, and with nothing registered. */
int setup(void **state);

#endif
