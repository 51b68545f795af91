/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes of fuzzed objects: what is refused leaves them as they were. */

#include <arpa/inet.h>

#include "verbs_world.h"

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK                                                                        \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                               \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
			IBV_QP_MAX_QP_RD_ATOMIC)
#define REMOTE_ACCESS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define STATES        (IBV_QPS_ERR + 1)

/* The address of the device, one that never answers, and some that are none. */
static union ibv_gid
gid_of(uint8_t byte)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 } };

	switch (byte) {
	case 0xf0:
		gid.raw[15] = 9;
		break;
	case 0xf1:
		gid.raw[12] = 224;
		break;
	case 0xf2:
		memset(&gid, 0, sizeof(gid));
		break;
	case 0xf3:
		memset(&gid, 0xff, sizeof(gid));
		break;
	case 0xf4:
		gid.raw[12] = 10;
		break;
	case 0xf5:
		gid.raw[0] = 0xfe;
		gid.raw[1] = 0x80;
		break;
	case 0xf6:
		memset(gid.raw + 12, 0, 4);
		break;
	default:
		break;
	}
	return gid;
}

static struct ibv_qp_attr
good_attr(enum ibv_qp_state state, const struct ibv_qp *peer)
{
	return (struct ibv_qp_attr){
		.qp_state = state,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.rq_psn = 7,
		.sq_psn = 7,
		.qp_access_flags = REMOTE_ACCESS,
		.ah_attr = { .is_global = 1,
				.port_num = 1,
				.grh = { .dgid = gid_of(0), .hop_limit = 64 } },
		.port_num = 1,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
}

/* A step that verbs know, or any mask. */
static int
mask_of(enum ibv_qp_state state, const uint8_t *r)
{
	static const int masks[STATES] = { IBV_QP_STATE, INIT_MASK, RTR_MASK, RTS_MASK,
		IBV_QP_STATE, IBV_QP_STATE, IBV_QP_STATE };
	int mask = state < STATES ? masks[state] : IBV_QP_STATE;

	if (r[3] >= 0xc0)
		mask ^= (int)(1u << (r[3] & 31));
	if (r[3] >= 0xb0 && r[3] < 0xc0)
		mask = (int)(base_u16(r + 10) | (uint32_t)r[12] << 16 | (uint32_t)r[3] << 24);
	return mask;
}

/* One member, or a few of them, become any number. */
static void
spoil(struct ibv_qp_attr *attr, const uint8_t *r)
{
	const uint8_t value = r[6];

	if (r[5] & 1)
		attr->path_mtu = (enum ibv_mtu)(value - 1);
	if (r[5] & 2)
		attr->dest_qp_num = (uint32_t)value << (r[7] & 31);
	if (r[5] & 4)
		attr->rq_psn = attr->sq_psn = (uint32_t)value << (r[7] & 31);
	if (r[5] & 8)
		attr->qp_access_flags = (unsigned int)value << (r[7] & 15);
	if (r[5] & 16)
		attr->max_rd_atomic = attr->max_dest_rd_atomic = value;
	if (r[5] & 32)
		attr->min_rnr_timer = attr->timeout = attr->retry_cnt = attr->rnr_retry = value;
	if (r[5] & 64)
		attr->port_num = attr->ah_attr.port_num = value;
	if (r[5] & 128)
		attr->pkey_index = value;
	attr->ah_attr.grh.dgid = gid_of(r[8]);
	if (r[9] & 1)
		attr->ah_attr.is_global = 0;
	if (r[9] & 2)
		attr->ah_attr.grh.sgid_index = value;
	if (r[9] & 4)
		attr->ah_attr.grh.flow_label = (uint32_t)value << 13;
	if (r[9] & 8)
		attr->ah_attr.grh.hop_limit = attr->ah_attr.grh.traffic_class = value;
	if (r[9] & 16)
		attr->cur_qp_state = (enum ibv_qp_state)value;
	if (r[9] & 32)
		attr->qp_state = (enum ibv_qp_state)((unsigned int)attr->qp_state + 256u * value);
}

static struct ibv_qp_attr
attributes(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	BASE_MUST(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0,
			"a queue pair tells its state");
	BASE_MUST(attr.qp_state < STATES && qp->state == attr.qp_state, "it is in a state");
	BASE_MUST(init.send_cq == qp->send_cq && init.recv_cq == qp->recv_cq && init.srq == qp->srq,
			"a queue pair tells its queues");
	return attr;
}

static void
compare(const struct ibv_qp_attr *a, const struct ibv_qp_attr *b)
{
	/* A peer may have broken it meanwhile: the call polls while it asks for an address. */
	BASE_MUST(a->qp_state == b->qp_state || b->qp_state == IBV_QPS_ERR,
			"what is refused moves no queue pair");
	BASE_MUST(a->path_mtu == b->path_mtu && a->dest_qp_num == b->dest_qp_num &&
					a->rq_psn == b->rq_psn && a->sq_psn == b->sq_psn &&
					a->qp_access_flags == b->qp_access_flags &&
					a->max_rd_atomic == b->max_rd_atomic &&
					a->max_dest_rd_atomic == b->max_dest_rd_atomic &&
					a->min_rnr_timer == b->min_rnr_timer &&
					a->timeout == b->timeout && a->retry_cnt == b->retry_cnt &&
					a->rnr_retry == b->rnr_retry && a->port_num == b->port_num,
			"what is refused changes no attribute");
}

static int
modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	const struct ibv_qp_attr before = attributes(qp);
	struct ibv_qp_attr after;
	int rc;

	/* Its completions go when it is reset. */
	rc = vw_result(ibv_modify_qp(qp, attr, mask));
	if (rc == 0 && (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		vw_forget(qp);
	after = attributes(qp);
	if (rc != 0)
		compare(&before, &after);
	return rc;
}

void
vw_modify_qp(const uint8_t *r)
{
	struct vw_object *object = vw_some(VW_QP, r[1]);
	const struct vw_object *peer = vw_some(VW_QP, r[4]);
	const enum ibv_qp_state state = (enum ibv_qp_state)(r[2] % (STATES + 1));
	struct ibv_qp_attr attr;

	if (object == NULL)
		return;
	attr = good_attr(state, peer->qp);
	spoil(&attr, r);
	(void)modify(object->qp, &attr, mask_of(state, r));
}

void
vw_break(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	BASE_MUST(modify(qp, &attr, IBV_QP_STATE) == 0, "every state leads to ERR");
}

/* All the way from RESET, which is one step from everywhere. */
static bool
begin(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	struct ibv_qp_attr attr = good_attr(IBV_QPS_RESET, peer);

	BASE_MUST(modify(qp, &attr, IBV_QP_STATE) == 0, "every state leads to RESET");
	attr.qp_state = IBV_QPS_INIT;
	BASE_MUST(modify(qp, &attr, INIT_MASK) == 0, "RESET leads to INIT");
	attr.qp_state = IBV_QPS_RTR;
	return modify(qp, &attr, RTR_MASK) == 0;
}

void
vw_connect(const uint8_t *r)
{
	const struct vw_object *a = vw_some(VW_QP, r[1]), *b = vw_some(VW_QP, r[2]);
	struct ibv_qp_attr attr;

	if (a == NULL)
		return;
	if (!begin(a->qp, b->qp) || (b != a && !begin(b->qp, a->qp)))
		BASE_VIOLATED("INIT leads to RTR\n");
	attr = good_attr(IBV_QPS_RTS, a->qp);
	BASE_MUST(modify(b->qp, &attr, RTS_MASK) == 0, "RTR leads to RTS");
	if (b != a && !(r[3] & 1))
		BASE_MUST(modify(a->qp, &attr, RTS_MASK) == 0, "RTR leads to RTS");
}

void
vw_modify_srq(const uint8_t *r)
{
	struct vw_object *object = vw_some(VW_SRQ, r[1]);
	struct ibv_srq_attr attr = { .max_wr = r[3] < 0xf0 ? r[3] : UINT32_MAX / (r[3] - 0xefu),
		.srq_limit = r[4] < 0xf0 ? r[4] % 32 : UINT32_MAX - r[4] };
	const struct ibv_srq_attr asked = attr;
	struct ibv_srq_attr before, after;
	int mask = r[2] < 0xf0 ? r[2] & 3 : (int)(r[5] | (uint32_t)r[6] << 24);
	int rc;

	if (object == NULL)
		return;
	BASE_MUST(ibv_query_srq(object->srq, &before) == 0, "a shared queue tells its attributes");
	rc = vw_result(ibv_modify_srq(object->srq, &attr, mask));
	BASE_MUST(ibv_query_srq(object->srq, &after) == 0, "a shared queue tells its attributes");
	if (rc != 0)
		BASE_MUST(before.max_wr == after.max_wr && before.srq_limit == after.srq_limit,
				"what is refused changes no shared queue");
	else if (mask & IBV_SRQ_MAX_WR)
		BASE_MUST(after.max_wr >= asked.max_wr, "a shared queue has the room asked for");
}

void
vw_query(const uint8_t *r)
{
	const struct vw_object *qp = vw_some(VW_QP, r[1]);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (qp == NULL)
		return;
	(void)attributes(qp->qp);
	BASE_MUST(ibv_query_qp(qp->qp, &attr, (int)base_u24(r + 2), &init) == 0,
			"a queue pair tells its attributes");
	(void)ibv_query_qp_data_in_order(qp->qp, (enum ibv_wr_opcode)r[5], r[6]);
}

static void
query_texts(const uint8_t *r)
{
	const int number = (int)(int8_t)r[2] * (1 + r[3]);

	BASE_MUST(ibv_event_type_str((enum ibv_event_type)number) != NULL &&
					ibv_wc_status_str((enum ibv_wc_status)number) != NULL &&
					ibv_node_type_str((enum ibv_node_type)number) != NULL &&
					ibv_port_state_str((enum ibv_port_state)number) != NULL,
			"every number has a text");
	(void)ibv_rate_to_mult((enum ibv_rate)number);
	(void)mult_to_ibv_rate(number);
	(void)ibv_rate_to_mbps((enum ibv_rate)number);
	(void)mbps_to_ibv_rate(number);
}

/* A call of a port gives -1 and errno. */
static void
minus(int rc)
{
	BASE_MUST(rc >= 0 || (rc == -1 && errno > 0 && errno != ENOSYS), "-1 has a reason");
}

static void
query_port(const uint8_t *r)
{
	const uint8_t port = r[2] & 3;
	const int index = (int)(int8_t)r[3] * (1 + r[4]);
	struct ibv_gid_entry entry, entries[2];
	struct ibv_port_attr attr;
	union ibv_gid gid;
	__be16 pkey;

	(void)vw_result(ibv_query_port(vw.context, port, &attr));
	errno = 0;
	minus(ibv_query_gid(vw.context, port, index, &gid));
	errno = 0;
	minus(ibv_query_pkey(vw.context, port, index, &pkey));
	errno = 0;
	minus(ibv_get_pkey_index(vw.context, port, htons((uint16_t)index)));
	(void)vw_result(ibv_query_gid_ex(vw.context, port, (uint32_t)index, &entry, r[5] & 1));
	BASE_MUST(ibv_query_gid_table(vw.context, entries, r[6] % 3, r[5] & 1) != -ENOSYS,
			"a table of GIDs is there");
}

void
vw_query_device(const uint8_t *r)
{
	struct ibv_query_device_ex_input input = { .comp_mask = r[2] };
	struct ibv_values_ex values = { .comp_mask = r[2] };
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;

	switch (r[1] % 4) {
	case 0:
		BASE_MUST(ibv_query_device(vw.context, &attr) == 0,
				"a device tells its attributes");
		(void)vw_result(ibv_query_device_ex(vw.context, r[3] & 1 ? &input : NULL, &ex));
		break;
	case 1:
		(void)vw_result(ibv_query_rt_values_ex(vw.context, &values));
		break;
	case 2:
		query_texts(r);
		break;
	default:
		query_port(r);
		break;
	}
}
