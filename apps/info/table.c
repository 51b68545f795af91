/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "look.h"
#include "rate.h"
#include "snapshot.h"
#include "table_pvt.h"

/** A queue pair as it is shown. */
struct row {
	uint64_t number;
	struct json_object *now;
	uint64_t count[INFO_SORT_NUMBER]; /**< as the sorts: held; the others since the look before */
};

/** The queue pairs of a device. */
struct rows {
	struct row *row;
	size_t n;
};

const char *
info_sort_name(enum info_sort sort)
{
	static const char *const names[INFO_SORTS] = { "held", "taken/s", "received/s",
		"completed/s", "EP" };

	return names[sort];
}

void
info_table_line(struct info_maker *maker, enum info_style style, const char *format, ...)
{
	struct info_table *table = &maker->table;
	struct info_line *grown;
	va_list args;

	grown = reallocarray(table->line, table->n + 1, sizeof(*grown));
	if (grown == NULL) {
		table->no_memory = true;
		return;
	}
	table->line = grown;
	grown += table->n;
	grown->style = style;
	va_start(args, format);
	if (vasprintf(&grown->text, format, args) >= 0)
		table->n++;
	else
		table->no_memory = true;
	va_end(args);
}

const char *
info_table_rate(const struct info_maker *maker, uint64_t distance, char *text)
{
	if (maker->seconds <= 0)
		return "-";
	return info_rate_text((double)distance / maker->seconds, text);
}

const char *
info_table_count(uint64_t number, char *text)
{
	if (number > 999999)
		return info_rate_text((double)number, text);
	snprintf(text, 16, "%" PRIu64, number);
	return text;
}

uint64_t
info_table_moved(struct json_object *before, struct json_object *now, const char *key,
		unsigned int bits)
{
	if (before == NULL)
		return 0;
	return info_distance(info_number(before, key), info_number(now, key), bits);
}

static int
compare(const void *a, const void *b, void *arg)
{
	const enum info_sort *sort = arg;
	const struct row *x = a, *y = b;

	if (*sort != INFO_SORT_NUMBER) {
		if (x->count[*sort] != y->count[*sort])
			return x->count[*sort] < y->count[*sort] ? 1 : -1;
		for (size_t i = 0; i < INFO_SORT_NUMBER; i++)
			if (x->count[i] != y->count[i])
				return x->count[i] < y->count[i] ? 1 : -1;
	}
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct rows
make_rows(const struct info_maker *maker, struct json_object *before, struct json_object *now)
{
	struct json_object *old = info_member(before, "qps"), *qps = info_member(now, "qps");
	enum info_sort sort = maker->sort;
	struct rows rows = { 0 };

	if (qps == NULL)
		return rows;
	rows.row = calloc((size_t)json_object_object_length(qps) + 1, sizeof(*rows.row));
	if (rows.row == NULL)
		return rows;
	json_object_object_foreach(qps, number, qp)
	{
		struct json_object *was = info_member(old, number);
		struct row *row = &rows.row[rows.n++];

		row->number = strtoull(number, NULL, 10);
		row->now = qp;
		row->count[INFO_SORT_HELD] = info_number(qp, "held");
		row->count[INFO_SORT_TAKEN] = info_table_moved(was, qp, "taken", INFO_BITS_QP);
		row->count[INFO_SORT_RECEIVED] =
				info_table_moved(was, qp, "received", INFO_BITS_RECEIVED);
		row->count[INFO_SORT_COMPLETED] =
				info_table_moved(was, qp, "completed", INFO_BITS_QP);
	}
	qsort_r(rows.row, rows.n, sizeof(*rows.row), compare, &sort);
	return rows;
}

static void
add_device(struct info_maker *maker, const char *name, struct json_object *before,
		struct json_object *now)
{
	struct json_object *port = info_member(now, "port"), *stats = info_member(now, "stats");
	struct json_object *old = info_member(before, "stats");
	bool down = json_object_object_get_ex(port, "link", NULL) && info_number(port, "link") == 0;
	uint64_t engines = info_number(port, "engines");
	char in[16], out[16], again[16];

	info_table_line(maker, down ? INFO_STYLE_TROUBLE : INFO_STYLE_PLAIN,
			"%s (%s) %s%s, MTU %" PRIu64 ", %" PRIu64 " engine%s", name,
			info_words(port, "driver"), info_words(port, "ip"), down ? ", no link" : "",
			info_number(port, "mtu"), engines, engines == 1 ? "" : "s");
	info_table_line(maker, INFO_STYLE_PLAIN, "  frames/s: %s in, %s out, %s sent again",
			info_table_rate(maker,
					info_table_moved(old, stats, "rx_frames", INFO_BITS_STATS),
					in),
			info_table_rate(maker,
					info_table_moved(old, stats, "tx_frames", INFO_BITS_STATS),
					out),
			info_table_rate(maker,
					info_table_moved(
							old, stats, "retransmits", INFO_BITS_STATS),
					again));
}

static const char *
watermark(struct json_object *srq)
{
	if (info_number(srq, "low_watermark") == 0)
		return "none";
	return info_number(srq, "armed") != 0 ? "armed" : "fired";
}

static enum info_style
style_of(struct json_object *srq)
{
	if (info_number(srq, "available") == 0)
		return INFO_STYLE_TROUBLE;
	return strcmp(watermark(srq), "fired") == 0 ? INFO_STYLE_NOTICE : INFO_STYLE_PLAIN;
}

/* Receives that its queue pairs hold and took together. */
static void
add_up(const struct rows *rows, uint64_t srq, uint64_t *held, uint64_t *taken)
{
	*held = 0;
	*taken = 0;
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *row = &rows->row[i];

		if (!json_object_object_get_ex(row->now, "srq", NULL) ||
				info_number(row->now, "srq") != srq)
			continue;
		*held += row->count[INFO_SORT_HELD];
		*taken += row->count[INFO_SORT_TAKEN];
	}
}

