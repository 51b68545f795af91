/* SPDX-License-Identifier: BSD-3-Clause */

/* Ids: birth and death, their addresses, the channel that they report to. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/rdmacm/cma.h"

#define PORT_FIRST 32768u /**< of those that are chosen for ids that ask for none */
#define PORTS      28232u

#define ACK_TIMEOUT_MAX 31u

struct cma_id *
cma_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps)
{
	struct cma_id *id = calloc(1, sizeof(*id));

	if (id == NULL)
		return NULL;
	id->rdma.channel = channel;
	id->rdma.context = context;
	id->rdma.ps = ps;
	id->rdma.qp_type = IBV_QPT_RC;
	return id;
}

void
cma_id_free(struct cma_id *id)
{
	if (id->synchronous && id->rdma.channel != NULL)
		rdma_destroy_event_channel(id->rdma.channel);
	free(id);
}

int
rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		enum rdma_port_space ps)
{
	struct cma_id *made;

	if (ps != RDMA_PS_TCP && ps != RDMA_PS_IB)
		return cma_refuse(ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? EOPNOTSUPP : EINVAL);
	made = cma_id_new(channel, context, ps);
	if (made == NULL)
		return cma_refuse(ENOMEM);
	if (channel == NULL) {
		made->synchronous = true;
		made->rdma.channel = rdma_create_event_channel();
		if (made->rdma.channel == NULL) {
			cma_id_free(made);
			return -1;
		}
	}
	*id = &made->rdma;
	return 0;
}

void
cma_drop_requests(struct cma_event_list *requests)
{
	struct cma_event *event;

	while ((event = TAILQ_FIRST(requests)) != NULL) {
		TAILQ_REMOVE(requests, event, link);
		(void)rdma_destroy_id(event->rdma.id);
		free(event);
	}
}

int
rdma_destroy_id(struct rdma_cm_id *id)
{
	struct cma_id *own = cma_id_of(id);
	struct cma_event_list requests = TAILQ_HEAD_INITIALIZER(requests);

	if (id->event != NULL)
		rdma_ack_cm_event(id->event);
	pthread_mutex_lock(&cma_lock);
	/* A child of fork(2) may have ended the queue pair, which told nobody. */
	if (!cma_is_forked()) {
		cma_qp_let_go(own);
		if (!cma_linger_begin(own))
			roce_cm_id_destroy(own->roce);
		own->roce = NULL;
		cma_timewait_end(own);
		cma_cancel(own, &requests);
		cma_await_acks(own);
	}
	pthread_mutex_unlock(&cma_lock);
	cma_drop_requests(&requests);
	cma_id_free(own);
	return 0;
}

static void
choose_port(struct cma_id *id)
{
	static uint32_t next;
	uint32_t turn = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);

	/* Processes of one host begin at different places. */
	turn += (uint32_t)(cma_now_ns() / 1000);
	cma_set_port(&id->rdma.route.addr.src_addr, htons((uint16_t)(PORT_FIRST + turn % PORTS)));
	id->any_port = true;
}

static bool
is_any(const uint8_t ip[16])
{
	static const uint8_t none[16];

	return memcmp(ip, none, 16) == 0 || (ip[10] == 0xff && memcmp(ip + 12, none, 4) == 0);
}

int
rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cma_id *own = cma_id_of(id);
	uint8_t ip[16];

	if (!cma_ip_of(addr, ip))
		return cma_refuse(EAFNOSUPPORT);
	if (id->route.addr.src_addr.sa_family != 0)
		return cma_refuse(EINVAL);
	/* Opened now, the device does not keep a listener waiting that a peer has been told of. */
	if (cma_context() == NULL)
		return -1;
	if (!is_any(ip)) {
		if (cma_id_attach(own) != 0)
			return -1;
		if (!cma_is_local(id->verbs, ip))
			return cma_refuse(EADDRNOTAVAIL);
	}
	memcpy(&id->route.addr.src_storage, addr, cma_addr_len(addr));
	own->bound = !is_any(ip);
	if (cma_port_of(addr) == 0)
		choose_port(own);
	return 0;
}

