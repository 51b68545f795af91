/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "look.h"
#include "roced.h"
#include "snapshot.h"
#include "text.h"

/** A device, and whose it is. */
struct device {
	const char *pid;
	const char *process;
	const char *name;
	struct json_object *all;
};

/** All that the families are made of. */
struct source {
	struct info_text text;
	struct device *device;
	size_t n;
	size_t processes;
	struct json_object *help;
	struct json_object *roced; /**< its status; NULL: there is none */
};

/*
 * The counters of ours that mlx5 counts, too, and under which name. The rnr_nak_retry_err of mlx5 are NAKs that
 * came and were obeyed; queue pairs that had enough of them are req_rnr_retries_exceeded.
 */
static const char *const standard[][2] = {
	{ "duplicate_request", "duplicate_request" },
	{ "out_of_sequence", "out_of_sequence" },
	{ "out_of_buffer", "out_of_buffer" },
	{ "packet_seq_err", "packet_seq_err" },
	{ "implied_nak_seq_err", "implied_nak_seq_err" },
	{ "local_ack_timeout_err", "local_ack_timeout_err" },
	{ "rnr_nak_received", "rnr_nak_retry_err" },
	{ "rnr_nak_retry_err", "req_rnr_retries_exceeded" },
	{ "req_transport_retries_exceeded", "req_transport_retries_exceeded" },
	{ "req_remote_invalid_request", "req_remote_invalid_request" },
	{ "req_remote_access_errors", "req_remote_access_errors" },
	{ "resp_local_length_error", "resp_local_length_error" },
	{ "resp_remote_access_errors", "resp_remote_access_errors" },
	{ "rx_icrc_encapsulated", "rx_icrc_encapsulated" },
	{ "rx_write_requests", "rx_write_requests" },
	{ "rx_read_requests", "rx_read_requests" },
	{ "rx_atomic_requests", "rx_atomic_requests" },
	{ "np_ecn_marked_roce_packets", "np_ecn_marked_roce_packets" },
	{ "np_cnp_sent", "np_cnp_sent" },
	{ "rp_cnp_handled", "rp_cnp_handled" },
	{ "rp_cnp_ignored", "rp_cnp_ignored" },
};

static const char *
standard_name(const char *ours)
{
	for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
		if (strcmp(standard[i][0], ours) == 0)
			return standard[i][1];
	return NULL;
}

/* Behind the last device. */
static const struct device *
end_of(const struct source *source)
{
	return source->device + source->n;
}

/* Begin a sample of a device; more labels may follow. */
static void
begin(struct source *source, const struct device *device)
{
	info_text_sample(&source->text);
	info_text_label(&source->text, "pid", device->pid);
	info_text_label(&source->text, "process", device->process);
	info_text_label(&source->text, "device", device->name);
	info_text_label(&source->text, "port", "1");
}

/* One sample a device: the member of its object @p part. */
static void
write_members(struct source *source, const char *part, const char *sub, const char *name)
{
	for (const struct device *device = source->device; device != end_of(source); device++) {
		struct json_object *object = info_member(device->all, part);

		if (sub != NULL)
			object = info_member(object, sub);
		if (object == NULL || !json_object_object_get_ex(object, name, NULL))
			continue;
		begin(source, device);
		info_text_value(&source->text, info_number(object, name));
	}
}

static void
write_stats(struct source *source, struct json_object *names)
{
	char name[96];

	json_object_object_foreach(names, ours, value)
	{
		const char *known = standard_name(ours);

		if (!json_object_is_type(value, json_type_int))
			continue;
		snprintf(name, sizeof(name), "%s_%.80s", known != NULL ? "rdma" : "roce",
				known != NULL ? known : ours);
		info_text_family(&source->text, INFO_COUNTER, name, info_words(source->help, ours));
		write_members(source, "stats", NULL, ours);
	}
}

static void
write_cm_counters(struct source *source, struct json_object *names)
{
	char name[96];

	json_object_object_foreach(names, ours, value)
	{
		if (!json_object_is_type(value, json_type_int))
			continue;
		snprintf(name, sizeof(name), "roce_cm_%.80s", ours);
		info_text_family(&source->text, INFO_COUNTER, name,
				info_words(source->help, name + strlen("roce_")));
		write_members(source, "cm", "counters", ours);
	}
}

