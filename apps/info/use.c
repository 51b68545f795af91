/* SPDX-License-Identifier: BSD-3-Clause */
#include "use.h"

#include <string.h>

#include <json-c/json.h>

#include "snapshot.h"

static bool
serves(struct json_object *port, const char *name)
{
	struct json_object *adapters, *one;

	if (port == NULL || strcmp(info_words(port, "driver"), "net_ring") == 0 ||
			!json_object_object_get_ex(port, "adapters", &adapters) ||
			!json_object_is_type(adapters, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(adapters); i++) {
		one = json_object_array_get_idx(adapters, i);
		if (json_object_is_type(one, json_type_string) &&
				strcmp(json_object_get_string(one), name) == 0)
			return true;
	}
	return false;
}

bool
info_use_find(struct json_object *processes, const char *name, struct info_use *use)
{
	*use = (struct info_use){ 0 };
	if (processes == NULL)
		return false;
	json_object_object_foreach(processes, pid, process)
	{
		struct json_object *devices = info_member(process, "devices");

		(void)pid;
		if (devices == NULL)
			continue;
		json_object_object_foreach(devices, port, device)
		{
			(void)port;
			if (!serves(info_member(device, "port"), name))
				continue;
			if (use->process != NULL)
				use->others++;
			else
				*use = (struct info_use){ process, device, 0 };
		}
	}
	return use->process != NULL;
}
