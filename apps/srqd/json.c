/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "report.h"

#define FLAGS (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

static void
add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

static void
add_count(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static void
add_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

/* json-c would print seventeen digits. */
static void
add_number(struct json_object *object, const char *key, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.6f", value);
	json_object_object_add(object, key, json_object_new_double_s(value, text));
}

static void
add_config(struct json_object *root, const struct srqd_options *options)
{
	static const char *const mode[] = { "server", "self", "client" };
	struct json_object *c = json_object_new_object();

	json_object_object_add(root, "config", c);
	add_string(c, "mode", mode[options->mode]);
	add_string(c, "ia", options->ia);
	if (options->host != NULL)
		add_string(c, "peer", options->host);
	add_count(c, "port", options->port);
	add_count(c, "size", options->size);
	add_count(c, "window", options->window);
	if (options->mode != SRQD_CLIENT) {
		add_count(c, "depth", options->depth);
		add_count(c, "max_depth", options->max_depth);
		add_count(c, "low_watermark", options->low);
		add_count(c, "max_clients", options->max_clients);
		add_bool(c, "sink", options->sink);
	}
	if (options->mode != SRQD_SERVER) {
		add_count(c, "clients", options->clients);
		add_count(c, "messages", options->messages);
	}
}

int
srqd_json_begin(struct srqd_json *json, const struct srqd_options *options)
{
	json->root = json_object_new_object();
	if (json->root == NULL) {
		cli_say("no memory for the JSON object");
		return -1;
	}
	add_string(json->root, "tool", "dat-srqd");
	add_string(json->root, "version", UDAPL_ROCE_VERSION);
	add_config(json->root, options);
	return 0;
}

static struct json_object *
guest_object(const struct guest *guest)
{
	struct json_object *object = json_object_new_object();

	add_count(object, "client", guest->number);
	add_string(object, "address", guest->address);
	add_string(object, "state", report_state(guest));
	add_count(object, "messages", guest->messages);
	add_count(object, "bytes", guest->bytes);
	add_count(object, "answers", guest->answers);
	add_count(object, "window", guest->window);
	add_count(object, "held", guest->held);
	add_count(object, "most_held", guest->most_held);
	return object;
}

static struct json_object *
srq_object(const struct refill *refill, const DAT_SRQ_PARAM *param)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "max", json_object_new_int(param->max_recv_dtos));
	json_object_object_add(
			object, "available", json_object_new_int(param->available_dto_count));
	json_object_object_add(
			object, "outstanding", json_object_new_int(param->outstanding_dto_count));
	add_count(object, "free", refill->n_free);
	json_object_object_add(object, "low_watermark", json_object_new_int(param->low_watermark));
	add_count(object, "low_watermark_events", refill->events);
	add_count(object, "refills", refill->refills);
	add_count(object, "posted_again", refill->posts);
	add_count(object, "grown", refill->grown);
	return object;
}

int
srqd_json_server(struct srqd_json *json, const struct server *server)
{
	const struct server_totals *totals = &server->totals;
	struct json_object *object, *list;
	DAT_SRQ_PARAM param;

	if (refill_query(&server->refill, &param) != 0)
		return -1;
	object = json_object_new_object();
	json_object_object_add(json->root, "server", object);
	add_count(object, "clients", totals->clients);
	add_count(object, "lost", totals->lost);
	add_count(object, "turned_away", totals->turned_away);
	add_count(object, "messages", totals->messages);
	add_count(object, "bytes", totals->bytes);
	add_count(object, "answers", totals->answers);
	add_count(object, "unanswered", totals->unanswered);
	add_count(object, "rnr_naks", server_rnr_naks(server));
	json_object_object_add(object, "srq", srq_object(&server->refill, &param));
	list = json_object_new_array();
	for (uint32_t i = 0; i < server->places; i++)
		json_object_array_add(list, guest_object(&server->guests[i]));
	json_object_object_add(object, "client_list", list);
	return 0;
}

void
srqd_json_clients(struct srqd_json *json, const struct clients *clients)
{
	struct json_object *object = json_object_new_object();
	double seconds = clients->ended - clients->began;

	json_object_object_add(json->root, "clients", object);
	add_count(object, "clients", clients->up);
	add_count(object, "sent", clients->sent);
	add_count(object, "arrived", clients->arrived);
	add_count(object, "answered", clients->answered);
	if (clients->ended <= 0 || seconds <= 0)
		return;
	add_number(object, "seconds", seconds);
	add_number(object, "messages_per_s", (double)clients->arrived / seconds);
}

int
srqd_json_end(struct srqd_json *json, const struct srqd_options *options, const char *error)
{
	FILE *file = stdout;
	const char *text;
	int rc = 0;

	if (error != NULL)
		add_string(json->root, "error", error);
	text = json_object_to_json_string_ext(json->root, FLAGS);
	if (options->json_file != NULL)
		file = fopen(options->json_file, "we");
	if (file == NULL || fprintf(file, "%s\n", text) < 0 || fflush(file) != 0)
		rc = -1;
	if (file != NULL && file != stdout && fclose(file) != 0)
		rc = -1;
	if (rc != 0)
		cli_say("cannot write the JSON to %s: %s",
				options->json_file == NULL ? "standard output" : options->json_file,
				strerror(errno));
	json_object_put(json->root);
	return rc;
}
