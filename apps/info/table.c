/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "rate.h"
#include "snapshot.h"

/** A queue pair as it is shown. */
struct row {
	const char *number;
	struct json_object *now;
	uint64_t held, taken, received, completed; /**< the last three since the look before */
};

/** The table under way. */
struct table {
	FILE *out;
	double seconds;     /**< 0: there was no look before */
	unsigned int lines; /**< left; UINT_MAX: any number */
};

/** The queue pairs of a device. */
struct rows {
	struct row *row;
	size_t n;
};

static const char *
rate(const struct table *table, uint64_t distance, char *text)
{
	if (table->seconds <= 0)
		return "-";
	return info_rate_text((double)distance / table->seconds, text);
}

static uint64_t
moved(struct json_object *before, struct json_object *now, const char *key, unsigned int bits)
{
	if (before == NULL)
		return 0;
	return info_distance(info_number(before, key), info_number(now, key), bits);
}

static int
compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->held != y->held)
		return x->held < y->held ? 1 : -1;
	if (x->taken != y->taken)
		return x->taken < y->taken ? 1 : -1;
	if (x->completed != y->completed)
		return x->completed < y->completed ? 1 : -1;
	return strtoull(x->number, NULL, 10) < strtoull(y->number, NULL, 10) ? -1 : 1;
}

/* Those that hold most in front, then those that took most. */
static struct rows
make_rows(struct json_object *before, struct json_object *now)
{
	struct json_object *old = info_member(before, "qps"), *qps = info_member(now, "qps");
	struct rows rows = { 0 };

	if (qps == NULL)
		return rows;
	rows.row = calloc((size_t)json_object_object_length(qps) + 1, sizeof(*rows.row));
	if (rows.row == NULL)
		return rows;
	json_object_object_foreach(qps, number, qp)
	{
		struct json_object *was = info_member(old, number);

		rows.row[rows.n++] = (struct row){
			.number = number,
			.now = qp,
			.held = info_number(qp, "held"),
			.taken = moved(was, qp, "taken", INFO_BITS_QP),
			.received = moved(was, qp, "received", INFO_BITS_RECEIVED),
			.completed = moved(was, qp, "completed", INFO_BITS_QP),
		};
	}
	qsort(rows.row, rows.n, sizeof(*rows.row), compare);
	return rows;
}

/* @return false: there is no room for one more line. */
static bool
take_line(struct table *table)
{
	if (table->lines == 0)
		return false;
	table->lines--;
	return true;
}

static void
write_device(struct table *table, const char *name, struct json_object *before,
		struct json_object *now)
{
	struct json_object *port = info_member(now, "port"), *stats = info_member(now, "stats");
	struct json_object *old = info_member(before, "stats");
	char in[16], out[16], again[16];

	if (!take_line(table))
		return;
	fprintf(table->out,
			"%s (%s) %s, MTU %" PRIu64 ", %" PRIu64
			" engine%s; frames/s: %s in, %s out, "
			"%s sent again\n",
			name, info_words(port, "driver"), info_words(port, "ip"),
			info_number(port, "mtu"), info_number(port, "engines"),
			info_number(port, "engines") == 1 ? "" : "s",
			rate(table, moved(old, stats, "rx_frames", INFO_BITS_STATS), in),
			rate(table, moved(old, stats, "tx_frames", INFO_BITS_STATS), out),
			rate(table, moved(old, stats, "retransmits", INFO_BITS_STATS), again));
}

static const char *
watermark(struct json_object *srq)
{
	if (info_number(srq, "low_watermark") == 0)
		return "none";
	return info_number(srq, "armed") != 0 ? "armed" : "fired";
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
		*held += row->held;
		*taken += row->taken;
	}
}

static void
write_srqs(struct table *table, struct json_object *now, const struct rows *rows)
{
	struct json_object *srqs = info_member(now, "srqs");
	uint64_t held, taken;
	char text[16];

	if (srqs == NULL || json_object_object_length(srqs) == 0 || !take_line(table))
		return;
	fprintf(table->out, "  %6s %9s %11s %8s %8s %9s %6s %8s %5s %8s %8s\n", "SRQ", "available",
			"outstanding", "max", "low", "watermark", "events", "empty", "EPs", "held",
			"taken/s");
	json_object_object_foreach(srqs, id, srq)
	{
		if (!take_line(table))
			return;
		add_up(rows, strtoull(id, NULL, 10), &held, &taken);
		fprintf(table->out,
				"  %6s %9" PRIu64 " %11" PRIu64 " %8" PRIu64 " %8" PRIu64
				" %9s %6" PRIu64 " %8" PRIu64 " %5" PRIu64 " %8" PRIu64 " %8s\n",
				id, info_number(srq, "available"), info_number(srq, "outstanding"),
				info_number(srq, "max"), info_number(srq, "low_watermark"),
				watermark(srq), info_number(srq, "low_watermark_events"),
				info_number(srq, "empty_rnr"), info_number(srq, "queue_pairs"),
				held, rate(table, taken, text));
	}
}

static void
write_row(struct table *table, const struct row *row)
{
	char srq[24] = "-", taken[16], received[16], completed[16];

	if (json_object_object_get_ex(row->now, "srq", NULL))
		snprintf(srq, sizeof(srq), "%" PRIu64, info_number(row->now, "srq"));
	fprintf(table->out, "  %8s %6s %6s %8" PRIu64 " %10" PRIu64 " %8s %10s %11s\n", row->number,
			info_words(row->now, "state"), srq, row->held,
			info_number(row->now, "requests"), rate(table, row->taken, taken),
			rate(table, row->received, received),
			rate(table, row->completed, completed));
}

static void
write_eps(struct table *table, const struct rows *rows)
{
	size_t shown = rows->n;

	if (rows->n == 0 || !take_line(table))
		return;
	fprintf(table->out, "  %8s %6s %6s %8s %10s %8s %10s %11s\n", "EP", "state", "SRQ", "held",
			"unfinished", "taken/s", "received/s", "completed/s");
	/* A line that says how many are left out takes the place of one. */
	if (shown > table->lines)
		shown = table->lines > 0 ? table->lines - 1 : 0;
	for (size_t i = 0; i < shown && take_line(table); i++)
		write_row(table, &rows->row[i]);
	if (shown < rows->n && take_line(table))
		fprintf(table->out, "  and %zu more\n", rows->n - shown);
}

void
info_table_write(FILE *out, struct json_object *before, struct json_object *now, double seconds,
		unsigned int lines)
{
	struct table table = { .out = out, .seconds = before != NULL ? seconds : 0 };
	unsigned int left = lines != 0 ? lines : UINT32_MAX, share;
	struct json_object *devices = info_member(now, "devices");
	struct json_object *old = info_member(before, "devices");
	unsigned int n = devices != NULL ? (unsigned int)json_object_object_length(devices) : 0;

	if (n == 0) {
		fprintf(out, "no device is open\n");
		return;
	}
	json_object_object_foreach(devices, name, device)
	{
		struct json_object *was = info_member(old, name);
		struct rows rows = make_rows(was, device);

		/* Lines that one device leaves are for those behind it. */
		share = left / n--;
		table.lines = share;
		write_device(&table, name, was, device);
		write_srqs(&table, device, &rows);
		write_eps(&table, &rows);
		free(rows.row);
		left -= share - table.lines;
	}
}