/* An address of this end for that peer: the one that the program has bound the id to, of the same family; else the device's. */
static int
set_source(struct rdma_cm_id *id, struct sockaddr *src, const uint8_t peer[16])
{
	struct sockaddr_storage *to = &id->route.addr.src_storage;
	uint8_t ip[16];
	__be16 port;

	if (src != NULL && id->route.addr.src_addr.sa_family == 0 && rdma_bind_addr(id, src) != 0)
		return -1;
	if (cma_id_of(id)->bound) {
		(void)cma_ip_of(&id->route.addr.src_addr, ip);
		return cma_is_v4(ip) == cma_is_v4(peer) ? 0 : cma_refuse(EINVAL);
	}
	cma_source_for(id->verbs, peer, ip);
	port = cma_port_of(&id->route.addr.src_addr);
	cma_set_addr(to, ip, port);
	if (port == 0)
		choose_port(cma_id_of(id));
	return 0;
}

/* Under the lock, without a result that would wait: the event is there before the call returns. */
static int
push(struct cma_id *id, enum cma_slot slot, enum rdma_cm_event_type type)
{
	const struct cma_event *event;

	pthread_mutex_lock(&cma_lock);
	event = cma_push(id, slot, type, 0);
	pthread_mutex_unlock(&cma_lock);
	if (event == NULL)
		return cma_refuse(EBUSY);
	return cma_complete(id, type);
}

int
rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		int timeout_ms)
{
	struct cma_id *own = cma_id_of(id);
	uint8_t ip[16];

	if (!cma_ip_of(dst_addr, ip))
		return cma_refuse(EAFNOSUPPORT);
	if (cma_id_attach(own) != 0 || set_source(id, src_addr, ip) != 0)
		return -1;
	memcpy(&id->route.addr.dst_storage, dst_addr, cma_addr_len(dst_addr));
	return push(own, CMA_SLOT_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED);
}

/* There is one path to any address; whether the address answers is learnt when it is connected to. */
int
rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct cma_id *own = cma_id_of(id);
	struct ibv_sa_path_rec *path = &own->path;
	struct ibv_port_attr port;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	if (id->verbs == NULL || id->route.addr.dst_addr.sa_family == 0)
		return cma_refuse(EINVAL);
	if (ibv_query_port(id->verbs, 1, &port) != 0)
		return cma_refuse(EINVAL);
	*path = (struct ibv_sa_path_rec){
		.hop_limit = 64,
		.reversible = 1,
		.numb_path = 1,
		.pkey = 0xffff,
		.mtu_selector = 2,
		.mtu = (uint8_t)port.active_mtu,
	};
	(void)cma_ip_of(&id->route.addr.dst_addr, path->dgid.raw);
	(void)cma_ip_of(&id->route.addr.src_addr, path->sgid.raw);
	id->route.path_rec = path;
	id->route.num_paths = 1;
	return push(own, CMA_SLOT_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* Events that were not fetched go along. */
int
rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct cma_id *own = cma_id_of(id);
	struct rdma_event_channel *old = id->channel;
	bool synchronous = channel == NULL;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	if (synchronous)
		channel = rdma_create_event_channel();
	if (channel == NULL)
		return -1;
	/* That of its last synchronous call. */
	if (id->event != NULL)
		rdma_ack_cm_event(id->event);
	id->event = NULL;
	pthread_mutex_lock(&cma_lock);
	cma_move(own, channel);
	cma_await_acks(own);
	pthread_mutex_unlock(&cma_lock);
	if (own->synchronous)
		rdma_destroy_event_channel(old);
	own->synchronous = synchronous;
	return 0;
}

/* In effect with the next connection. */
static int
set_byte(uint8_t *to, const void *value, size_t len, uint8_t max)
{
	const uint8_t *byte = value;

	if (len != sizeof(*byte) || *byte > max)
		return cma_refuse(EINVAL);
	*to = *byte;
	return 0;
}

int
rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	struct cma_id *own = cma_id_of(id);

	if (level != RDMA_OPTION_ID)
		return cma_refuse(level == RDMA_OPTION_IB ? EOPNOTSUPP : ENOSYS);
	if (optval == NULL)
		return cma_refuse(EINVAL);
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
		return set_byte(&own->tos, optval, optlen, UINT8_MAX);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return set_byte(&own->ack_timeout, optval, optlen, ACK_TIMEOUT_MAX);
	/* Only listeners occupy a port, and they accept requests of both families: nothing would change. */
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		return optlen == sizeof(int) ? 0 : cma_refuse(EINVAL);
	default:
		return cma_refuse(EINVAL);
	}
}
