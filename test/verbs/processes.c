/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes on roce0 that tell each other their numbers over a socket, and connect step by step: no connection manager
 * has introduced them, so the first frame makes the channel between them.
 *
 *   processes PARAMETERS
 */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define MESSAGES 100u
#define PSN      0x123456u

static const char *parameters;

/** Both ends tell each other this. */
struct numbers {
	uint32_t qpn;
};

static unsigned int
poll_alone(struct pair *pair)
{
	return roce_device_poll(pair->a.device);
}

static struct numbers
swap(int fd, struct numbers mine)
{
	struct numbers theirs = { 0 };

	assert_int_equal(write(fd, &mine, sizeof(mine)), sizeof(mine));
	assert_int_equal(read(fd, &theirs, sizeof(theirs)), sizeof(theirs));
	return theirs;
}

static void
connect_to(struct end *end, uint32_t qpn)
{
	const uint32_t rtr = ROCE_QP_MOD_STATE | ROCE_QP_MOD_AV | ROCE_QP_MOD_PATH_MTU |
			ROCE_QP_MOD_DEST_QPN | ROCE_QP_MOD_RQ_PSN | ROCE_QP_MOD_MAX_DEST_RD_ATOMIC |
			ROCE_QP_MOD_MIN_RNR_TIMER;
	const uint32_t rts = ROCE_QP_MOD_STATE | ROCE_QP_MOD_SQ_PSN | ROCE_QP_MOD_TIMEOUT |
			ROCE_QP_MOD_RETRY_CNT | ROCE_QP_MOD_RNR_RETRY | ROCE_QP_MOD_MAX_RD_ATOMIC;
	struct roce_qp_mod mod = {
		.state = ROCE_QPS_INIT,
		.port_num = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.access = ROCE_ACCESS_REMOTE_WRITE,
		.path_mtu = 1024,
		.dest_qpn = qpn,
		.rq_psn = PSN,
		.sq_psn = PSN,
	};
	struct roce_device_attr attr;

	roce_device_query(end->device, &attr);
	memcpy(mod.remote_ip, attr.ip, sizeof(attr.ip));
	ok(roce_qp_modify(end->qp, &mod,
			ROCE_QP_MOD_STATE | ROCE_QP_MOD_PKEY_INDEX | ROCE_QP_MOD_PORT |
					ROCE_QP_MOD_ACCESS));
	mod.state = ROCE_QPS_RTR;
	ok(roce_qp_modify(end->qp, &mod, rtr));
	mod.state = ROCE_QPS_RTS;
	ok(roce_qp_modify(end->qp, &mod, rts));
}

/* Both send, and both have all that the other sent, in order. */
static void
exchange(struct pair *pair)
{
	const struct roce_wr send = { .wr_id = 1, .opcode = ROCE_WR_SEND };
	struct end *end = &pair->a;
	uint32_t received = 0;

	for (uint32_t i = 0; i < 32; i++)
		ok(post_recv(end, end->qp, i, 64 * i, 64));
	for (uint32_t i = 0; i < MESSAGES; i++) {
		end->memory[8192 + i] = (uint8_t)i;
		while (post_send(end, send, 8192 + i, 1) == -ENOSPC)
			poll_once(pair);
		if (i % 16 != 15)
			continue;
		while (received < i) {
			struct roce_event event = want_completion(pair, end->cq, ROCE_WC_SUCCESS);

			assert_int_equal(end->memory[64 * event.wr_id], received++);
			ok(post_recv(end, end->qp, event.wr_id, 64 * (uint32_t)event.wr_id, 64));
		}
	}
	while (received < MESSAGES) {
		struct roce_event event = want_completion(pair, end->cq, ROCE_WC_SUCCESS);

		assert_int_equal(end->memory[64 * event.wr_id], received++);
	}
}

/* A process; @p fd leads to the other. */
static void
join(struct pair *pair, int fd, struct numbers *theirs)
{
	end_join(&pair->a, open_device(parameters));
	pair->a.qp = end_qp(&pair->a, NULL);
	*theirs = swap(fd, (struct numbers){ .qpn = roce_qp_number(pair->a.qp) });
	connect_to(&pair->a, theirs->qpn);
}

static void
leave(struct pair *pair)
{
	struct roce_device *device = pair->a.device;

	settle(pair);
	end_leave(&pair->a);
	roce_device_close(device);
}

static void
talk(int fd)
{
	struct pair pair = { .poll_once = poll_alone };
	struct numbers theirs;

	join(&pair, fd, &theirs);
	exchange(&pair);
	settle(&pair);
	(void)swap(fd, theirs);
	leave(&pair);
}

/* As soon as the other one is connected, too. */
static void
end_early(int fd)
{
	struct pair pair = { .poll_once = poll_alone };
	struct numbers theirs;

	join(&pair, fd, &theirs);
	(void)swap(fd, theirs);
}

/* The end of the process is the end of its socket. */
static void
outlive(int fd)
{
	const struct roce_wr send = { .wr_id = 1, .opcode = ROCE_WR_SEND };
	struct pair pair = { .poll_once = poll_alone };
	struct numbers theirs;

	join(&pair, fd, &theirs);
	ok(post_recv(&pair.a, pair.a.qp, 2, 0, 64));
	ok(post_send(&pair.a, send, 8192, 1));
	(void)swap(fd, theirs);
	assert_int_equal(read(fd, &theirs, sizeof(theirs)), 0);
	assert_int_equal(want_completion(&pair, pair.a.cq, ROCE_WC_RETRY_EXC_ERR).wr_id, 1);
	assert_int_equal(want_completion(&pair, pair.a.cq, ROCE_WC_WR_FLUSH_ERR).wr_id, 2);
	leave(&pair);
}

/* Each is a child, for a process that has opened a device has no children with one. */
static pid_t
begin(void (*live)(int fd), const int *socket)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		close(socket[1]);
		live(socket[0]);
		_exit(0);
	}
	return child;
}

static void
run(void (*live)(int fd), void (*other)(int fd))
{
	int sockets[2];
	pid_t child[2];

	ok(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets));
	child[0] = begin(live, sockets);
	child[1] = begin(other, (const int[]){ sockets[1], sockets[0] });
	close(sockets[0]);
	close(sockets[1]);
	for (unsigned int i = 0; i < 2; i++) {
		int status = -1;

		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
}

static void
processes__connect_by_their_numbers(void **state)
{
	run(talk, talk);
}

/*
 * Programs that connect by numbers know a peer that has ended as one that does not answer, as on a network. Those that end first
 * leave messages of the other behind, which is about to end well.
 */
static void
processes__that_end_are_peers_that_do_not_answer(void **state)
{
	run(outlive, end_early);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes__connect_by_their_numbers),
		cmocka_unit_test(processes__that_end_are_peers_that_do_not_answer),
	};

	parameters = argc > 1 ? argv[1] : "port=roced";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
