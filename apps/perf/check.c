/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "cli/cli.h"
#include "options.h"
#include "perftest.h"
#include "values.h"

#define ATOMIC_SIZE   8
#define ENDLESS_ROW_S 5 /* perftest's duration */

/* In the sentences @ stands before dat-perf's letter of an option, which perftest may call otherwise. */
#define LETTER '@'

/* The fault of options of tests that need no receive, or of options that only they take; NULL: none. */
static const char *
one_sided_conflict(const struct perf_options *o)
{
	if (o->outs_given && o->test != PERF_READ_BW && o->test != PERF_ATOMIC_BW)
		return "@o is for read_bw and atomic_bw";
	if (!perf_test_is_one_sided(o->test))
		return NULL;
	if ((o->srq_given && o->use_srq) || o->recv_depth != 0 || o->srq_depth != 0 ||
			o->low != 0 || o->resizes != 0)
		return "@r, --use-srq, --srq-depth, --low and --resize are for send tests: WRITE, "
		       "READ and atomics take no receive buffer";
	if (perf_test_is_atomic(o->test) &&
			(o->all_sizes || (o->size_given && o->size != ATOMIC_SIZE)))
		return "an atomic is of 8 bytes: @s and @a are for the other tests";
	if (o->size == 0)
		return "@s 0 is for send tests: WRITE and READ of no bytes leave nothing to look at";
	if (o->test == PERF_WRITE_LAT && o->events)
		return "@e is not for write_lat: no event tells that memory was written";
	if (o->test == PERF_WRITE_BW && o->verify && o->seconds != 0)
		return "--verify of write_bw must know what is in memory at the end: @n, not @d";
	return NULL;
}

/* The fault of the places of the ends; NULL: none. */
static const char *
ends_conflict(const struct perf_options *o)
{
	if (o->mode == PERF_LOOP && o->events && o->cores == 1)
		return "@e with both ends on one core would wait for itself: use --cores 2";
	if (o->mode != PERF_LOOP && o->cores != 0)
		return "--cores is for both ends in one process: a client or a server is one thread";
	if (o->endpoints == PERF_MAX_ENDPOINTS &&
			(o->mode != PERF_LOOP || o->cores == 2 || o->events))
		return "two threads or processes talk over an endpoint of their own: at most @q "
		       "16383";
	return NULL;
}

/* The fault of options that judge or shorten the report; NULL: none. */
static const char *
report_conflict(const struct perf_options *o, bool latency)
{
	if (o->cpu_util && o->seconds == 0)
		return "--cpu_util is for runs by time: give @d, too";
	if (o->endless && latency)
		return "--run_infinitely is for bandwidth tests";
	if (o->endless && o->all_sizes)
		return "--run_infinitely comes to no second size: give @s instead of @a";
	if (latency && (o->limit_bw != 0 || o->limit_msgrate != 0))
		return "--limit_bw and --limit_msgrate are for bandwidth tests";
	if (o->output != PERF_OUTPUT_ALL && (o->output == PERF_OUTPUT_LATENCY) != latency)
		return "--output latency is for latency tests, bandwidth and message_rate are for the "
		       "others";
	if (o->output != PERF_OUTPUT_ALL && o->histogram)
		return "--output prints one number alone, and @H a distribution: give one of the two";
	return NULL;
}

/* Sentences about options that are right alone and wrong together; NULL: none applies. */
static const char *
conflict(const struct perf_options *o)
{
	bool latency = perf_test_is_latency(o->test);
	const char *ends = ends_conflict(o), *report = report_conflict(o, latency);

	if (o->all_sizes && o->size_given)
		return "@a runs all sizes and @s one: give one of the two";
	if (o->iterations != 0 && o->endless)
		return "@n ends a run that --run_infinitely lets go on: give one of the two";
	if (o->iterations != 0 && o->seconds != 0)
		return "@n runs by count and @d by time: give one of the two";
	if (latency && o->both)
		return "@b is for bandwidth tests: a latency test always goes both ways";
	if (!latency && o->histogram)
		return "@H is for latency tests";
	if (ends != NULL)
		return ends;
	if (!o->use_srq && (o->srq_depth != 0 || o->low != 0 || o->resizes != 0))
		return "--srq-depth, --low and --resize are about the shared receive queue: not with "
		       "--no-srq";
	if (o->srq_depth != 0 && o->recv_depth != 0)
		return "@r and --srq-depth both give the depth of the shared queue: give one of the two";
	if (report != NULL)
		return report;
	if (o->json_file != NULL && o->json_file[0] == '\0')
		return "--json= needs the name of a file";
	return one_sided_conflict(o);
}

/* Say a sentence with the letters of the mode. */
static int
refuse(const struct perf_options *o, const char *sentence)
{
	char text[256];
	size_t n = 0;

	for (; *sentence != '\0' && n < sizeof(text) - 2; sentence++) {
		if (*sentence != LETTER) {
			text[n++] = *sentence;
			continue;
		}
		text[n++] = '-';
		text[n++] = perftest_letter(o, *++sentence);
	}
	text[n] = '\0';
	cli_say("%s", text);
	return CLI_EXIT_USAGE;
}

/* Depths that do not fit each other. @return as perf_options_read(). */
static int
check_depths(const struct perf_options *o)
{
	uint32_t depth = o->srq_depth != 0 ? o->srq_depth : o->recv_depth;

	if (o->use_srq && o->recv_depth != 0 && o->recv_depth < o->endpoints) {
		cli_say("a receive depth of %u cannot serve %u endpoints: -r must be at least -q",
				o->recv_depth, o->endpoints);
		return CLI_EXIT_USAGE;
	}
	if (depth != 0 && o->low > depth) {
		cli_say("a low watermark of %u is above the %u buffers of the shared receive queue",
				o->low, depth);
		return CLI_EXIT_USAGE;
	}
	if (o->send_depth != 0 && o->cq_moderation > o->send_depth) {
		cli_say("-Q %u would never complete with a send depth of %u: -Q must be at most "
			"-%c",
				o->cq_moderation, o->send_depth, perftest_letter(o, 'x'));
		return CLI_EXIT_USAGE;
	}
	return -1;
}

int
perf_options_check(struct perf_options *o)
{
	const char *sentence;
	int rc;

	if (o->endless && o->seconds == 0 && o->iterations == 0)
		o->seconds = ENDLESS_ROW_S;
	if (o->ia == NULL && o->host != NULL) {
		cli_say("a client of '%s' needs -%c <ia>, the adapter to leave by", o->host,
				perftest_letter(o, 'D'));
		return CLI_EXIT_USAGE;
	}
	if (o->ia != NULL)
		o->mode = o->host == NULL ? PERF_SERVER : PERF_CLIENT;
	sentence = conflict(o);
	if (sentence != NULL)
		return refuse(o, sentence);
	rc = check_depths(o);
	if (rc >= 0)
		return rc;
	if (perf_test_is_one_sided(o->test))
		o->use_srq = false;
	if (perf_test_is_atomic(o->test))
		o->size = ATOMIC_SIZE;
	if (o->cores == 0)
		o->cores = o->mode == PERF_LOOP && o->events ? 2 : 1;
	return -1;
}
