/* SPDX-License-Identifier: BSD-3-Clause */
#include "ia.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Asynchronous events are rare: this is room for a burst of them. */
#define ASYNC_QLEN 64

int
cli_ia_list(DAT_PROVIDER_INFO list[CLI_IA_MAX])
{
	DAT_PROVIDER_INFO *entries[CLI_IA_MAX];
	DAT_COUNT found = 0;
	DAT_RETURN ret;

	for (int i = 0; i < CLI_IA_MAX; i++)
		entries[i] = &list[i];
	ret = dat_registry_list_providers(CLI_IA_MAX, &found, entries);
	if (ret != DAT_SUCCESS) {
		cli_say_dat(ret, "the registry cannot list its interface adapters");
		return -1;
	}
	return found > CLI_IA_MAX ? CLI_IA_MAX : found;
}

static void
say_unknown(const char *name)
{
	DAT_PROVIDER_INFO list[CLI_IA_MAX];
	char known[256] = "";
	size_t used = 0;
	int n;

	n = cli_ia_list(list);
	for (int i = 0; i < n && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
				i == 0 ? "" : ", ", list[i].ia_name);
	cli_say("no interface adapter is named '%s'; there is %s", name,
			known[0] == '\0' ? "none at all" : known);
}

int
cli_ia_open(const char *name, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia)
{
	/* The standard's type for the name is a pointer to writable characters. */
	char writable[DAT_NAME_MAX_LENGTH];
	DAT_RETURN ret;

	*ia = DAT_HANDLE_NULL;
	if (strlen(name) >= sizeof(writable)) {
		say_unknown(name);
		return -1;
	}
	snprintf(writable, sizeof(writable), "%s", name);
	*async_evd = DAT_HANDLE_NULL;
	ret = dat_ia_open(writable, ASYNC_QLEN, async_evd, ia);
	if (ret == DAT_SUCCESS)
		return 0;
	*ia = DAT_HANDLE_NULL;
	if (DAT_GET_TYPE(ret) != DAT_PROVIDER_NOT_FOUND)
		cli_say_dat(ret, "cannot open interface adapter '%s'", name);
	else if (DAT_GET_SUBTYPE(ret) == DAT_NAME_NOT_REGISTERED)
		say_unknown(name);
	else
		cli_say("cannot open interface adapter '%s': its provider's library or its port is "
			"missing",
				name);
	return -1;
}

int
cli_ia_query(DAT_IA_HANDLE ia, struct cli_ia_attrs *attrs)
{
	DAT_EVD_HANDLE async_evd;
	DAT_RETURN ret;

	memset((void *)attrs, 0, sizeof(*attrs));
	ret = dat_ia_query(ia, &async_evd, DAT_IA_FIELD_ALL, &attrs->ia, DAT_PROVIDER_FIELD_ALL,
			&attrs->provider);
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "cannot query the interface adapter");
	return -1;
}

static const char *
find(const DAT_NAMED_ATTR *list, DAT_COUNT n, const char *name)
{
	for (DAT_COUNT i = 0; i < n; i++)
		if (list[i].name != NULL && strcmp(list[i].name, name) == 0)
			return list[i].value;
	return NULL;
}

const char *
cli_ia_attr(const struct cli_ia_attrs *attrs, const char *name, const char *otherwise)
{
	const char *value;

	value = find(attrs->provider.provider_specific_attr,
			attrs->provider.num_provider_specific_attr, name);
	if (value == NULL)
		value = find(attrs->ia.vendor_attr, attrs->ia.num_vendor_attr, name);
	return value == NULL ? otherwise : value;
}

uint64_t
cli_ia_count(const struct cli_ia_attrs *attrs, const char *name)
{
	uint64_t count = 0;

	cli_number(cli_ia_attr(attrs, name, "0"), 0, UINT64_MAX, &count);
	return count;
}