static void
add_srq(struct info_maker *maker, const char *id, struct json_object *srq, const struct rows *rows)
{
	char available[16], outstanding[16], max[16], low[16], events[16], empty[16], eps[16];
	char holds[16], takes[16];
	uint64_t held, taken;

	add_up(rows, strtoull(id, NULL, 10), &held, &taken);
	info_table_line(maker, style_of(srq), "  %3s %6s %11s %6s %6s %5s %6s %6s %5s %6s %7s", id,
			info_table_count(info_number(srq, "available"), available),
			info_table_count(info_number(srq, "outstanding"), outstanding),
			info_table_count(info_number(srq, "max"), max),
			info_table_count(info_number(srq, "low_watermark"), low), watermark(srq),
			info_table_count(info_number(srq, "low_watermark_events"), events),
			info_table_count(info_number(srq, "empty_rnr"), empty),
			info_table_count(info_number(srq, "queue_pairs"), eps),
			info_table_count(held, holds), info_table_rate(maker, taken, takes));
}

static void
add_srqs(struct info_maker *maker, struct json_object *now, const struct rows *rows)
{
	struct json_object *srqs = info_member(now, "srqs");

	if (srqs == NULL || json_object_object_length(srqs) == 0)
		return;
	info_table_line(maker, INFO_STYLE_HEADING, "  %3s %6s %11s %6s %6s %5s %6s %6s %5s %6s %7s",
			"SRQ", "avail", "outstanding", "max", "low", "mark", "events", "empty",
			"EPs", "held", "taken/s");
	json_object_object_foreach(srqs, id, srq) add_srq(maker, id, srq, rows);
}

static void
add_row(struct info_maker *maker, const struct row *row)
{
	const char *state = info_words(row->now, "state");
	char srq[24] = "-", held[16], requests[16], taken[16], received[16], completed[16];

	if (json_object_object_get_ex(row->now, "srq", NULL))
		snprintf(srq, sizeof(srq), "%" PRIu64, info_number(row->now, "srq"));
	info_table_line(maker, strcmp(state, "error") == 0 ? INFO_STYLE_TROUBLE : INFO_STYLE_PLAIN,
			"  %8" PRIu64 " %6s %6s %8s %10s %8s %10s %11s", row->number, state, srq,
			info_table_count(row->count[INFO_SORT_HELD], held),
			info_table_count(info_number(row->now, "requests"), requests),
			info_table_rate(maker, row->count[INFO_SORT_TAKEN], taken),
			info_table_rate(maker, row->count[INFO_SORT_RECEIVED], received),
			info_table_rate(maker, row->count[INFO_SORT_COMPLETED], completed));
}

static void
add_eps(struct info_maker *maker, const struct rows *rows)
{
	if (rows->n == 0)
		return;
	info_table_line(maker, INFO_STYLE_HEADING, "  %8s %6s %6s %8s %10s %8s %10s %11s", "EP",
			"state", "SRQ", "held", "unfinished", "taken/s", "received/s",
			"completed/s");
	for (size_t i = 0; i < rows->n; i++)
		add_row(maker, &rows->row[i]);
}

static void
add_process(struct info_maker *maker, struct json_object *before, struct json_object *now)
{
	struct json_object *devices = info_member(now, "devices");
	struct json_object *old = info_member(before, "devices");

	info_table_line(maker, INFO_STYLE_TITLE, "process %" PRIu64 " %s", info_number(now, "pid"),
			info_words(now, "process"));
	if (info_member(now, "roced") != NULL) {
		info_table_roced(maker, info_member(before, "roced"), info_member(now, "roced"));
		return;
	}
	if (json_object_object_get_ex(now, "error", NULL)) {
		info_table_line(maker, INFO_STYLE_TROUBLE, "  %.78s", info_words(now, "error"));
		return;
	}
	if (devices == NULL || json_object_object_length(devices) == 0) {
		info_table_line(maker, INFO_STYLE_PLAIN, "no device is open");
		return;
	}
	json_object_object_foreach(devices, name, device)
	{
		struct json_object *was = info_member(old, name);
		struct rows rows = make_rows(maker, was, device);

		add_device(maker, name, was, device);
		info_table_channels(maker, was, device);
		add_srqs(maker, device, &rows);
		add_eps(maker, &rows);
		free(rows.row);
	}
}

struct info_table
info_table_make(struct json_object *before, struct json_object *now, double seconds,
		enum info_sort sort)
{
	struct info_maker maker = {
		.seconds = before != NULL ? seconds : 0, .sort = sort, .roced = info_look_roced(now)
	};

	json_object_object_foreach(now, pid, process)
			add_process(&maker, info_member(before, pid), process);
	return maker.table;
}

void
info_table_free(struct info_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->line[i].text);
	free(table->line);
	*table = (struct info_table){ 0 };
}
