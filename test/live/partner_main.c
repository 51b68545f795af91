/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live_partner -D IA [options] server | client HOST STEP... | rping-server | rping HOST ROUNDS SIZE
 *              | perftest NAME [HOST] | ucmatose MESSAGES [HOST]
 *
 * Steps: send:N sendsol:N sendimm:N write:N writeimm:N read:N (any length, also 0), fadd cswp (the first eight bytes of
 * the peer's memory), echo:N (send, and the same comes back), badkey:N badkeyr:N oob:N (must fail), fill:N reads:N (so
 * many at once, of 16 and 2048 bytes), sleep:MS; borrow (what the peer's message grants is its memory from now on),
 * sendinv:N (a SEND that invalidates its key), refused:N (a WRITE that must fail).
 *
 * -p PORT (7471)  -d TEXT private data  -c N connections to serve (1)  -r N receives (64)  -s SIZE of each (65536)
 * -S take them from a shared queue  -R reject  -w MS before a request is answered  -n N connect so often (1)
 * -t MS of patience for a connection (60000)  -l MS before a server posts its receives (0)
 * -e MS that a server stays when all is over, for a peer that did not hear of it (200), or until SIGTERM
 * -g MS between two connections (0)  -y N refused connections are no failure (0)
 * -W grant each peer a window, and tell it by a message
 * perftest NAME: send_bw and so on, -n iterations of -s bytes, -C with rdma_cm. ucmatose: -c connections, -s, -S.
 * -E leave without disconnecting  -A any content will do: that of a WRITE with immediate is not in the receive
 */

#include "partner.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t
number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static void
stop(int signal_number)
{
	(void)signal_number;
	partner_enough = 1;
}

static bool
read_switch(struct partner_options *o, int option)
{
	o->srq |= option == 'S';
	o->reject |= option == 'R';
	o->leave |= option == 'E';
	o->window |= option == 'W';
	o->any_content |= option == 'A';
	o->cm |= option == 'C';
	return option == 'W' || option == 'S' || option == 'R' || option == 'E' || option == 'A' ||
			option == 'C';
}

static bool
read_option(struct partner_options *o, int option)
{
	switch (option) {
	case 'D':
		o->ia = optarg;
		return true;
	case 'd':
		o->text = optarg;
		return true;
	case 'p':
		o->port = (uint16_t)number(optarg);
		return true;
	case 'c':
		o->connections = number(optarg);
		return true;
	case 'r':
		o->receives = number(optarg);
		return true;
	case 's':
		o->size = number(optarg);
		return true;
	case 'n':
		o->rounds = number(optarg);
		return true;
	case 'e':
		o->end_ms = number(optarg);
		return true;
	case 't':
		o->patience_ms = number(optarg);
		return true;
	case 'l':
		o->late_ms = number(optarg);
		return true;
	case 'g':
		o->gap_ms = number(optarg);
		return true;
	case 'y':
		o->tries = number(optarg);
		return true;
	case 'w':
		o->wait_ms = number(optarg);
		return true;
	default:
		return read_switch(o, option);
	}
}

static int
client(struct partner *p, char **words)
{
	int rc = 0;

	if (p->options.srq)
		partner_post_receives(p);
	for (uint32_t i = 0; i < p->options.rounds && rc == 0; i++) {
		if (i > 0)
			partner_poll(p, p->options.gap_ms);
		rc = partner_converse(p, words[0], words + 1);
		if (rc == 3 && p->options.tries > 0) {
			p->options.tries--;
			i--;
			rc = 0;
		}
	}
	printf("%lu messages, %lu bytes, %lu bad\n", (unsigned long)p->messages,
			(unsigned long)p->bytes, (unsigned long)p->bad);
	fflush(stdout);
	if (p->options.leave)
		_exit(rc);
	return rc;
}

static int
act(struct partner *p, int words, char **word)
{
	if (strcmp(word[0], "server") == 0) {
		partner_serve(p);
		return 0;
	}
	if (strcmp(word[0], "client") == 0 && words > 1)
		return client(p, word + 1);
	if (strcmp(word[0], "rping-server") == 0)
		return partner_rping_serve(p);
	if (strcmp(word[0], "rping") == 0 && words == 4)
		return partner_rping(p, word[1], number(word[2]), number(word[3]));
	if (strcmp(word[0], "perftest") == 0 && words > 1)
		return partner_perftest(p, word[1], words > 2 ? word[2] : NULL);
	if (strcmp(word[0], "ucmatose") == 0 && words > 1)
		return partner_ucmatose(p, number(word[1]), words > 2 ? word[2] : NULL);
	return 2;
}

int
main(int argc, char **argv)
{
	static struct partner partner = {
		.options = { .text = "",
				.port = 7471,
				.connections = 1,
				.receives = 64,
				.size = 65536,
				.end_ms = 200,
				.patience_ms = PARTNER_PATIENCE / 1000,
				.rounds = 1 },
		.srq = DAT_HANDLE_NULL,
	};
	int option, rc;

	while ((option = getopt(argc, argv, "+D:d:p:c:r:s:n:t:e:l:g:y:w:SREAWC")) != -1)
		if (!read_option(&partner.options, option))
			return 2;
	if (partner.options.ia == NULL || optind == argc)
		return 2;
	(void)signal(SIGTERM, stop);
	partner_open(&partner);
	rc = act(&partner, argc - optind, argv + optind);
	partner_must(dat_ia_close(partner.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	return partner.bad != 0 ? 4 : rc;
}
