/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of perftest: see partner_perftest.h. */

#include "partner_perftest.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PLACES      8u
#define PLACE       128u /* bytes; no word is longer */
#define TEXT_END    108u
#define TRY_MS      200.0
#define LEAVE_US    1000000u
#define PATIENCE_MS (PARTNER_PATIENCE / 1e3)

/** An end among SENDs. */
struct wire_end {
	uint32_t lid, out_reads, qpn, psn, rkey, pad;
	uint64_t vaddr;
	uint8_t gid[16];
	uint32_t srqn, gid_index;
};

/* ---- TCP ---- */

static int
tcp_connect(const char *host, uint16_t port)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *info;
	char service[8];
	int fd;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hints, &info) != 0)
		partner_die(host, DAT_INVALID_ADDRESS);
	fd = socket(info->ai_family, SOCK_STREAM, 0);
	if (fd >= 0 && connect(fd, info->ai_addr, info->ai_addrlen) != 0) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(info);
	return fd;
}

static int
tcp_connect_until(struct partner *p, const char *host)
{
	double until = partner_now() + PATIENCE_MS;
	int fd;

	while ((fd = tcp_connect(host, p->options.port)) < 0) {
		if (partner_now() > until)
			partner_die("connecting over TCP", DAT_TIMEOUT_EXPIRED);
		partner_poll(p, TRY_MS);
	}
	return fd;
}

static int
tcp_accept(struct partner *p)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
		.sin6_port = htons(p->options.port),
		.sin6_addr = IN6ADDR_ANY_INIT };
	int listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1, fd;
	double until = partner_now() + 2 * PATIENCE_MS;

	if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
			bind(listener, (struct sockaddr *)&any, sizeof(any)) != 0 ||
			listen(listener, 1) != 0)
		partner_die("listening over TCP", DAT_CONN_QUAL_IN_USE);
	printf("listening on port %u\n", p->options.port);
	fflush(stdout);
	while ((fd = accept(listener, NULL, NULL)) < 0) {
		if (partner_now() > until)
			partner_die("waiting for a client", DAT_TIMEOUT_EXPIRED);
		/* An answer to a neighbour may be due. */
		partner_poll(p, 1);
	}
	close(listener);
	return fd;
}

static void
tcp_say(const struct perftest_wire *w, const void *word, uint32_t n)
{
	if (send(w->fd, word, n, MSG_NOSIGNAL) != (ssize_t)n)
		partner_die("a word", DAT_ABORT);
}

static void
tcp_hear(const struct perftest_wire *w, uint8_t *word, uint32_t n)
{
	double until = partner_now() + PATIENCE_MS;
	uint32_t got = 0;

	while (got < n) {
		ssize_t rc = recv(w->fd, word + got, n - got, MSG_DONTWAIT);

		if (rc == 0 || partner_now() > until)
			partner_die("the word of the peer", DAT_ABORT);
		if (rc > 0)
			got += (uint32_t)rc;
		else
			partner_poll(w->p, 0.2);
	}
}

/* ---- SENDs ---- */

static void
connected(struct partner *p, DAT_EVD_HANDLE connections, unsigned int *number)
{
	DAT_EVENT event;
	DAT_COUNT more;

	(void)p;
	partner_must(dat_evd_wait(connections, 2 * PARTNER_PATIENCE, 1, &event, &more),
			"waiting for the connection");
	*number = (unsigned int)event.event_number;
}

void
partner_connect_until(
		struct partner *p, DAT_EP_HANDLE ep, DAT_EVD_HANDLE connections, const char *host)
{
	double until = partner_now() + PATIENCE_MS;
	DAT_EP_HANDLE kept = p->ep;
	unsigned int number;

	p->ep = ep;
	for (;;) {
		partner_connect(p, host);
		connected(p, connections, &number);
		if (number == DAT_CONNECTION_EVENT_ESTABLISHED)
			break;
		if (partner_now() > until)
			partner_die("connecting", DAT_TIMEOUT_EXPIRED);
		partner_must(dat_ep_reset(ep), "dat_ep_reset");
		partner_poll(p, TRY_MS);
	}
	p->ep = kept;
}

void
partner_accept_next(struct partner *p, DAT_EP_HANDLE ep, DAT_EVD_HANDLE connections)
{
	unsigned int number;
	DAT_EVENT event;
	DAT_COUNT more;

	partner_must(dat_evd_wait(p->requests, 2 * PARTNER_PATIENCE, 1, &event, &more),
			"waiting for a request");
	partner_must(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, NULL),
			"dat_cr_accept");
	connected(p, connections, &number);
	if (number != DAT_CONNECTION_EVENT_ESTABLISHED)
		partner_die("accepting", DAT_ABORT);
}

