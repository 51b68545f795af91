/* SPDX-License-Identifier: BSD-3-Clause */
#include "snapshot.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "clean.h"
#include "cli/json.h"

uint64_t
info_number(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (object == NULL || !json_object_object_get_ex(object, key, &value))
		return 0;
	return json_object_get_uint64(value);
}

struct json_object *
info_member(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (object == NULL || !json_object_object_get_ex(object, key, &value) ||
			!json_object_is_type(value, json_type_object))
		return NULL;
	return value;
}

const char *
info_words(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (object == NULL || !json_object_object_get_ex(object, key, &value) ||
			!json_object_is_type(value, json_type_string))
		return "";
	return json_object_get_string(value);
}

/* Ask about one device, and keep the answer under a name. */
static int
ask_about(struct info_link *link, const char *command, const char *port, struct json_object *device,
		const char *name, struct info_errmsg *errmsg)
{
	struct json_object *answer;
	char question[160];

	snprintf(question, sizeof(question), "%s,%s", command, port);
	if (info_link_ask(link, question, &answer, errmsg) != 0)
		return -1;
	if (answer != NULL)
		json_object_object_add(device, name, answer);
	return 0;
}

/* Move what is on a page to the others. @return the lowest number behind them; 0: the page was empty. */
static uint64_t
take_page(struct json_object *page, struct json_object *all)
{
	struct json_object *list = info_member(page, "list");
	uint64_t last = 0;

	if (list == NULL)
		return 0;
	json_object_object_foreach(list, key, value)
	{
		uint64_t number = strtoull(key, NULL, 10);

		if (!json_object_is_type(value, json_type_object))
			continue;
		last = number + 1 > last ? number + 1 : last;
		json_object_object_add(all, key, json_object_get(value));
	}
	return last;
}

/* All pages of a list. They end where one brings nothing further on. */
static int
ask_pages(struct info_link *link, const char *command, const char *port, struct json_object *device,
		const char *name, struct info_errmsg *errmsg)
{
	struct json_object *all = json_object_new_object(), *page;
	uint64_t next = 0, last;
	char question[160];

	json_object_object_add(device, name, all);
	do {
		last = next;
		snprintf(question, sizeof(question), "%s,%s,%" PRIu64, command, port, last);
		if (info_link_ask(link, question, &page, errmsg) != 0)
			return -1;
		next = take_page(page, all);
		json_object_put(page);
	} while (next > last && next <= UINT32_MAX);
	return 0;
}

static int
ask_device(struct info_link *link, const char *port, struct json_object *device,
		struct info_errmsg *errmsg)
{
	/* One of the processes of a roced has them. */
	if (info_number(info_member(device, "port"), "process") != 0 &&
			ask_pages(link, "/roce/channels", port, device, "channels", errmsg) != 0)
		return -1;
	if (ask_about(link, "/roce/stats", port, device, "stats", errmsg) != 0 ||
			ask_about(link, "/roce/cm", port, device, "cm", errmsg) != 0 ||
			ask_pages(link, "/roce/srqs", port, device, "srqs", errmsg) != 0)
		return -1;
	return ask_pages(link, "/roce/qps", port, device, "qps", errmsg);
}

static int
ask_devices(struct info_link *link, struct json_object *ports, struct json_object *devices,
		struct info_errmsg *errmsg)
{
	json_object_object_foreach(ports, key, port)
	{
		const char *name = info_words(port, "port");
		struct json_object *device;

		if (*name == '\0')
			return info_errmsg_set(errmsg,
					"the process at %s has a device without a name: %s",
					link->path, key);
		device = json_object_new_object();
		json_object_object_add(devices, name, device);
		json_object_object_add(device, "port", json_object_get(port));
		if (ask_device(link, name, device, errmsg) != 0)
			return -1;
		/* It was closed meanwhile. */
		if (info_member(device, "stats") == NULL)
			json_object_object_del(devices, name);
	}
	return 0;
}

/* The name that the kernel has for a process: the file name of its program, at most 15 bytes of it. */
static void
add_process_name(struct json_object *snapshot, uint32_t pid)
{
	char path[32], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", pid);
	file = fopen(path, "re");
	if (file != NULL) {
		if (fgets(name, sizeof(name), file) != NULL)
			name[strcspn(name, "\n")] = '\0';
		fclose(file);
	}
	cli_json_string(snapshot, "process", info_clean_text(name));
}

struct json_object *
info_snapshot(struct info_link *link, struct info_errmsg *errmsg)
{
	struct json_object *snapshot, *devices, *ports;
	int rc = 0;

	if (info_link_ask(link, "/roce/ports", &ports, errmsg) != 0)
		return NULL;
	snapshot = json_object_new_object();
	devices = json_object_new_object();
	cli_json_count(snapshot, "pid", link->pid);
	add_process_name(snapshot, link->pid);
	json_object_object_add(snapshot, "devices", devices);
	if (ports != NULL)
		rc = ask_devices(link, ports, devices, errmsg);
	json_object_put(ports);
	if (rc != 0) {
		json_object_put(snapshot);
		return NULL;
	}
	return snapshot;
}
