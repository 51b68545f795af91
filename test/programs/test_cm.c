/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of librdmacm: both ends in one process, bad arguments, ends in every order. */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm_rig.h"

static void
connection__comes_to_be_and_ends_at_both(void **state)
{
	struct pair *pair = *state;

	establish(pair);
	ok(rdma_disconnect(pair->active));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	assert_int_equal(pair->passive->qp->state, IBV_QPS_ERR);
	assert_int_equal(rdma_get_dst_port(pair->active), rdma_get_src_port(pair->listener));
}

static void
reject__brings_its_data_to_the_peer(void **state)
{
	struct pair *pair = *state;
	struct rdma_cm_event *event;

	request(pair);
	ok(rdma_reject(pair->passive, "no", 3));
	event = want(pair->channel, RDMA_CM_EVENT_REJECTED);
	assert_ptr_equal(event->id, pair->active);
	assert_int_equal(event->status, 28);
	assert_string_equal(event->param.conn.private_data, "no");
	ok(rdma_ack_cm_event(event));
}

static void
connect__is_refused_where_nobody_listens(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in nobody = address(pair->listener);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	nobody.sin_port = htons(1);
	id = resolved(pair->channel, nobody);
	ok(rdma_connect(id, NULL));
	event = want(pair->channel, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(event->status, 8);
	ok(rdma_ack_cm_event(event));
	end(id);
}

/* The listener ends, and then a request comes: no sleep tells when it has, but it is on its way for less than this. */
static void
end_listener_and_connect(struct pair *pair)
{
	ok(rdma_destroy_id(pair->listener));
	pair->listener = NULL;
	ok(rdma_connect(pair->active, NULL));
	usleep(50000);
}

static void
listen__has_the_requests_since_the_listener_before(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in at = address(pair->listener);

	end_listener_and_connect(pair);
	ok(rdma_create_id(pair->channel, &pair->listener, &at, RDMA_PS_TCP));
	ok(rdma_bind_addr(pair->listener, (struct sockaddr *)&at));
	ok(rdma_listen(pair->listener, 4));
	pair->request = want(pair->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	pair->passive = pair->request->id;
	assert_ptr_equal(pair->request->listen_id, pair->listener);
	assert_ptr_equal(pair->passive->context, &at);
	assert_ptr_equal(pair->passive->channel, pair->channel);
	make_qp(pair->passive);
	ok(rdma_accept(pair->passive, NULL));
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void
destroy_id__of_a_listener_refuses_requests_in_the_end(void **state)
{
	struct pair *pair = *state;

	end_listener_and_connect(pair);
	want_acked(pair->channel, RDMA_CM_EVENT_REJECTED);
}

static void
calls__refuse_what_does_not_go(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in sin = address(pair->listener),
			   other = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x08080808) };
	struct sockaddr_in none = { .sin_family = AF_UNIX };
	struct rdma_conn_param large = { .private_data = &sin, .private_data_len = 255 };
	struct rdma_cm_id *id;

	refused(rdma_create_id(pair->channel, &id, NULL, RDMA_PS_UDP), EOPNOTSUPP);
	ok(rdma_create_id(pair->channel, &id, NULL, RDMA_PS_TCP));
	refused(rdma_bind_addr(id, (struct sockaddr *)&none), EAFNOSUPPORT);
	refused(rdma_bind_addr(id, (struct sockaddr *)&other), EADDRNOTAVAIL);
	refused(rdma_resolve_route(id, 1), EINVAL);
	refused(rdma_connect(id, NULL), EINVAL);
	refused(rdma_accept(id, NULL), EINVAL);
	refused(rdma_disconnect(id), EINVAL);
	refused(rdma_reject(id, NULL, 0), EINVAL);
	ok(rdma_bind_addr(id, (struct sockaddr *)&sin));
	refused(rdma_bind_addr(id, (struct sockaddr *)&sin), EINVAL);
	refused(rdma_listen(id, 1), EADDRINUSE);
	ok(rdma_destroy_id(id));
	refused(rdma_connect(pair->active, &large), EINVAL);
	refused(rdma_join_multicast(pair->active, (struct sockaddr *)&sin, NULL), EOPNOTSUPP);
	refused(rdma_disconnect(pair->active), EINVAL);
}

/* The requests of a listener that were not fetched are refused when it ends. */
static void
listener__ends_with_its_requests(void **state)
{
	struct pair *pair = *state;
	struct pollfd fd = { .fd = pair->channel->fd, .events = POLLIN };

	ok(rdma_connect(pair->active, NULL));
	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	ok(rdma_destroy_id(pair->listener));
	pair->listener = NULL;
	want_acked(pair->channel, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(poll(&fd, 1, 0), 0);
}

struct ender {
	struct rdma_cm_id *id;
	bool ended; /* atomic */
};

static void *
end_id(void *arg)
{
	struct ender *ender = arg;

	end(ender->id);
	__atomic_store_n(&ender->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void
destroy_id__waits_for_acknowledgements(void **state)
{
	struct pair *pair = *state;
	struct ender ender = { .id = pair->active };
	struct rdma_cm_event *event;
	pthread_t thread;

	request(pair);
	ok(rdma_reject(pair->passive, NULL, 0));
	event = want(pair->channel, RDMA_CM_EVENT_REJECTED);
	ok(pthread_create(&thread, NULL, end_id, &ender));
	usleep(50000);
	assert_false(__atomic_load_n(&ender.ended, __ATOMIC_ACQUIRE));
	ok(rdma_ack_cm_event(event));
	ok(pthread_join(thread, NULL));
	pair->active = NULL;
}

/* The queue pair may end before its connection, by either call; the peer is told of the end. */
static void
qp__ends_before_its_connection(void **state)
{
	struct pair *pair = *state;
	struct rdma_cm_event *event;

	establish(pair);
	ok(ibv_destroy_qp(pair->active->qp));
	assert_null(pair->active->qp);
	event = want(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	assert_ptr_equal(event->id, pair->passive);
	ok(rdma_ack_cm_event(event));
	ok(rdma_disconnect(pair->active));
	event = want(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	assert_ptr_equal(event->id, pair->active);
	ok(rdma_ack_cm_event(event));
}

/* As providers of DAT do it: the queue pair was made by an id that is gone when it is connected. */
static void
qp__may_be_given_to_another_id(void **state)
{
	struct pair *pair = *state;
	struct rdma_cm_id *spare = resolved(pair->channel, address(pair->listener));

	request(pair);
	pair->passive->qp = spare->qp;
	spare->qp = NULL;
	ok(rdma_destroy_id(spare));
	ok(rdma_accept(pair->passive, NULL));
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(pair->passive->qp->state, IBV_QPS_RTS);
}

/* Events that were not fetched go along to the new channel. */
static void
migrate__takes_events_along(void **state)
{
	struct pair *pair = *state;
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct pollfd fd = { .fd = pair->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	ok(rdma_connect(pair->active, NULL));
	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	ok(rdma_migrate_id(pair->listener, other));
	assert_int_equal(poll(&fd, 1, 0), 0);
	event = want(other, RDMA_CM_EVENT_CONNECT_REQUEST);
	pair->passive = event->id;
	assert_ptr_equal(pair->passive->channel, other);
	ok(rdma_ack_cm_event(event));
	ok(rdma_reject(pair->passive, NULL, 0));
	want_acked(pair->channel, RDMA_CM_EVENT_REJECTED);
	end(pair->passive);
	end(pair->listener);
	pair->passive = pair->listener = NULL;
	rdma_destroy_event_channel(other);
}

/* All events, not requests alone. */
static void
migrate__takes_an_address_along(void **state)
{
	struct rdma_event_channel *before = rdma_create_event_channel(),
				  *behind = rdma_create_event_channel();
	struct pair *pair = *state;
	struct sockaddr_in at = address(pair->listener);
	struct rdma_cm_id *id;

	ok(rdma_create_id(before, &id, NULL, RDMA_PS_TCP));
	ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&at, 1000));
	ok(rdma_migrate_id(id, behind));
	want_acked(behind, RDMA_CM_EVENT_ADDR_RESOLVED);
	ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(before);
	rdma_destroy_event_channel(behind);
}

/* A synchronous id has an event that is acknowledged with its next call: migrating is one. */
static void
migrate__is_for_synchronous_ids(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in at = address(pair->listener);
	struct rdma_cm_id *id;

	ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&at, 1000));
	assert_non_null(id->event);
	ok(rdma_migrate_id(id, pair->channel));
	assert_null(id->event);
	ok(rdma_resolve_route(id, 1000));
	want_acked(pair->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	ok(rdma_migrate_id(id, NULL));
	ok(rdma_destroy_id(id));
}

/* Both ends may say that it is over, also when they have been told. */
static void
disconnect__is_no_error_when_it_is_over(void **state)
{
	struct pair *pair = *state;

	establish(pair);
	ok(rdma_disconnect(pair->active));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	ok(rdma_disconnect(pair->passive));
	ok(rdma_disconnect(pair->active));
	refused(rdma_disconnect(pair->listener), EINVAL);
}

static int
child_of(struct pair *pair)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(pair->channel, &event) != -1 || rdma_disconnect(pair->active) != -1)
		return 1;
	if (rdma_migrate_id(pair->active, pair->channel) != -1 ||
			rdma_resolve_route(pair->active, 1) != -1)
		return 3;
	rdma_destroy_qp(pair->active);
	return rdma_destroy_id(pair->active) == 0 ? 0 : 2;
}

/* A child has no ids of its parent, whose connection goes on. */
static void
fork__leaves_the_parent_alone(void **state)
{
	struct pair *pair = *state;
	int status;
	pid_t pid;

	establish(pair);
	pid = fork();
	if (pid == 0)
		_exit(child_of(pair));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ok(rdma_disconnect(pair->passive));
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
	want_acked(pair->channel, RDMA_CM_EVENT_DISCONNECTED);
}

static void
channel__may_not_block(void **state)
{
	struct pair *pair = *state;
	struct rdma_cm_event *event;

	ok(fcntl(pair->channel->fd, F_SETFL, O_NONBLOCK));
	refused(rdma_get_cm_event(pair->channel, &event), EAGAIN);
}

static bool has_returned; /* atomic */

static void *
wait_for_event(void *arg)
{
	struct rdma_cm_event *event;

	(void)rdma_get_cm_event(arg, &event);
	__atomic_store_n(&has_returned, true, __ATOMIC_SEQ_CST);
	return NULL;
}

/* A thread of a program that ends waits in a call of a kernel for ever, and is told of no error. */
static void
channel__that_ends_leaves_a_waiting_thread_alone(void **state)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	pthread_t thread;
	int fd;

	assert_non_null(channel);
	fd = dup(channel->fd);
	ok(pthread_create(&thread, NULL, wait_for_event, channel));
	usleep(50000);
	rdma_destroy_event_channel(channel);
	usleep(50000);
	assert_false(__atomic_load_n(&has_returned, __ATOMIC_SEQ_CST));
	/* It reads once more, and then nothing is there. */
	ok(fcntl(fd, F_SETFL, O_NONBLOCK));
	ok(eventfd_write(fd, 1));
	ok(pthread_join(thread, NULL));
	close(fd);
}

static uint8_t
timeout_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ok(ibv_query_qp(qp, &attr, IBV_QP_TIMEOUT, &init));
	return attr.timeout;
}

