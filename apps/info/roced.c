/* SPDX-License-Identifier: BSD-3-Clause */
#include "roced.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <json-c/json.h>

#include "clean.h"
#include "local/proto.h"
#include "local/run_dir.h"
#include "roced/ask.h"
#include "snapshot.h"

/** Entries of a list that one line shows. */
#define SHOWN 6

/** Service ids of RDMA CM over TCP's port space: the port is the rest (IBTA A11.2). */
#define SERVICE_TCP UINT64_C(0x01060000)

struct json_object *
info_roced_ask(char *errmsg, size_t len)
{
	struct roce_errmsg said = { .text = errmsg, .len = len };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct json_object *object;
	char dir[ROCE_RUN_DIR_LEN];
	size_t bytes;
	char *text;
	int rc;

	errmsg[0] = '\0';
	if (roce_run_dir(dir, sizeof(dir), &said) != 0) {
		errmsg[0] = '\0';
		return NULL;
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", dir, ROCE_PROTO_SOCKET);
	rc = roced_ask(&address, true, &text, &bytes, &said);
	if (rc == -ENOENT || rc == -ECONNREFUSED)
		errmsg[0] = '\0';
	if (rc != 0)
		return NULL;
	object = info_clean_parse(text, bytes);
	if (object == NULL || strcmp(info_words(object, "tool"), INFO_ROCED) != 0) {
		json_object_put(object);
		object = NULL;
		snprintf(errmsg, len, "what roced in %s tells is not its status", dir);
	}
	free(text);
	return object;
}

struct json_object *
info_roced_list(struct json_object *object, const char *key)
{
	struct json_object *list;

	if (object == NULL || !json_object_object_get_ex(object, key, &list) ||
			!json_object_is_type(list, json_type_array))
		return NULL;
	return list;
}

uint64_t
info_roced_length(struct json_object *process, const char *list)
{
	struct json_object *found = info_roced_list(process, list);

	return found != NULL ? json_object_array_length(found) : 0;
}

/* @return NULL: it is no object. */
static struct json_object *
process_at(struct json_object *list, size_t i)
{
	struct json_object *process = json_object_array_get_idx(list, i);

	return json_object_is_type(process, json_type_object) ? process : NULL;
}

struct json_object *
info_roced_process(struct json_object *roced, uint64_t number)
{
	struct json_object *list = info_roced_list(roced, "processes");

	for (size_t i = 0; i < info_roced_length(roced, "processes"); i++) {
		struct json_object *process = process_at(list, i);

		if (process != NULL && info_number(process, "number") == number)
			return process;
	}
	return NULL;
}

struct info_roced_sums
info_roced_sum(struct json_object *roced)
{
	struct info_roced_sums sums = { .processes = info_roced_length(roced, "processes") };
	struct json_object *list = info_roced_list(roced, "processes");
	uint64_t ends = 0;

	for (size_t i = 0; i < sums.processes; i++) {
		struct json_object *process = process_at(list, i);

		ends += info_roced_length(process, "channels");
		sums.listeners += info_roced_length(process, "listeners");
	}
	sums.channels = ends / 2;
	return sums;
}

/* ---- for people ---- */

static void
print_number(uint64_t number)
{
	printf("%" PRIu64, number);
}

/* A port as programs know it. */
static void
print_service(uint64_t service_id)
{
	if (service_id - SERVICE_TCP <= UINT16_MAX)
		printf("%" PRIu64, service_id - SERVICE_TCP);
	else
		printf("%#" PRIx64, service_id);
}

static void
print_some(struct json_object *process, const char *key, void (*print)(uint64_t number))
{
	struct json_object *list = info_roced_list(process, key);
	uint64_t n = info_roced_length(process, key);

	for (size_t i = 0; i < n && i < SHOWN; i++) {
		if (i > 0)
			putchar(',');
		print(json_object_get_uint64(json_object_array_get_idx(list, i)));
	}
	if (n == 0)
		putchar('-');
	else if (n > SHOWN)
		printf(" and %" PRIu64 " more", n - SHOWN);
}

static void
print_process(struct json_object *process)
{
	printf("%-6" PRIu64 " %-8" PRIu64 " %-16s %-9" PRIu64 " ", info_number(process, "number"),
			info_number(process, "pid"), info_words(process, "name"),
			info_roced_length(process, "channels"));
	print_some(process, "channels", print_number);
	if (info_roced_length(process, "listeners") > 0) {
		fputs("; listens at ", stdout);
		print_some(process, "listeners", print_service);
	}
	putchar('\n');
}

void
info_roced_print(struct json_object *roced)
{
	struct json_object *list = info_roced_list(roced, "processes");
	struct json_object *addresses = info_roced_list(roced, "addresses");
	const struct info_roced_sums sums = info_roced_sum(roced);

	printf("\nroced %s, pid %" PRIu64 ", started %" PRIu64 " s ago, %s\naddresses:",
			info_words(roced, "version"), info_number(roced, "pid"),
			info_number(roced, "uptime_seconds"),
			info_number(roced, "uplink") != 0 ? "with an uplink" : "no uplink");
	for (size_t i = 0; i < info_roced_length(roced, "addresses"); i++)
		printf(" %s", json_object_get_string(json_object_array_get_idx(addresses, i)));
	putchar('\n');
	if (sums.processes == 0)
		return;
	printf("%-6s %-8s %-16s %-9s %s\n", "NUMBER", "PID", "PROGRAM", "CHANNELS", "WITH");
	for (size_t i = 0; i < sums.processes; i++) {
		struct json_object *process = process_at(list, i);

		if (process != NULL)
			print_process(process);
	}
}
