/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "rate.h"
#include "snapshot.h"

/** A queue pair as it is shown. */
struct row {
	uint64_t number;
	struct json_object *now;
	uint64_t count[INFO_SORT_NUMBER]; /**< as the sorts: held; the others since the look before */
};

/** The table under way. */
struct maker {
	struct info_table table;
	double seconds; /**< 0: there was no look before */
	enum info_sort sort;
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

static void __attribute__((format(printf, 3, 4)))
add_line(struct maker *maker, enum info_style style, const char *format, ...)
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

static const char *
rate(const struct maker *maker, uint64_t distance, char *text)
{
	if (maker->seconds <= 0)
		return "-";
	return info_rate_text((double)distance / maker->seconds, text);
}

/* A number in at most six columns. */
static const char *
count(uint64_t number, char *text)
{
	if (number > 999999)
		return info_rate_text((double)number, text);
	snprintf(text, 16, "%" PRIu64, number);
	return text;
}

static uint64_t
moved(struct json_object *before, struct json_object *now, const char *key, unsigned int bits)
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
make_rows(const struct maker *maker, struct json_object *before, struct json_object *now)
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
		row->count[INFO_SORT_TAKEN] = moved(was, qp, "taken", INFO_BITS_QP);
		row->count[INFO_SORT_RECEIVED] = moved(was, qp, "received", INFO_BITS_RECEIVED);
		row->count[INFO_SORT_COMPLETED] = moved(was, qp, "completed", INFO_BITS_QP);
	}
	qsort_r(rows.row, rows.n, sizeof(*rows.row), compare, &sort);
	return rows;
}

static void
add_device(struct maker *maker, const char *name, struct json_object *before,
		struct json_object *now)
{
	struct json_object *port = info_member(now, "port"), *stats = info_member(now, "stats");
	struct json_object *old = info_member(before, "stats");
	bool down = json_object_object_get_ex(port, "link", NULL) && info_number(port, "link") == 0;
	uint64_t engines = info_number(port, "engines");
	char in[16], out[16], again[16];

	add_line(maker, down ? INFO_STYLE_TROUBLE : INFO_STYLE_PLAIN,
			"%s (%s) %s%s, MTU %" PRIu64 ", %" PRIu64 " engine%s", name,
			info_words(port, "driver"), info_words(port, "ip"), down ? ", no link" : "",
			info_number(port, "mtu"), engines, engines == 1 ? "" : "s");
	add_line(maker, INFO_STYLE_PLAIN, "  frames/s: %s in, %s out, %s sent again",
			rate(maker, moved(old, stats, "rx_frames", INFO_BITS_STATS), in),
			rate(maker, moved(old, stats, "tx_frames", INFO_BITS_STATS), out),
			rate(maker, moved(old, stats, "retransmits", INFO_BITS_STATS), again));
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
add_srq(struct maker *maker, const char *id, struct json_object *srq, const struct rows *rows)
{
	char available[16], outstanding[16], max[16], low[16], events[16], empty[16], eps[16];
	char holds[16], takes[16];
	uint64_t held, taken;

	add_up(rows, strtoull(id, NULL, 10), &held, &taken);
	add_line(maker, style_of(srq), "  %3s %6s %11s %6s %6s %5s %6s %6s %5s %6s %7s", id,
			count(info_number(srq, "available"), available),
			count(info_number(srq, "outstanding"), outstanding),
			count(info_number(srq, "max"), max),
			count(info_number(srq, "low_watermark"), low), watermark(srq),
			count(info_number(srq, "low_watermark_events"), events),
			count(info_number(srq, "empty_rnr"), empty),
			count(info_number(srq, "queue_pairs"), eps), count(held, holds),
			rate(maker, taken, takes));
}

static void
add_srqs(struct maker *maker, struct json_object *now, const struct rows *rows)
{
	struct json_object *srqs = info_member(now, "srqs");

	if (srqs == NULL || json_object_object_length(srqs) == 0)
		return;
	add_line(maker, INFO_STYLE_HEADING, "  %3s %6s %11s %6s %6s %5s %6s %6s %5s %6s %7s", "SRQ",
			"avail", "outstanding", "max", "low", "mark", "events", "empty", "EPs",
			"held", "taken/s");
	json_object_object_foreach(srqs, id, srq) add_srq(maker, id, srq, rows);
}

static void
add_row(struct maker *maker, const struct row *row)
{
	const char *state = info_words(row->now, "state");
	char srq[24] = "-", held[16], requests[16], taken[16], received[16], completed[16];

	if (json_object_object_get_ex(row->now, "srq", NULL))
		snprintf(srq, sizeof(srq), "%" PRIu64, info_number(row->now, "srq"));
	add_line(maker, strcmp(state, "error") == 0 ? INFO_STYLE_TROUBLE : INFO_STYLE_PLAIN,
			"  %8" PRIu64 " %6s %6s %8s %10s %8s %10s %11s", row->number, state, srq,
			count(row->count[INFO_SORT_HELD], held),
			count(info_number(row->now, "requests"), requests),
			rate(maker, row->count[INFO_SORT_TAKEN], taken),
			rate(maker, row->count[INFO_SORT_RECEIVED], received),
			rate(maker, row->count[INFO_SORT_COMPLETED], completed));
}

static void
add_eps(struct maker *maker, const struct rows *rows)
{
	if (rows->n == 0)
		return;
	add_line(maker, INFO_STYLE_HEADING, "  %8s %6s %6s %8s %10s %8s %10s %11s", "EP", "state",
			"SRQ", "held", "unfinished", "taken/s", "received/s", "completed/s");
	for (size_t i = 0; i < rows->n; i++)
		add_row(maker, &rows->row[i]);
}

static void
add_process(struct maker *maker, struct json_object *before, struct json_object *now)
{
	struct json_object *devices = info_member(now, "devices");
	struct json_object *old = info_member(before, "devices");

	add_line(maker, INFO_STYLE_TITLE, "process %" PRIu64 " %s", info_number(now, "pid"),
			info_words(now, "process"));
	if (devices == NULL || json_object_object_length(devices) == 0) {
		add_line(maker, INFO_STYLE_PLAIN, "no device is open");
		return;
	}
	json_object_object_foreach(devices, name, device)
	{
		struct json_object *was = info_member(old, name);
		struct rows rows = make_rows(maker, was, device);

		add_device(maker, name, was, device);
		add_srqs(maker, device, &rows);
		add_eps(maker, &rows);
		free(rows.row);
	}
}

struct info_table
info_table_make(struct json_object *before, struct json_object *now, double seconds,
		enum info_sort sort)
{
	struct maker maker = { .seconds = before != NULL ? seconds : 0, .sort = sort };

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
