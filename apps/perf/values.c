/* SPDX-License-Identifier: BSD-3-Clause */
#include "values.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define MAX_SIZE        (1u << 30)
#define MAX_ITERATIONS  (1ull << 40)
#define MAX_SECONDS     86400
#define MAX_RESIZES     1000000
#define ONE_MILLION_PPM 1000000
#define MAX_LIMIT       1e12
/* The field of the connection request has eight bits. */
#define MAX_OUTS 255
/* The file's name where perftest is not told one. */
#define PERFTEST_JSON "perftest_out.json"

/* Read a number within bounds or say which option is wrong, and how. */
static int
number(const struct perf_reading *r, uint64_t min, uint64_t max, uint64_t *value)
{
	return cli_option_number(r->shown, min, max, value);
}

static int
number32(const struct perf_reading *r, uint32_t min, uint32_t max, uint32_t *value)
{
	uint64_t wide = 0;
	int rc = number(r, min, max, &wide);

	*value = (uint32_t)wide;
	return rc;
}

static int
read_size(const struct perf_reading *r)
{
	uint64_t size = 0;
	int rc = cli_option_size(r->shown, 0, MAX_SIZE, &size);

	r->o->size_given = true;
	r->o->size = (uint32_t)size;
	return rc;
}

static int
read_test(struct perf_options *o)
{
	if (perf_test_find(optarg, &o->test))
		return -1;
	cli_say("there is no test '%s'; -t takes send, write, read or atomic with _bw or _lat",
			optarg);
	return CLI_EXIT_USAGE;
}

static int
read_mtu(const struct perf_reading *r)
{
	uint64_t mtu;

	/* The five path MTUs of InfiniBand are powers of two. */
	if (cli_number(optarg, 256, 4096, &mtu) && (mtu & (mtu - 1)) == 0) {
		r->o->mtu = (uint32_t)mtu;
		return -1;
	}
	cli_say("%s takes 256, 512, 1024, 2048 or 4096, not '%s'", r->shown, optarg);
	return CLI_EXIT_USAGE;
}

static int
read_limit(const struct perf_reading *r, double *limit)
{
	char *end;

	*limit = strtod(optarg, &end);
	if (end != optarg && *end == '\0' && *limit >= 0 && *limit <= MAX_LIMIT)
		return -1;
	cli_say("%s takes a number that is not below 0, not '%s'", r->shown, optarg);
	return CLI_EXIT_USAGE;
}

static int
read_output(const struct perf_reading *r)
{
	static const char *const name[] = {
		[PERF_OUTPUT_BANDWIDTH] = "bandwidth",
		[PERF_OUTPUT_MESSAGE_RATE] = "message_rate",
		[PERF_OUTPUT_LATENCY] = "latency",
	};

	for (int i = PERF_OUTPUT_BANDWIDTH; i <= PERF_OUTPUT_LATENCY; i++) {
		if (strcmp(optarg, name[i]) != 0)
			continue;
		r->o->output = (enum perf_output)i;
		return -1;
	}
	cli_say("%s takes bandwidth, message_rate or latency, not '%s'", r->shown, optarg);
	return CLI_EXIT_USAGE;
}

/* Values for the provider. */
static int
read_key(const struct perf_reading *r, int option)
{
	static const uint32_t max[PERF_KEYS] = {
		[PERF_KEY_TIMEOUT] = 31,
		[PERF_KEY_RETRY] = 7,
		[PERF_KEY_DSCP] = 255,
		[PERF_KEY_PCP] = 7,
	};
	int key = option == PERF_OPT_TCLASS ? PERF_KEY_DSCP : option - PERF_OPT_KEY;
	int rc = number32(r, 0, max[key], &r->o->keys[key]);

	r->o->key_given[key] = true;
	/* The lower two bits of the traffic class are ECN. */
	if (key == PERF_KEY_DSCP)
		r->o->keys[key] >>= 2;
	return rc;
}

