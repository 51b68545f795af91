/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The messages between the proxy and net_memif. Two rules keep the driver alive: it is never left while it owes an
 * answer, since it would write to a closed channel, which is a SIGPIPE or a panic; and it meets no message that it
 * could refuse halfway.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "ethdev/interrupt_thread.h"
#include "ethdev/memif_pvt.h"

#define NEVER UINT64_MAX

static bool
has_link(uint16_t port_id)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port_id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

static void
do_nothing(void *arg)
{
	RTE_SET_USED(arg);
}

/* Returns when the driver has done what it was about to, on the EAL's interrupt thread. */
static void
wait_for_driver(void)
{
	roce_interrupt_thread_do(do_nothing, NULL);
}

void
roce_memif_let_go(struct roce_memif *memif)
{
	if (memif->driver < 0)
		return;
	roce_memif_hang_up(memif->driver);
	memif->driver = -1;
	/* The driver says first that the link is down, and unmaps then. */
	do
		wait_for_driver();
	while (has_link(memif->port_id));
	wait_for_driver();
}

/*
 * Text of the other end of a channel goes to the log, where no byte of it may be a command to a terminal. No text means that
 * there was no other end (memif.c), so an empty one is replaced.
 */
static void
take_words(const struct roce_memif_disconnect *said, struct roce_memif_words *words)
{
	snprintf(words->text, sizeof(words->text), "%.*s", (int)sizeof(said->words) - 1,
			said->words[0] != '\0' ? said->words : "it does not say why");
	for (char *c = words->text; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* Why a channel ended, or what came instead of @p want. @return 0: it did come. */
static int
judge_answer(int rc, const struct roce_memif_msg *msg, uint16_t want,
		struct roce_memif_words *words)
{
	if (rc == 0 && msg->type == want)
		return 0;
	if (rc == 0 && msg->type == ROCE_MEMIF_DISCONNECT) {
		take_words(&msg->disconnect, words);
		return -ECONNREFUSED;
	}
	if (rc == 0)
		rc = -EPROTO;
	if (rc != -ETIMEDOUT)
		snprintf(words->text, sizeof(words->text), "%s", strerror(-rc));
	return rc;
}

/* Say something to the driver, which answers. */
static int
ask(const struct roce_memif *memif, const struct roce_memif_msg *say, int passed,
		struct roce_memif_msg *answer, uint16_t want, struct roce_memif_words *words)
{
	int rc = roce_memif_send(memif->driver, say, passed);

	if (rc == 0)
		rc = roce_memif_await(memif->driver, answer, NEVER);
	return judge_answer(rc, answer, want, words);
}

/* The peer's descriptor for wake-ups is of no use: the port is polled, and a descriptor of a peer could block. */
static int
tell_ring(struct roce_memif *memif, const struct roce_memif_ring *ring,
		struct roce_memif_words *words)
{
	bool c2s = (ring->added.flags & ROCE_MEMIF_RING_C2S) != 0;
	struct roce_memif_msg say = { .type = ROCE_MEMIF_ADD_RING, .add_ring = ring->added };
	struct roce_memif_msg answer = { 0 };
	int own = c2s ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
	int rc;

	if (c2s && own < 0)
		return judge_answer(-errno, &answer, ROCE_MEMIF_ACK, words);
	rc = ask(memif, &say, c2s ? own : ring->fd, &answer, ROCE_MEMIF_ACK, words);
	if (own >= 0)
		close(own);
	return rc;
}

static int
tell_memory(struct roce_memif *memif, const struct roce_memif_offer *offer,
		struct roce_memif_words *words)
{
	struct roce_memif_msg answer = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < offer->regions && rc == 0; i++) {
		struct roce_memif_msg say = { .type = ROCE_MEMIF_ADD_REGION,
			.add_region = { .index = (uint16_t)i, .size = offer->region[i].size } };

		rc = ask(memif, &say, offer->region[i].fd, &answer, ROCE_MEMIF_ACK, words);
	}
	for (unsigned int way = 0; way < ROCE_MEMIF_WAYS; way++)
		for (uint32_t i = 0; i < memif->queues && rc == 0; i++)
			rc = tell_ring(memif, &offer->ring[way][i], words);
	return rc;
}

int
roce_memif_replay(struct roce_memif *memif, const struct roce_memif_offer *offer,
		struct roce_memif_msg *answer, struct roce_memif_words *words)
{
	struct roce_memif_msg init = { .type = ROCE_MEMIF_INIT, .init = offer->init };
	struct roce_memif_msg connect = { .type = ROCE_MEMIF_CONNECT };
	char path[ROCE_MEMIF_SOCKET_LEN];
	int rc;

	/* The file has no name any more. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memif->private_fd);
	memif->driver = roce_memif_close_in_children(roce_memif_connect(
			memif->private_fd >= 0 ? path : memif->private_path, false));
	if (memif->driver < 0)
		return judge_answer(memif->driver, answer, ROCE_MEMIF_HELLO, words);
	memcpy(connect.if_name, offer->if_name, sizeof(connect.if_name));
	rc = roce_memif_await(memif->driver, answer, NEVER);
	rc = judge_answer(rc, answer, ROCE_MEMIF_HELLO, words);
	if (rc == 0)
		rc = ask(memif, &init, -1, answer, ROCE_MEMIF_ACK, words);
	if (rc == 0)
		rc = tell_memory(memif, offer, words);
	if (rc == 0)
		rc = ask(memif, &connect, -1, answer, ROCE_MEMIF_CONNECTED, words);
	if (rc != 0)
		roce_memif_let_go(memif);
	return rc;
}

/* Hand one message of the driver to the server, and its answer back. @return 0; 1: that was the last; negative. */
static int
relay_one(struct roce_memif *memif, int server, uint64_t end, struct roce_memif_words *words)
{
	struct roce_memif_msg msg = { 0 }, answer = { 0 };
	int passed = -1;
	int rc = roce_memif_await_passed(memif->driver, &msg, &passed, NEVER);
	bool last;

	/* It gives up itself with a DISCONNECT. */
	if (rc != 0 || msg.type == ROCE_MEMIF_DISCONNECT)
		return judge_answer(rc, &msg, ROCE_MEMIF_ACK, words);
	last = msg.type == ROCE_MEMIF_CONNECT;
	rc = roce_memif_send(server, &msg, passed);
	if (passed >= 0)
		close(passed);
	if (rc == 0)
		rc = roce_memif_await(server, &answer, end);
	rc = judge_answer(rc, &answer, last ? ROCE_MEMIF_CONNECTED : ROCE_MEMIF_ACK, words);
	/* The driver reads the name up to its zero. */
	if (last)
		answer.if_name[sizeof(answer.if_name) - 1] = '\0';
	if (rc == 0)
		rc = roce_memif_send(memif->driver, &answer, -1);
	return rc == 0 && last ? 1 : rc;
}

int
roce_memif_relay(struct roce_memif *memif, int server, const struct roce_memif_msg *hello,
		uint64_t end, struct roce_memif_words *words)
{
	struct roce_memif_msg msg = { 0 };
	int passed;
	int rc = roce_memif_send(memif->driver, hello, -1);

	while (rc == 0)
		rc = relay_one(memif, server, end, words);
	if (rc < 0)
		return rc;
	/* The driver maps nothing new: it is its own memory. It is silent, or it has closed the channel. */
	while (!has_link(memif->port_id)) {
		rc = roce_memif_recv(memif->driver, &msg, &passed);
		if (rc != -EAGAIN)
			return judge_answer(rc, &msg, ROCE_MEMIF_ACK, words);
		wait_for_driver();
	}
	return 0;
}