/* The option is of one end; the other one has that of the device. */
static void
option__sets_the_acknowledge_timeout(void **state)
{
	struct pair *pair = *state;
	uint8_t code = 21, none = 32;

	refused(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &none, 1),
			EINVAL);
	refused(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &code, 0),
			EINVAL);
	ok(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &code, 1));
	establish(pair);
	assert_int_equal(timeout_of(pair->active->qp), 21);
	assert_int_equal(timeout_of(pair->passive->qp), 17);
}

static uint8_t
class_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ok(ibv_query_qp(qp, &attr, IBV_QP_AV, &init));
	return attr.ah_attr.grh.traffic_class;
}

/* The class of the id that connects is that of both ends. */
static void
option__sets_the_traffic_class(void **state)
{
	struct pair *pair = *state;
	uint8_t tos = 26 << 2;

	refused(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 4), EINVAL);
	ok(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	establish(pair);
	assert_int_equal(class_of(pair->active->qp), tos);
	assert_int_equal(class_of(pair->passive->qp), tos);
}

/* An id that accepts sets the class of its own frames. */
static void
option__sets_the_traffic_class_of_an_answer(void **state)
{
	struct pair *pair = *state;
	uint8_t tos = 10 << 2;

	request(pair);
	make_qp(pair->passive);
	ok(rdma_set_option(pair->passive, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	ok(rdma_accept(pair->passive, NULL));
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	want_acked(pair->channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(class_of(pair->passive->qp), tos);
	assert_int_equal(class_of(pair->active->qp), 0);
}

static void
option__of_another_kind_is_a_number_or_refused(void **state)
{
	struct pair *pair = *state;
	int yes = 1;

	ok(rdma_set_option(
			pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes)));
	ok(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &yes, sizeof(yes)));
	refused(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, 1),
			EINVAL);
	refused(rdma_set_option(pair->active, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, NULL,
				sizeof(yes)),
			EINVAL);
	refused(rdma_set_option(pair->active, RDMA_OPTION_ID, 99, &yes, sizeof(yes)), EINVAL);
	refused(rdma_set_option(pair->active, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &yes,
				sizeof(yes)),
			EOPNOTSUPP);
	refused(rdma_set_option(pair->active, 99, RDMA_OPTION_ID_TOS, &yes, 1), ENOSYS);
}