/* Options that carry a number or a name and have no letter of their own. @return as perf_options_read(). */
static int
read_long(struct perf_reading *r, int option)
{
	struct perf_options *o = r->o;

	switch (option) {
	case PERF_OPT_CORES:
		return number32(r, 1, 2, &o->cores);
	case PERF_OPT_FAULT ... PERF_OPT_FAULT + PERF_FAULTS - 1:
		o->faulty = true;
		return number32(r, 0, ONE_MILLION_PPM, &o->faults[option - PERF_OPT_FAULT]);
	case PERF_OPT_SRQ_DEPTH:
		return number32(r, 1, PERF_MAX_DEPTH, &o->srq_depth);
	case PERF_OPT_LOW:
		return number32(r, 1, PERF_MAX_DEPTH, &o->low);
	case PERF_OPT_RESIZE:
		return number32(r, 1, MAX_RESIZES, &o->resizes);
	case PERF_OPT_OUTPUT:
		return read_output(r);
	case PERF_OPT_LIMIT_BW:
		return read_limit(r, &o->limit_bw);
	case PERF_OPT_LIMIT_MSGRATE:
		return read_limit(r, &o->limit_msgrate);
	case PERF_OPT_KEY ... PERF_OPT_TCLASS:
		return read_key(r, option);
	default: /* PERF_OPT_WARMUP */
		o->warmup_given = true;
		return number(r, 0, MAX_ITERATIONS, &o->warmup);
	}
}

int
perf_read_valued(struct perf_reading *r, int option)
{
	struct perf_options *o = r->o;
	uint64_t port = 0;
	int rc;

	switch (option) {
	case 'p':
		rc = number(r, 1, UINT16_MAX, &port);
		o->port = (uint16_t)port;
		return rc;
	case 't':
		return read_test(o);
	case 's':
		return read_size(r);
	case 'n':
		return number(r, 1, MAX_ITERATIONS, &o->iterations);
	case 'd':
		return number32(r, 1, MAX_SECONDS, &o->seconds);
	case 'q':
		return number32(r, 1, PERF_MAX_ENDPOINTS, &o->endpoints);
	case 'r':
		return number32(r, 1, PERF_MAX_DEPTH, &o->recv_depth);
	case 'x':
		return number32(r, 1, PERF_MAX_DEPTH, &o->send_depth);
	case 'Q':
		return number32(r, 1, PERF_MAX_DEPTH, &o->cq_moderation);
	case 'o':
		o->outs_given = true;
		return number32(r, 1, MAX_OUTS, &o->outs);
	case 'm':
		return read_mtu(r);
	default:
		return read_long(r, option);
	}
}

static void
want_json(struct perf_options *o, const char *file)
{
	o->json = true;
	o->json_file = file;
}

/* Options that are switches and have no letter of their own. @return false: it is none of them. */
static bool
read_long_switch(struct perf_options *o, int option)
{
	switch (option) {
	case PERF_OPT_USE_SRQ:
	case PERF_OPT_NO_SRQ:
		o->srq_given = true;
		o->use_srq = option == PERF_OPT_USE_SRQ;
		return true;
	case PERF_OPT_VERIFY:
		o->verify = true;
		return true;
	case PERF_OPT_GBITS:
		o->gbits = true;
		return true;
	case PERF_OPT_JSON:
	case PERF_OPT_OUT_JSON_FILE:
		want_json(o, optarg);
		return true;
	case PERF_OPT_OUT_JSON:
		if (!o->json)
			want_json(o, PERFTEST_JSON);
		return true;
	case PERF_OPT_RUN_INFINITELY:
		o->endless = true;
		return true;
	case PERF_OPT_CPU_UTIL:
		o->cpu_util = true;
		return true;
	case PERF_OPT_REPORT_BOTH:
		o->report_both = true;
		return true;
	case PERF_OPT_WARM_UP:
		o->warmup_given = false;
		return true;
	default:
		return false;
	}
}

bool
perf_read_switch(struct perf_options *o, int option)
{
	switch (option) {
	case 'a':
		o->all_sizes = true;
		return true;
	case 'b':
		o->both = true;
		return true;
	case 'e':
		o->events = true;
		return true;
	case 'H':
		o->histogram = true;
		return true;
	default:
		return read_long_switch(o, option);
	}
}
