/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts that people write: dat.conf, and the instance strings of interface adapters. The first byte says which; it
 * is one that no text begins with.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "conf.h"
#include "ethdev/devargs.h"

#define IS_CONF    0xff
#define IS_DEVARGS 0xfe
#define OVERRIDE   '\n' /**< between an instance string and what overrides it */
#define TEXT_MAX   8192u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(holds, what)                                              \
	do {                                                           \
		if (!(holds)) {                                        \
			fprintf(stderr, "fuzz: violated: %s\n", what); \
			abort();                                       \
		}                                                      \
	} while (0)

/* In memory of its own size, so that a sanitizer sees an overrun. */
static char *
copy_of(const char *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (copy == NULL)
		abort();
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

/* ---- dat.conf ---- */

struct heard {
	unsigned int last_line;
	unsigned int entries;
	unsigned int bad;
	unsigned int stop_after; /* entries; 0: never */
	bool stopped;
	uint64_t sum; /* of all that was heard, to compare two readings */
};

static void
hear_line(struct heard *h, unsigned int line)
{
	MUST(!h->stopped, "nothing is told after the end");
	MUST(line > h->last_line, "each line is told of once, in order");
	h->last_line = line;
}

static void
hear_text(struct heard *h, const char *text, size_t room, bool may_be_empty)
{
	size_t len = strnlen(text, room);

	MUST(len < room, "a text ends in its room");
	MUST(len > 0 || may_be_empty, "a name is not empty");
	for (size_t i = 0; i < len; i++)
		h->sum = h->sum * 31 + (uint8_t)text[i];
	MUST(memchr(text, '\n', len) == NULL, "a field is one of one line");
}

static bool
hear_entry(void *arg, const struct libdat_conf_entry *e)
{
	struct heard *h = arg;

	hear_line(h, e->line);
	hear_text(h, e->ia_name, sizeof(e->ia_name), false);
	hear_text(h, e->library, TEXT_MAX, false);
	hear_text(h, e->vendor, sizeof(e->vendor), false);
	hear_text(h, e->instance, TEXT_MAX, true);
	hear_text(h, e->platform, TEXT_MAX, true);
	MUST(e->api == 'u' || e->api == 'k', "an interface is one of two");
	h->stopped = ++h->entries == h->stop_after;
	return !h->stopped;
}

static void
hear_bad_line(void *arg, unsigned int line, const char *errmsg)
{
	struct heard *h = arg;
	size_t len = strlen(errmsg);

	hear_line(h, line);
	MUST(len > 0 && len < 200, "a diagnosis is a sentence");
	MUST(errmsg[len - 1] != '\n', "a diagnosis is no line");
	h->bad++;
}

static struct heard
read_conf(const char *text, size_t len, unsigned int stop_after)
{
	struct heard h = { .stop_after = stop_after };
	const struct libdat_conf_sink sink = { &h, hear_entry, hear_bad_line };
	char *copy = copy_of(text, len);

	libdat_conf_parse(copy, len, &sink);
	free(copy);
	return h;
}

static unsigned int
lines_of(const char *text, size_t len)
{
	unsigned int lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n' || i + 1 == len;
	return lines;
}

static void
fuzz_conf(const char *text, size_t len)
{
	struct heard all = read_conf(text, len, 0);
	struct heard again = read_conf(text, len, 0);
	struct heard first = read_conf(text, len, 1);

	MUST(all.last_line <= lines_of(text, len), "a line that is told of is there");
	MUST(all.sum == again.sum && all.bad == again.bad, "no state is kept");
	MUST(first.entries == (all.entries > 0), "who has heard enough hears no more");
}

/* ---- instance strings ---- */

static void
judge_args(const struct roce_devargs *a)
{
	MUST(strnlen(a->port, sizeof(a->port)) < sizeof(a->port), "a port ends in its room");
	MUST(roce_devargs_name_len(a->port) > 0, "a port has a name");
	MUST(a->ip.n >= 1 && a->ip.n <= RTE_DIM(a->ip.at),
			"there are addresses, and room for them");
	for (uint32_t i = 0; i < a->ip.n; i++)
		MUST(a->ip.at[i].prefix <= (roce_ip_is_v4(&a->ip.at[i].addr) ? 32u : 128u),
				"a prefix is one of its family");
	MUST(a->neigh.n <= RTE_DIM(a->neigh.at) && a->lcores.n <= RTE_DIM(a->lcores.at),
			"lists have room");
	MUST(a->queues >= 1 && a->queues <= ROCE_ENGINES_MAX, "queues are engines");
	MUST(a->vlan <= 4094 && a->dscp <= 63 && a->ecn <= 1, "tag and class are in range");
	for (unsigned int i = 0; i < ROCE_FAULT_KINDS; i++)
		MUST(a->fault[i] <= 1000000, "no more than every frame is harmed on purpose");
	MUST(a->mtu == 0 || (rte_is_power_of_2(a->mtu) && a->mtu >= 256 && a->mtu <= 4096),
			"an MTU is one of five");
	MUST(a->retry <= 7 && a->rnr_retry <= 7 && a->rnr_timer <= 31 && a->timeout <= 31,
			"retries and timers are in range");
	MUST(a->qpn == 0 || (a->qpn >= 2 && a->qpn <= 0xffffff), "a queue pair number is one");
	MUST(a->psn <= 0xffffff || a->psn == UINT32_MAX, "a PSN is one");
	MUST(roce_devargs_has(a, "port") && roce_devargs_has(a, "ip"), "what is required is there");
}

static bool
same_bytes(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

/* A failure says why and writes nothing; what was understood is understood the same again. */
static void
fuzz_devargs(const char *text, const char *over)
{
	struct roce_devargs a, b;
	char sentence[256] = "";
	struct roce_errmsg errmsg = { sentence, sizeof(sentence) };
	struct roce_errmsg silent = { NULL, 0 };
	int rc;

	memset(&a, 0x5a, sizeof(a));
	rc = roce_devargs_parse(text, over, &a, &errmsg);
	MUST(rc == 0 || rc == -EINVAL, "an answer is yes or no");
	MUST((rc == 0) == (sentence[0] == '\0'), "a failure says why, a success nothing");
	memset(&b, 0x5a, sizeof(b));
	MUST(roce_devargs_parse(text, over, &b, &silent) == rc, "no state is kept");
	if (rc != 0) {
		struct roce_devargs untouched;

		memset(&untouched, 0x5a, sizeof(untouched));
		MUST(same_bytes(&a, &untouched, sizeof(a)), "a failure writes nothing");
		return;
	}
	judge_args(&a);
	MUST(roce_devargs_equal(&a, &b), "the same text means the same");
	/* When nothing overrides it but itself, nothing is other. */
	if (over == NULL)
		MUST(roce_devargs_parse(text, text, &b, &silent) == 0 && roce_devargs_equal(&a, &b),
				"a text that overrides itself means the same");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	const char *cut;
	char *base, *over;

	if (size == 0 || size > TEXT_MAX)
		return 0;
	if (data[0] == IS_CONF)
		fuzz_conf(text, size - 1);
	if (data[0] != IS_DEVARGS || memchr(text, '\0', size - 1) != NULL)
		return 0;
	cut = memchr(text, OVERRIDE, size - 1);
	base = copy_of(text, cut != NULL ? (size_t)(cut - text) : size - 1);
	over = cut != NULL ? copy_of(cut + 1, (size_t)(text + size - 1 - (cut + 1))) : NULL;
	fuzz_devargs(base, over);
	free(base);
	free(over);
	return 0;
}
