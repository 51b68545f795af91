/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * STATUS: what the broker knows, as text for people or as one JSON object. The text goes in memory of its own, because
 * it may be longer than any message.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "broker_pvt.h"

/** A struct of counters, and their names. */
struct table {
	const char *const *name;
	const uint64_t *value;
	size_t n;
};

static struct table
counters_of(const struct broker *broker)
{
	static const char *const names[] = {
#define COUNTER(name, meaning) #name,
#include "counters.def"
#undef COUNTER
	};

	return (struct table){ names, (const void *)&broker->counters,
		sizeof(names) / sizeof(names[0]) };
}

/* Without an uplink there are none. */
static struct table
uplink_counters_of(const struct broker *broker)
{
	static const char *const names[] = {
#define COUNTER(name, meaning) #name,
#include "local/uplink_counters.def"
#undef COUNTER
	};
	bool there = broker->expects_uplink || broker_has_uplink(broker);

	return (struct table){ names, (const void *)&broker->uplink,
		there ? sizeof(names) / sizeof(names[0]) : 0 };
}

static uint64_t
age(const struct broker *broker)
{
	return broker->host.age(broker->host.arg);
}

/* An IPv6 address without abbreviations, or an IPv4 address; a host reads both. */
static void
put_address(FILE *out, const struct roce_proto_addr *addr)
{
	const uint8_t *ip = addr->ip;

	if (ip[10] == 0xff && ip[11] == 0xff) {
		fprintf(out, "%u.%u.%u.%u/%u", ip[12], ip[13], ip[14], ip[15], addr->prefix);
		return;
	}
	for (unsigned int i = 0; i < 16; i += 2)
		fprintf(out, "%s%x", i == 0 ? "" : ":", ip[i] << 8 | ip[i + 1]);
	fprintf(out, "/%u", addr->prefix);
}

static void
put_mac(FILE *out, const uint8_t *mac)
{
	fprintf(out, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
			mac[5]);
}

static unsigned int
count_pairs(const struct broker_client *client)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < WORDS; i++)
		n += (unsigned int)__builtin_popcountll(client->pairs.word[i]);
	return n;
}

/* ---- for people ---- */

static const char *
uplink_words(const struct broker *broker)
{
	if (broker_has_uplink(broker))
		return "with an uplink";
	return broker->expects_uplink ? "without its uplink" : "no uplink";
}

static void
put_identity(FILE *out, const struct broker *broker)
{
	const struct roce_proto_identity *identity = &broker->identity;

	fprintf(out, "roced: pid %u, ", broker->pid);
	put_mac(out, identity->mac);
	fprintf(out, ", mtu %u, %s\n", identity->mtu, uplink_words(broker));
	fprintf(out, "version " UDAPL_ROCE_VERSION ", started %" PRIu64 " s ago\n", age(broker));
	fputs("addresses:", out);
	for (uint32_t i = 0; i < identity->addrs; i++) {
		fputc(' ', out);
		put_address(out, &identity->addr[i]);
	}
	fputs("\n\n", out);
}

static void
put_process(FILE *out, const struct broker_client *client)
{
	const struct listener *listener;

	fprintf(out, "%6u %8u %8u %8u  %s\n", client->number, client->pid, client->listens,
			count_pairs(client), client->name);
	LIST_FOREACH(listener, &client->listeners, of_client)
		fprintf(out, "       listens at %#" PRIx64 "\n", listener->service_id);
	for (uint32_t i = set_next(&client->pairs, client->number + 1); i < ROCE_PROCESSES;
			i = set_next(&client->pairs, i + 1))
		fprintf(out, "       channel with process %u\n", i);
}

static void
put_counters(FILE *out, struct table table)
{
	for (size_t i = 0; i < table.n; i++)
		fprintf(out, "%20" PRIu64 "  %s\n", table.value[i], table.name[i]);
}

static void
put_tables(FILE *out, const struct broker *broker)
{
	struct table uplink = uplink_counters_of(broker);

	put_identity(out, broker);
	fputs("number      pid  listens channels  name\n", out);
	for (uint32_t i = 0; i < ROCE_PROCESSES; i++) {
		if (broker->process[i] != NULL)
			put_process(out, broker->process[i]);
	}
	fputc('\n', out);
	put_counters(out, counters_of(broker));
	if (uplink.n == 0)
		return;
	fputs("\nof the uplink:\n", out);
	put_counters(out, uplink);
}

