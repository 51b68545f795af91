/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "report.h"

static void
add_config(struct json_object *root, const struct srqd_options *options)
{
	static const char *const mode[] = { "server", "self", "client" };
	struct json_object *c = json_object_new_object();

	json_object_object_add(root, "config", c);
	cli_json_string(c, "mode", mode[options->mode]);
	cli_json_string(c, "ia", options->ia);
	if (options->host != NULL)
		cli_json_string(c, "peer", options->host);
	cli_json_count(c, "port", options->port);
	cli_json_count(c, "size", options->size);
	cli_json_count(c, "window", options->window);
	if (options->mode != SRQD_CLIENT) {
		cli_json_count(c, "depth", options->depth);
		cli_json_count(c, "max_depth", options->max_depth);
		cli_json_count(c, "low_watermark", options->low);
		cli_json_count(c, "max_clients", options->max_clients);
		cli_json_count(c, "keepalive", options->keepalive_s);
		cli_json_count(c, "stall", options->stall_s);
		cli_json_count(c, "idle", options->idle_s);
		cli_json_bool(c, "sink", options->sink);
	}
	if (options->mode != SRQD_SERVER) {
		cli_json_count(c, "clients", options->clients);
		cli_json_count(c, "messages", options->messages);
	}
}

int
srqd_json_begin(struct srqd_json *json, const struct srqd_options *options)
{
	json->root = cli_json_begin("dat-srqd", options->json_file, &json->output);
	if (json->root == NULL)
		return -1;
	add_config(json->root, options);
	return 0;
}

static struct json_object *
guest_object(const struct guest *guest)
{
	struct json_object *object = json_object_new_object();

	cli_json_count(object, "client", guest->number);
	cli_json_string(object, "address", guest->address);
	cli_json_string(object, "state", report_state(guest));
	cli_json_count(object, "messages", guest->messages);
	cli_json_count(object, "bytes", guest->bytes);
	cli_json_count(object, "answers", guest->answers);
	cli_json_count(object, "window", guest->window);
	cli_json_count(object, "held", guest->life.held);
	cli_json_count(object, "most_held", guest->most_held);
	return object;
}

static struct json_object *
srq_object(const struct refill *refill, const DAT_SRQ_PARAM *param)
{
	struct json_object *object = json_object_new_object();

	cli_json_int(object, "max", param->max_recv_dtos);
	cli_json_int(object, "available", param->available_dto_count);
	cli_json_int(object, "outstanding", param->outstanding_dto_count);
	cli_json_count(object, "free", refill->n_free);
	cli_json_int(object, "low_watermark", param->low_watermark);
	cli_json_count(object, "low_watermark_events", refill->events);
	cli_json_count(object, "refills", refill->refills);
	cli_json_count(object, "posted_again", refill->posts);
	cli_json_count(object, "grown", refill->grown);
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
	cli_json_count(object, "clients", totals->clients);
	cli_json_count(object, "lost", totals->lost);
	cli_json_count(object, "turned_away", totals->turned_away);
	cli_json_count(object, "messages", totals->messages);
	cli_json_count(object, "bytes", totals->bytes);
	cli_json_count(object, "answers", totals->answers);
	cli_json_count(object, "unanswered", totals->unanswered);
	cli_json_count(object, "rnr_naks", server_rnr_naks(server));
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
	cli_json_count(object, "clients", clients->up);
	cli_json_count(object, "sent", clients->sent);
	cli_json_count(object, "arrived", clients->arrived);
	cli_json_count(object, "answered", clients->answered);
	if (clients->ended <= 0 || seconds <= 0)
		return;
	cli_json_number(object, "seconds", seconds);
	cli_json_number(object, "messages_per_s", (double)clients->arrived / seconds);
}

int
srqd_json_end(struct srqd_json *json, const char *error)
{
	return cli_json_end(json->root, &json->output, error);
}
