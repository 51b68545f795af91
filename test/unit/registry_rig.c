/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry_rig.h"

struct fake fake;
struct fake_ia ias[4];
char conf_path[] = "/tmp/test_registry.XXXXXX";

static DAT_RETURN
fake_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia);

static DAT_RETURN
fake_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	if (fake.close_returns == DAT_SUCCESS)
		((struct fake_ia *)ia)->table = NULL;
	return fake.close_returns;
}

const DAT_PROVIDER fake_table = {
	.device_name = "fake",
	.ia_open_func = fake_open,
	.ia_close_func = fake_close,
};

const DAT_PROVIDER fake_other_table = { .device_name = "other" };

static DAT_RETURN
fake_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia)
{
	struct fake_ia *free_ia = ias;

	if (fake.open_returns != DAT_SUCCESS)
		return fake.open_returns;
	while (free_ia->table != NULL)
		free_ia++;
	free_ia->table = &fake_table;
	*ia = free_ia;
	*async_evd = (DAT_EVD_HANDLE)(uintptr_t)qlen;
	snprintf(fake.opened, sizeof(fake.opened), "%s", name);
	return DAT_SUCCESS;
}

void
roce_dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data)
{
	fake.inits++;
	fake.info = *info;
	snprintf(fake.data, sizeof(fake.data), "%s", instance_data);
	if (!fake.forgets_to_register)
		assert_int_equal(dat_registry_add_provider(&fake_table, info), DAT_SUCCESS);
}

void
roce_dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	fake.finis++;
	assert_int_equal(dat_registry_remove_provider(&fake_table, info), DAT_SUCCESS);
}

DAT_PROVIDER_INFO
info_of(const char *name, DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	DAT_PROVIDER_INFO info = {
		.dapl_version_major = 1,
		.dapl_version_minor = minor,
		.is_thread_safe = thread_safe,
	};

	snprintf(info.ia_name, sizeof(info.ia_name), "%s", name);
	return info;
}

void
write_conf(const char *text)
{
	FILE *f = fopen(conf_path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Each test starts with a conf file that is empty and in force, and with nothing registered. */
int
setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	memset(ias, 0, sizeof(ias));
	write_conf("");
	return setenv("DAT_OVERRIDE", conf_path, 1);
}

DAT_RETURN
open_version(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN safe,
		DAT_IA_HANDLE *ia)
{
	char writable[64];
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

	snprintf(writable, sizeof(writable), "%s", name);
	return dat_ia_openv(writable, 8, &evd, ia, major, minor, safe);
}

DAT_RETURN
open_name(const char *name, DAT_IA_HANDLE *ia)
{
	return open_version(name, 1, 2, DAT_FALSE, ia);
}

/* The name of the conf file is had before the first test, and given back after the last. */
int
unit_begin(void **state)
{
	int fd = mkstemp(conf_path);

	if (fd < 0)
		return -1;
	return close(fd);
}

int
unit_end(void **state)
{
	return unlink(conf_path);
}
