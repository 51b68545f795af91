/* SPDX-License-Identifier: BSD-3-Clause */
/* In the manner of who knows no name: asks how many adapters there are, then which, and opens each. */

#include "consumer.h"

#define MOST 32

static void
open_one(DAT_PROVIDER_INFO *info)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_PROVIDER_ATTR provider;
	DAT_IA_ATTR attr;
	DAT_IA_HANDLE ia;

	MUST(dat_ia_openv(info->ia_name, 8, &async, &ia, info->dapl_version_major,
			info->dapl_version_minor, info->is_thread_safe));
	memset(&attr, 0, sizeof(attr));
	memset((void *)&provider, 0, sizeof(provider));
	MUST(dat_ia_query(ia, &async, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
	TRUE_THAT(strcmp(attr.adapter_name, info->ia_name) == 0);
	TRUE_THAT(attr.ia_address_ptr != NULL);
	TRUE_THAT(attr.max_eps > 0 && attr.max_dto_per_ep >= 20000);
	TRUE_THAT(provider.max_private_data_size >= 48);
	TRUE_THAT(provider.is_thread_safe == info->is_thread_safe);
	MUST(dat_ia_close(ia, DAT_CLOSE_DEFAULT));
	TRUE_THAT(DAT_GET_TYPE(dat_ia_close(ia, DAT_CLOSE_DEFAULT)) == DAT_INVALID_HANDLE);
}

int
main(void)
{
	DAT_PROVIDER_INFO info[MOST], *list[MOST];
	DAT_COUNT count = 0, again = 0;
	char nobody[] = "nobody";
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	int i;

	TRUE_THAT(DAT_GET_TYPE(dat_registry_list_providers(0, &count, NULL)) ==
			DAT_INVALID_PARAMETER);
	TRUE_THAT(count >= 2 && count <= MOST);
	for (i = 0; i < count; i++)
		list[i] = &info[i];
	MUST(dat_registry_list_providers(count, &again, list));
	TRUE_THAT(again == count);
	for (i = 0; i < count; i++)
		open_one(list[i]);
	TRUE_THAT(DAT_GET_TYPE(dat_ia_open(nobody, 8, &async, &ia)) == DAT_PROVIDER_NOT_FOUND);
	return 0;
}