static DAT_LMR_TRIPLET
place(const struct perftest_wire *w, uint32_t i, uint32_t n)
{
	return (DAT_LMR_TRIPLET){ .lmr_context = w->key,
		.virtual_address = (DAT_VADDR)(uintptr_t)(w->memory + (size_t)i * PLACE),
		.segment_length = n };
}

static void
cm_post(const struct perftest_wire *w, uint32_t i)
{
	DAT_LMR_TRIPLET iov = place(w, i, PLACE);
	const DAT_DTO_COOKIE cookie = { .as_64 = i };

	partner_must(dat_ep_post_recv(w->ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"posting a receive");
}

static void
cm_post_all(const struct perftest_wire *w)
{
	for (uint32_t i = 0; i < PLACES; i++)
		cm_post(w, i);
}

static void
cm_open(struct perftest_wire *w, const char *host)
{
	const DAT_EP_ATTR attr = { .service_type = DAT_SERVICE_TYPE_RC,
		.max_recv_dtos = (DAT_COUNT)PLACES,
		.max_request_dtos = (DAT_COUNT)PLACES,
		.max_recv_iov = 1,
		.max_request_iov = 1 };
	struct partner *p = w->p;

	w->memory = partner_offer(p, (size_t)(PLACES + 1) * PLACE,
			DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &w->key,
			NULL);
	partner_make_evd(p, 8, DAT_EVD_CONNECTION_FLAG, &w->connections);
	partner_make_evd(p, 2 * (DAT_COUNT)PLACES, DAT_EVD_DTO_FLAG, &w->receives);
	partner_make_evd(p, 2 * (DAT_COUNT)PLACES, DAT_EVD_DTO_FLAG, &w->sends);
	partner_must(dat_ep_create(p->ia, p->pz, w->receives, w->sends, w->connections, &attr,
				     &w->ep),
			"dat_ep_create");
	if (w->client) {
		/* Receives do not outlive an attempt, and the server speaks second. */
		partner_connect_until(p, w->ep, w->connections, host);
		cm_post_all(w);
		return;
	}
	cm_post_all(w);
	partner_must(dat_psp_create(p->ia, p->options.port, p->requests, DAT_PSP_CONSUMER_FLAG,
				     &w->psp),
			"dat_psp_create");
	printf("listening on port %u\n", p->options.port);
	fflush(stdout);
	partner_accept_next(p, w->ep, w->connections);
}

static void
completion(DAT_EVD_HANDLE evd, const char *what)
{
	DAT_EVENT event;
	DAT_COUNT more;

	partner_must(dat_evd_wait(evd, PARTNER_PATIENCE, 1, &event, &more), what);
	if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
		partner_die(what, DAT_ABORT);
}

static void
cm_say(const struct perftest_wire *w, const void *word, uint32_t n)
{
	DAT_LMR_TRIPLET iov = place(w, PLACES, n);
	const DAT_DTO_COOKIE cookie = { .as_64 = PLACES };

	memcpy(w->memory + (size_t)PLACES * PLACE, word, n);
	partner_must(dat_ep_post_send(w->ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
	completion(w->sends, "a word");
}

/* Receives are used in the order in which they were posted. */
static void
cm_hear(struct perftest_wire *w, void *word, uint32_t n)
{
	completion(w->receives, "the word of the peer");
	memcpy(word, w->memory + (size_t)w->next * PLACE, n);
	cm_post(w, w->next);
	w->next = (w->next + 1) % PLACES;
}

/* ---- either ---- */

void
perftest_wire_open(struct perftest_wire *w, const char *host)
{
	if (w->cm)
		cm_open(w, host);
	else
		w->fd = w->client ? tcp_connect_until(w->p, host) : tcp_accept(w->p);
}

void
perftest_wire_second(struct perftest_wire *w, const char *host)
{
	if (w->client)
		partner_connect_until(w->p, w->p->ep, w->p->connections, host);
	else
		partner_accept_next(w->p, w->p->ep, w->p->connections);
}

static void
say(const struct perftest_wire *w, const void *word, uint32_t n)
{
	if (w->cm)
		cm_say(w, word, n);
	else
		tcp_say(w, word, n);
}

static void
hear(struct perftest_wire *w, void *word, uint32_t n)
{
	if (w->cm)
		cm_hear(w, word, n);
	else
		tcp_hear(w, word, n);
}

void
perftest_wire_swap(struct perftest_wire *w, const void *out, void *in, uint32_t n)
{
	uint8_t kept[PLACE];

	/* A server may say what it has just heard. */
	if (w->client) {
		memcpy(kept, out, n);
		say(w, kept, n);
		hear(w, in, n);
	} else {
		hear(w, in, n);
		say(w, out, n);
	}
}

/* The next hexadecimal number, and the colon behind it. */
static uint64_t
number_in(const char **at)
{
	char *end;
	uint64_t number = strtoull(*at, &end, 16);

	if (end == *at || *end != ':')
		partner_die("what the peer says of itself", DAT_ABORT);
	*at = end + 1;
	return number;
}

static void
swap_text(struct perftest_wire *w, const struct perftest_end *out, struct perftest_end *in)
{
	char said[TEXT_END + 64], heard[TEXT_END + 1] = "";
	const char *at = heard;
	int n;

	n = snprintf(said, sizeof(said), "0000:%04x:%06x:%06x:%08x:%016llx:", out->out_reads,
			out->qpn, out->psn, out->rkey, (unsigned long long)out->vaddr);
	for (int i = 0; i < 16; i++)
		n += snprintf(said + n, sizeof(said) - (size_t)n, "%02x:", out->gid[i]);
	(void)snprintf(said + n, sizeof(said) - (size_t)n, "%08x:", 0u);
	perftest_wire_swap(w, said, heard, TEXT_END);
	(void)number_in(&at);
	in->out_reads = (uint32_t)number_in(&at);
	in->qpn = (uint32_t)number_in(&at);
	in->psn = (uint32_t)number_in(&at);
	in->rkey = (uint32_t)number_in(&at);
	in->vaddr = number_in(&at);
	for (int i = 0; i < 16; i++)
		in->gid[i] = (uint8_t)number_in(&at);
}

static void
swap_numbers(struct perftest_wire *w, const struct perftest_end *out, struct perftest_end *in)
{
	struct wire_end said = { .out_reads = htobe32(out->out_reads),
		.qpn = htobe32(out->qpn),
		.psn = htobe32(out->psn),
		.rkey = htobe32(out->rkey),
		.vaddr = htobe64(out->vaddr) },
			heard;

	memcpy(said.gid, out->gid, sizeof(said.gid));
	perftest_wire_swap(w, &said, &heard, sizeof(said));
	*in = (struct perftest_end){ .out_reads = be32toh(heard.out_reads),
		.qpn = be32toh(heard.qpn),
		.psn = be32toh(heard.psn),
		.rkey = be32toh(heard.rkey),
		.vaddr = be64toh(heard.vaddr) };
	memcpy(in->gid, heard.gid, sizeof(in->gid));
}

void
perftest_wire_swap_end(
		struct perftest_wire *w, const struct perftest_end *out, struct perftest_end *in)
{
	if (w->cm)
		swap_numbers(w, out, in);
	else
		swap_text(w, out, in);
}

/*
 * Over a connection of rdma_cm the end is told by its end. Up to 4.5 the client brings it about; the client of 25.01 waits
 * for it. So a server waits for a while, and then does it.
 */
static void
leave(const struct perftest_wire *w, DAT_EP_HANDLE ep, DAT_EVD_HANDLE connections)
{
	DAT_EVENT event;
	DAT_COUNT more;

	if (w->client || dat_evd_wait(connections, LEAVE_US, 1, &event, &more) != DAT_SUCCESS) {
		partner_must(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
		partner_must(dat_evd_wait(connections, 2 * PARTNER_PATIENCE, 1, &event, &more),
				"waiting for the end of the connection");
	}
	if (event.event_number != DAT_CONNECTION_EVENT_DISCONNECTED)
		partner_die("the end of the connection", DAT_ABORT);
}

/*
 * Over TCP up to 4.5 each side says "done" and closes, whatever the other one does; 25.01 may close without a word. Its
 * words are read all the same: closing before would reset the connection, and with it what was said.
 */
static void
leave_tcp(const struct perftest_wire *w)
{
	static const char done[5] = "done";
	double until = partner_now() + PATIENCE_MS;
	char heard[sizeof(done)];
	ssize_t n;

	(void)send(w->fd, done, sizeof(done), MSG_NOSIGNAL);
	do {
		n = recv(w->fd, heard, sizeof(heard), MSG_DONTWAIT);
		if (n < 0)
			partner_poll(w->p, 1);
	} while (n < 0 && errno == EAGAIN && partner_now() < until);
	close(w->fd);
}

void
perftest_wire_close(struct perftest_wire *w)
{
	if (w->cm) {
		leave(w, w->p->ep, w->p->connections);
		leave(w, w->ep, w->connections);
	} else {
		leave_tcp(w);
	}
}
