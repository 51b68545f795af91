/* SPDX-License-Identifier: BSD-3-Clause */
/* Management datagrams, field by field: every bit of one belongs to a field with a name. */

#include <stddef.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

struct field {
	uint16_t attr; /* 0: of all */
	uint16_t off;
	uint16_t len;
	uint32_t mask; /* of four bytes that are two fields; 0: all of it */
	const char *name;
};

#define MAD_OFF(member)  offsetof(struct roce_cm_mad, member)
#define MAD_SIZE(member) sizeof(((struct roce_cm_mad *)0)->member)

#define HDR(member)                                                             \
	{                                                                       \
		0, MAD_OFF(hdr.member), MAD_SIZE(hdr.member), 0, "mad." #member \
	}
#define TID(ATTR, name)                                                           \
	{                                                                         \
		ROCE_CM_ATTR_##ATTR, MAD_OFF(hdr.tid), MAD_SIZE(hdr.tid), 0, name \
	}
#define OF(ATTR, path)                                                       \
	{                                                                    \
		ROCE_CM_ATTR_##ATTR, MAD_OFF(path), MAD_SIZE(path), 0, #path \
	}
#define PART(ATTR, path, mask, name)                              \
	{                                                         \
		ROCE_CM_ATTR_##ATTR, MAD_OFF(path), 4, mask, name \
	}
#define IP_CM(member)                                                                              \
	{                                                                                          \
		ROCE_CM_ATTR_REQ, MAD_OFF(req.private_data) + offsetof(struct roce_ip_cm, member), \
				sizeof(((struct roce_ip_cm *)0)->member), 0, "ip_cm." #member      \
	}

static const struct field fields[] = {
	/* clang-format off */
	HDR(base_version), HDR(mgmt_class), HDR(class_version), HDR(method), HDR(status), HDR(class_specific),
	HDR(attr), HDR(reserved), HDR(modifier),
	/* The side that begins chooses the transaction; the side that answers repeats it. */
	TID(REQ, "mad.tid"), TID(RTU, "mad.tid"), TID(DREQ, "mad.tid"),
	TID(MRA, "mad.echo"), TID(REJ, "mad.echo"), TID(REP, "mad.echo"), TID(DREP, "mad.echo"),
	OF(REQ, req.local_comm_id), OF(REQ, req.reserved), OF(REQ, req.service_id), OF(REQ, req.ca_guid),
	OF(REQ, req.reserved2), OF(REQ, req.qkey), OF(REQ, req.qpn_resources), OF(REQ, req.eecn_depth),
	PART(REQ, req.eecn_timeout, 0xfffffffe, "req.eecn_timeout"),
	PART(REQ, req.eecn_timeout, 0x00000001, "req.flow_control"),
	OF(REQ, req.psn_timeout), OF(REQ, req.pkey), OF(REQ, req.mtu_rnr), OF(REQ, req.retries_srq),
	OF(REQ, req.primary.local_lid), OF(REQ, req.primary.remote_lid),
	OF(REQ, req.primary.local_gid), OF(REQ, req.primary.remote_gid),
	PART(REQ, req.primary.flow_rate, 0xfffff000, "req.flow_label"),
	PART(REQ, req.primary.flow_rate, 0x00000fff, "req.packet_rate"),
	OF(REQ, req.primary.traffic_class), OF(REQ, req.primary.hop_limit), OF(REQ, req.primary.sl),
	OF(REQ, req.primary.ack_timeout), OF(REQ, req.alternate),
	IP_CM(version), IP_CM(ip_version), IP_CM(src_port), IP_CM(src), IP_CM(dst),
	{ ROCE_CM_ATTR_REQ, offsetof(struct roce_cm_mad, req.private_data) + sizeof(struct roce_ip_cm),
	  ROCE_CM_REQ_PRIVATE - sizeof(struct roce_ip_cm), 0, "req.private_data" },
	OF(MRA, mra.local_comm_id), OF(MRA, mra.remote_comm_id), OF(MRA, mra.about), OF(MRA, mra.timeout),
	OF(MRA, mra.private_data),
	OF(REJ, rej.local_comm_id), OF(REJ, rej.remote_comm_id), OF(REJ, rej.about), OF(REJ, rej.ari_len),
	OF(REJ, rej.reason), OF(REJ, rej.ari), OF(REJ, rej.private_data),
	OF(REP, rep.local_comm_id), OF(REP, rep.remote_comm_id), OF(REP, rep.qkey), OF(REP, rep.qpn),
	OF(REP, rep.eecn), OF(REP, rep.psn),
	/* From the resources to the RNR retry: four bytes. */
	PART(REP, rep.responder_resources, 0xffff06ff, "rep.resources"),
	PART(REP, rep.responder_resources, 0x0000f800, "rep.ack_delay"),
	PART(REP, rep.responder_resources, 0x00000100, "rep.flow_control"), OF(REP, rep.ca_guid), OF(REP, rep.private_data),
	OF(RTU, rtu.local_comm_id), OF(RTU, rtu.remote_comm_id), OF(RTU, rtu.private_data),
	OF(DREQ, dreq.local_comm_id), OF(DREQ, dreq.remote_comm_id), OF(DREQ, dreq.remote_qpn),
	OF(DREQ, dreq.private_data),
	OF(DREP, drep.local_comm_id), OF(DREP, drep.remote_comm_id), OF(DREP, drep.private_data),
	/* clang-format on */
};

static uint64_t
value_of(const uint8_t *bytes, uint32_t len)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < len; i++)
		value = value << 8 | bytes[i];
	return value;
}

static void
mark(uint8_t *covered, const struct field *field)
{
	for (uint32_t i = 0; i < field->len; i++)
		covered[field->off + i] |=
				(uint8_t)(field->mask == 0 ? 0xff : field->mask >> 8 * (3 - i));
}

/* A long field: the first place where it differs, at most eight bytes from there. */
static void
compare_long(struct rp_world *world, const struct rp_frame *recorded, const struct field *field,
		const uint8_t *ours, const uint8_t *theirs)
{
	uint32_t at = 0;
	uint32_t len;

	while (at < field->len && ours[at] == theirs[at])
		at++;
	if (at == field->len)
		return;
	len = RTE_MIN(field->len - at, 8u);
	rp_differ(world, field->name, recorded->number, value_of(ours + at, len),
			value_of(theirs + at, len));
}

static void
compare(struct rp_world *world, const struct rp_frame *recorded, const struct field *field,
		const uint8_t *ours, const uint8_t *theirs)
{
	uint64_t mask = field->mask != 0 ? field->mask : UINT64_MAX;
	uint64_t a, b;

	if (field->len > 8) {
		compare_long(world, recorded, field, ours, theirs);
		return;
	}
	a = value_of(ours, field->len) & mask;
	b = value_of(theirs, field->len) & mask;
	if (a != b)
		rp_differ(world, field->name, recorded->number, a, b);
}

void
rp_mad_compare(struct rp_world *world, const struct rp_frame *recorded,
		const struct roce_cm_mad *ours)
{
	const uint8_t *theirs = rp_payload(&recorded->pkt);
	uint8_t covered[ROCE_MAD_LEN] = { 0 };

	for (size_t i = 0; i < RTE_DIM(fields); i++) {
		const struct field *field = &fields[i];

		if (field->attr != 0 && field->attr != recorded->msg.attr)
			continue;
		mark(covered, field);
		compare(world, recorded, field, (const uint8_t *)ours + field->off,
				theirs + field->off);
	}
	/* Every bit was compared. */
	for (size_t i = 0; i < sizeof(covered); i++)
		assert_int_equal(covered[i], 0xff);
}