/* ---- JSON ---- */

/* A name has no control character (take_name()), so two characters are left to escape. */
static void
put_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void
put_json_identity(FILE *out, const struct broker *broker)
{
	const struct roce_proto_identity *identity = &broker->identity;

	fprintf(out, "\"pid\":%u,\"uptime_seconds\":%" PRIu64 ",\"uplink\":%s,\"mac\":\"",
			broker->pid, age(broker), broker_has_uplink(broker) ? "true" : "false");
	put_mac(out, identity->mac);
	fprintf(out, "\",\"mtu\":%u,\"addresses\":[", identity->mtu);
	for (uint32_t i = 0; i < identity->addrs; i++) {
		fputs(i == 0 ? "\"" : ",\"", out);
		put_address(out, &identity->addr[i]);
		fputc('"', out);
	}
	fputc(']', out);
}

static void
put_json_process(FILE *out, const struct broker_client *client)
{
	const struct listener *listener;
	const char *comma = "";

	fprintf(out, "{\"number\":%u,\"pid\":%u,\"name\":", client->number, client->pid);
	put_string(out, client->name);
	fputs(",\"listeners\":[", out);
	LIST_FOREACH(listener, &client->listeners, of_client) {
		fprintf(out, "%s%" PRIu64, comma, listener->service_id);
		comma = ",";
	}
	fputs("],\"channels\":[", out);
	comma = "";
	for (uint32_t i = set_next(&client->pairs, 0); i < ROCE_PROCESSES;
			i = set_next(&client->pairs, i + 1)) {
		fprintf(out, "%s%u", comma, i);
		comma = ",";
	}
	fputs("]}", out);
}

static void
put_json_counters(FILE *out, const char *key, struct table table)
{
	fprintf(out, ",\"%s\":{", key);
	for (size_t i = 0; i < table.n; i++)
		fprintf(out, "%s\"%s\":%" PRIu64, i == 0 ? "" : ",", table.name[i], table.value[i]);
	fputc('}', out);
}

static void
put_json(FILE *out, const struct broker *broker)
{
	struct table uplink = uplink_counters_of(broker);
	const char *comma = "";

	fputs("{\"tool\":\"roced\",\"version\":\"" UDAPL_ROCE_VERSION "\",", out);
	put_json_identity(out, broker);
	fputs(",\"processes\":[", out);
	for (uint32_t i = 0; i < ROCE_PROCESSES; i++) {
		if (broker->process[i] == NULL)
			continue;
		fputs(comma, out);
		put_json_process(out, broker->process[i]);
		comma = ",";
	}
	fputc(']', out);
	put_json_counters(out, "counters", counters_of(broker));
	if (uplink.n > 0)
		put_json_counters(out, "uplink_counters", uplink);
	fputs("}\n", out);
}

/* ---- the message ---- */

/* @return a descriptor of memory with the text; -errno. */
static int
write_text(const struct broker *broker, bool json, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	int rc;

	if (out == NULL)
		return -ENOMEM;
	if (json)
		put_json(out, broker);
	else
		put_tables(out, broker);
	rc = ferror(out) != 0 ? -ENOMEM : 0;
	if (fclose(out) != 0)
		rc = -ENOMEM;
	if (rc == 0)
		rc = broker->host.text(broker->host.arg, text, *len);
	free(text);
	return rc;
}

void
broker_status(struct broker_client *client, bool json)
{
	struct broker *broker = client->broker;
	struct roce_msg msg = { .type = ROCE_MSG_STATUS_TEXT, .status.json = json };
	struct shared_fd *shared = NULL;
	size_t len = 0;
	int fd;

	if (client->status_waits) {
		broker_violation(client, "STATUS before the last answer was read");
		return;
	}
	fd = write_text(broker, json, &len);
	if (fd >= 0)
		shared = broker_share(broker, fd);
	if (shared == NULL) {
		broker_log(broker, "no memory for the status");
		broker_end(client);
		return;
	}
	msg.status.len = (uint32_t)len;
	broker_say(client, &msg, NO_NUMBER, &shared, 1);
	broker_unshare(broker, shared);
	client->status_waits = client->state != CLIENT_OVER;
}