/* Programs that make a queue pair by themselves make it there. */
static void
id__has_a_protection_domain(void **state)
{
	struct pair *pair = *state;

	assert_non_null(pair->listener->pd);
	request(pair);
	assert_null(pair->passive->qp);
	assert_ptr_equal(pair->passive->pd, pair->listener->pd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(connection__comes_to_be_and_ends_at_both),
		pair_test(reject__brings_its_data_to_the_peer),
		pair_test(connect__is_refused_where_nobody_listens),
		pair_test(listen__has_the_requests_since_the_listener_before),
		pair_test(destroy_id__of_a_listener_refuses_requests_in_the_end),
		pair_test(calls__refuse_what_does_not_go),
		pair_test(listener__ends_with_its_requests),
		pair_test(destroy_id__waits_for_acknowledgements),
		pair_test(qp__ends_before_its_connection),
		pair_test(qp__may_be_given_to_another_id),
		pair_test(migrate__takes_events_along),
		pair_test(migrate__takes_an_address_along),
		pair_test(migrate__is_for_synchronous_ids),
		pair_test(disconnect__is_no_error_when_it_is_over),
		pair_test(fork__leaves_the_parent_alone),
		pair_test(channel__may_not_block),
		pair_test(option__sets_the_acknowledge_timeout),
		pair_test(option__sets_the_traffic_class),
		pair_test(option__sets_the_traffic_class_of_an_answer),
		pair_test(option__of_another_kind_is_a_number_or_refused),
		pair_test(id__has_a_protection_domain),
		cmocka_unit_test(channel__that_ends_leaves_a_waiting_thread_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