static void
write_connections(struct source *source)
{
	info_text_family(&source->text, INFO_GAUGE, "roce_cm_connections",
			"connections of the connection manager in each state");
	for (const struct device *device = source->device; device != end_of(source); device++) {
		struct json_object *cm = info_member(device->all, "cm");

		if (cm == NULL)
			continue;
		json_object_object_foreach(cm, state, count)
		{
			if (!json_object_is_type(count, json_type_int))
				continue;
			begin(source, device);
			info_text_label(&source->text, "state", state);
			info_text_value(&source->text, json_object_get_uint64(count));
		}
	}
}

/** A member of every queue of a kind. */
struct column {
	const char *member;
	const char *name;
	enum info_kind kind;
	const char *help;
};

static const struct column srq_columns[] = {
	{ "max", "roce_srq_max", INFO_GAUGE, "receives that the shared receive queue holds" },
	{ "available", "roce_srq_available", INFO_GAUGE,
			"receives on the shared receive queue that can be taken" },
	{ "outstanding", "roce_srq_outstanding", INFO_GAUGE,
			"receives posted and not yet reaped: on the queue, held, or completed" },
	{ "low_watermark", "roce_srq_low_watermark", INFO_GAUGE,
			"low watermark that was set last; 0: none" },
	{ "armed", "roce_srq_armed", INFO_GAUGE,
			"1: the low watermark was not crossed since it was set" },
	{ "queue_pairs", "roce_srq_queue_pairs", INFO_GAUGE,
			"queue pairs on the shared receive queue" },
	{ "low_watermark_events", "roce_srq_low_watermark_events", INFO_COUNTER,
			"times the low watermark was crossed" },
	{ "empty_rnr", "roce_srq_empty_rnr", INFO_COUNTER,
			"times a message found no receive on the shared receive queue" },
};

static const struct column qp_columns[] = {
	{ "held", "roce_qp_held", INFO_GAUGE,
			"receives that the queue pair has and that are not completed" },
	{ "requests", "roce_qp_requests", INFO_GAUGE, "requests of the queue pair not finished" },
	{ "taken", "roce_qp_taken", INFO_COUNTER, "receives taken, modulo 2^32" },
	{ "posted", "roce_qp_posted", INFO_COUNTER, "requests posted, modulo 2^32" },
	{ "completed", "roce_qp_completed", INFO_COUNTER, "requests finished, modulo 2^32" },
	{ "received", "roce_qp_received", INFO_COUNTER,
			"messages of the peer executed on this connection, modulo 2^24" },
};

static void
write_columns(struct source *source, const char *list, const char *label,
		const struct column *column, size_t n)
{
	for (size_t i = 0; i < n; i++, column++) {
		info_text_family(&source->text, column->kind, column->name, column->help);
		for (const struct device *device = source->device; device != end_of(source);
				device++) {
			struct json_object *queues = info_member(device->all, list);

			if (queues == NULL)
				continue;
			json_object_object_foreach(queues, id, queue)
			{
				begin(source, device);
				info_text_label(&source->text, label, id);
				info_text_value(&source->text, info_number(queue, column->member));
			}
		}
	}
}

static const char *const qp_states[] = { "reset", "rtr", "rts", "error" };
static const char *const channel_states[] = { "polled", "armed", "stalled", "broken" };

/* How many members of a list are in a state. */
static uint64_t
count_in_state(struct json_object *list, const char *state)
{
	uint64_t n = 0;

	json_object_object_foreach(list, number, one)
	{
		(void)number;
		n += strcmp(info_words(one, "state"), state) == 0;
	}
	return n;
}

/* One sample a device and state; a device without such a list has none. */
static void
write_states(struct source *source, const char *list, const char *name, const char *const *states,
		size_t n, const char *help)
{
	info_text_family(&source->text, INFO_GAUGE, name, help);
	for (const struct device *device = source->device; device != end_of(source); device++) {
		struct json_object *found = info_member(device->all, list);

		for (size_t i = 0; i < n && found != NULL; i++) {
			begin(source, device);
			info_text_label(&source->text, "state", states[i]);
			info_text_value(&source->text, count_in_state(found, states[i]));
		}
	}
}

static void
write_devices(struct source *source)
{
	static const char *const labels[] = { "driver", "ip", "mac", "icrc" };
	struct info_text *text = &source->text;

	info_text_family(text, INFO_GAUGE, "roce_device_info", "what the device is; always 1");
	for (const struct device *device = source->device; device != end_of(source); device++) {
		begin(source, device);
		for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
			info_text_label(text, labels[i],
					info_words(info_member(device->all, "port"), labels[i]));
		info_text_value(text, 1);
	}
	info_text_family(text, INFO_GAUGE, "roce_device_mtu_bytes", "path MTU");
	write_members(source, "port", NULL, "mtu");
	info_text_family(text, INFO_GAUGE, "roce_device_engines", "engines, one for each queue");
	write_members(source, "port", NULL, "engines");
}

static void
write_processes(struct source *source)
{
	info_text_family(&source->text, INFO_GAUGE, "roce_processes",
			"processes with a RoCE device that answer");
	info_text_sample(&source->text);
	info_text_value(&source->text, source->processes);
}

static void
write_all(struct source *source, bool queue_pairs)
{
	write_processes(source);
	write_devices(source);
	/* Every device counts the same. */
	if (source->n > 0) {
		struct json_object *first = source->device[0].all;
		struct json_object *cm = info_member(info_member(first, "cm"), "counters");

		write_stats(source, info_member(first, "stats"));
		if (cm != NULL)
			write_cm_counters(source, cm);
	}
	write_connections(source);
	write_states(source, "channels", "roce_channels", channel_states,
			sizeof(channel_states) / sizeof(channel_states[0]),
			"channels to other processes in each state");
	write_columns(source, "srqs", "srq", srq_columns,
			sizeof(srq_columns) / sizeof(srq_columns[0]));
	write_states(source, "qps", "roce_qps", qp_states, sizeof(qp_states) / sizeof(qp_states[0]),
			"queue pairs in each state");
	if (queue_pairs)
		write_columns(source, "qps", "qp", qp_columns,
				sizeof(qp_columns) / sizeof(qp_columns[0]));
	if (source->roced != NULL)
		info_roced_metrics(&source->text, source->roced);
	info_text_end(&source->text);
}

/* Devices of all processes in one list. @return 0; -1: no memory. */
static int
list_devices(struct source *source, struct json_object *snapshot)
{
	size_t n = 0;

	source->processes = (size_t)info_look_processes(snapshot);
	json_object_object_foreach(snapshot, number, process)
	{
		(void)number;
		n += (size_t)json_object_object_length(info_member(process, "devices"));
	}
	source->device = calloc(n + 1, sizeof(*source->device));
	if (source->device == NULL)
		return -1;
	json_object_object_foreach(snapshot, pid, whole)
	{
		struct json_object *devices = info_member(whole, "devices");

		json_object_object_foreach(devices, name, all)
		{
			source->device[source->n++] = (struct device){ pid,
				info_words(whole, "process"), name, all };
		}
	}
	return 0;
}

int
info_metrics_write(const struct info_choice *choice, const struct info_format *format, FILE *out,
		struct info_errmsg *errmsg)
{
	struct source source = { .text = { .out = out, .openmetrics = format->openmetrics } };
	struct json_object *snapshot = info_look(choice, &source.help, errmsg);
	int rc = -1;

	if (snapshot == NULL) {
		json_object_put(source.help);
		return -1;
	}
	source.roced = info_look_roced(snapshot);
	if (list_devices(&source, snapshot) == 0) {
		write_all(&source, format->queue_pairs);
		rc = 0;
	} else {
		info_errmsg_set(errmsg, "no memory");
	}
	free(source.device);
	json_object_put(snapshot);
	json_object_put(source.help);
	return rc;
}

int
info_metrics_print(const struct info_options *options)
{
	const struct info_format format = { .openmetrics = options->openmetrics,
		.queue_pairs = options->queue_pairs };
	struct info_errmsg errmsg;
	int rc = info_metrics_write(&options->process, &format, stdout, &errmsg);

	if (rc != 0)
		cli_say("%s", errmsg.text);
	return rc;
}
