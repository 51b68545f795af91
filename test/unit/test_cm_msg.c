/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "cm/cm_msg.h"
#include "cm_golden.h"
#include "unit.h"

#define IP(a, b, c, d) roce_ip_from_v4(RTE_BE32((a) << 24 | (b) << 16 | (c) << 8 | (d)))

#define CLIENT_GUID UINT64_C(0x505400fffe77000b)
#define SERVER_GUID UINT64_C(0x505400fffe77000c)

/* A golden message, with the zeros that the file leaves out. */
static struct roce_cm_mad
golden(const uint8_t *bytes, size_t len)
{
	struct roce_cm_mad mad;

	memset(&mad, 0, sizeof(mad));
	memcpy(&mad, bytes, len);
	return mad;
}

#define GOLDEN(name) golden(name, sizeof(name))

static struct roce_cm_msg
decoded(const struct roce_cm_mad *mad)
{
	struct roce_cm_msg msg;

	assert_true(roce_cm_msg_decode(mad, &msg));
	return msg;
}

/* Writing what was read gives the same bytes. */
static void
assert_survives(const struct roce_cm_mad *mad)
{
	struct roce_cm_msg msg = decoded(mad);
	struct roce_cm_mad again;

	memset(&again, 0xee, sizeof(again));
	roce_cm_msg_encode(&msg, &again);
	assert_memory_equal(&again, mad, sizeof(again));
}

static struct roce_cm_msg
linux_request(void)
{
	return (struct roce_cm_msg){
		.tid = UINT64_C(0x0000000266d59305),
		.ca_guid = CLIENT_GUID,
		.local_id = 0x0593d566,
		.attr = ROCE_CM_ATTR_REQ,
		.param = {
			.qpn = 0x14,
			.psn = 0x0ec580,
			.responder_resources = 16,
			.initiator_depth = 16,
			.retry = 7,
			.rnr_retry = 7,
			.ack_timeout = 19,
			.mtu_code = 3,
			.private_data = "hello",
			.private_len = 5,
		},
		.req = {
			.service_id = ROCE_CM_SERVICE_TCP + 7471,
			.local_gid = IP(10, 77, 0, 11),
			.remote_gid = IP(10, 77, 0, 12),
			.flow_label = 0x08f7e,
			.pkey = 0xffff,
			.src_port = 0x87d1,
			.local_timeout = 20,
			.remote_timeout = 20,
			.max_retries = 15,
			.hop_limit = 64,
		},
	};
}

UNIT_RULE_IN(decode__reads_what_linux_asks, NULL, NULL)
{
	struct roce_cm_mad mad = GOLDEN(linux_req);
	struct roce_cm_msg msg = decoded(&mad);
	struct roce_cm_msg want = linux_request();

	assert_int_equal(msg.attr, ROCE_CM_ATTR_REQ);
	assert_true(msg.tid == want.tid);
	assert_true(msg.ca_guid == want.ca_guid);
	assert_fields(msg, (local_id, want.local_id), (remote_id, 0), (param.qpn, want.param.qpn),
			(param.psn, want.param.psn), (param.responder_resources, 16),
			(param.initiator_depth, 16), (param.retry, 7), (param.rnr_retry, 7),
			(param.ack_timeout, 19), (param.mtu_code, 3), (param.srq, false),
			(param.private_len, ROCE_CM_PRIVATE_MAX_REQ));
	assert_string_equal(msg.param.private_data, "hello");
	assert_true(msg.req.service_id == want.req.service_id);
	assert_true(roce_ip_equal(&msg.req.local_gid, &want.req.local_gid));
	assert_true(roce_ip_equal(&msg.req.remote_gid, &want.req.remote_gid));
	assert_fields(msg.req, (flow_label, want.req.flow_label), (pkey, 0xffff),
			(src_port, want.req.src_port), (local_timeout, 20), (remote_timeout, 20),
			(max_retries, 15), (transport, 0), (hop_limit, 64), (ip_cm_ok, true));
}

UNIT_RULE_IN(decode__reads_what_linux_answers, NULL, NULL)
{
	struct roce_cm_mad mad = GOLDEN(linux_rep);
	struct roce_cm_msg msg = decoded(&mad);

	assert_int_equal(msg.attr, ROCE_CM_ATTR_REP);
	assert_true(msg.ca_guid == SERVER_GUID);
	assert_fields(msg, (local_id, 0x7136afc1), (remote_id, 0x0593d566), (param.qpn, 0x12),
			(param.psn, 0x3df143), (param.responder_resources, 16),
			(param.initiator_depth, 16), (param.rnr_retry, 7), (param.srq, false),
			(param.private_len, ROCE_CM_PRIVATE_MAX_REP));
	/* The probe puts 24 bytes of its own before the text. */
	assert_string_equal((const char *)msg.param.private_data + 24, "world");
}

UNIT_RULE_IN(decode__reads_how_linux_refuses, NULL, NULL)
{
	struct roce_cm_mad mad = GOLDEN(linux_rej_consumer);
	struct roce_cm_msg msg = decoded(&mad);

	assert_fields(msg, (reason, ROCE_CM_REJ_CONSUMER), (about, ROCE_CM_ABOUT_REQ), (ari_len, 0),
			(local_id, 0x7336afc1), (remote_id, 0x0493d566),
			(param.private_len, ROCE_CM_PRIVATE_MAX_REJ));
	assert_string_equal(msg.param.private_data, "no-thanks");

	mad = GOLDEN(linux_rej_nobody);
	msg = decoded(&mad);
	assert_fields(msg, (reason, ROCE_CM_REJ_INVALID_SERVICE_ID), (local_id, 0),
			(remote_id, 0x0793d566));
}

UNIT_RULE_IN(decode__reads_how_linux_ends, NULL, NULL)
{
	struct roce_cm_mad mad = GOLDEN(linux_dreq);
	struct roce_cm_msg msg = decoded(&mad);

	assert_fields(msg, (attr, ROCE_CM_ATTR_DREQ), (local_id, 0x0593d566),
			(remote_id, 0x7136afc1), (qpn, 0x12));
}

UNIT_RULE_IN(decode__refuses_what_is_no_cm_message, NULL, NULL)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} wrong[] = {
		{ offsetof(struct roce_mad_hdr, base_version), 2 },
		{ offsetof(struct roce_mad_hdr, mgmt_class), 3 },
		{ offsetof(struct roce_mad_hdr, class_version), 1 },
		{ offsetof(struct roce_mad_hdr, method), 0x81 },
		{ offsetof(struct roce_mad_hdr, attr), 1 },
		{ offsetof(struct roce_mad_hdr, attr) + 1, 0x0f },
		{ offsetof(struct roce_mad_hdr, attr) + 1, 0x17 }, /* SIDR */
	};
	struct roce_cm_msg msg;

	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		struct roce_cm_mad mad = GOLDEN(linux_rtu);

		assert_true(roce_cm_msg_decode(&mad, &msg));
		((uint8_t *)&mad)[wrong[i].at] = wrong[i].byte;
		assert_false(roce_cm_msg_decode(&mad, &msg));
	}
}

/* Annex A11: the version decides; what we cannot read is said, not guessed. */
UNIT_RULE_IN(decode__judges_the_ip_cm_header, NULL, NULL)
{
	static const struct {
		uint8_t version, ip_version;
		bool ok;
	} rule[] = {
		{ 0x00, 0x40, true },
		{ 0x00, 0x60, true },
		{ 0x01, 0x40, true },
		{ 0x10, 0x40, false },
		{ 0x00, 0x50, false },
		{ 0x00, 0x00, false },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_cm_mad mad = GOLDEN(linux_req);

		mad.req.private_data[0] = rule[i].version;
		mad.req.private_data[1] = rule[i].ip_version;
		assert_int_equal(decoded(&mad).req.ip_cm_ok, rule[i].ok);
	}
}

/* A length that only a hostile peer sends stays inside the message. */
UNIT_RULE_IN(decode__bounds_the_reject_information, NULL, NULL)
{
	struct roce_cm_mad mad = GOLDEN(linux_rej_nobody);

	mad.rej.ari_len = 0xff;
	assert_int_equal(decoded(&mad).ari_len, ROCE_CM_REJ_ARI);
}

UNIT_RULE_IN(encode__asks_as_linux_does, NULL, NULL)
{
	struct roce_cm_mad want = GOLDEN(linux_req);
	struct roce_cm_msg msg = linux_request();
	struct roce_cm_mad mad;

	memset(&mad, 0xee, sizeof(mad));
	roce_cm_msg_encode(&msg, &mad);
	assert_memory_equal(&mad, &want, sizeof(mad));
}

UNIT_RULE_IN(encode__answers_as_linux_does, NULL, NULL)
{
	struct roce_cm_mad want = GOLDEN(linux_rep);
	struct roce_cm_mad mad;
	struct roce_cm_msg msg = {
		.tid = UINT64_C(0x0000000266d59305),
		.ca_guid = SERVER_GUID,
		.local_id = 0x7136afc1,
		.remote_id = 0x0593d566,
		.attr = ROCE_CM_ATTR_REP,
		.param = {
			.qpn = 0x12,
			.psn = 0x3df143,
			.responder_resources = 16,
			.initiator_depth = 16,
			.rnr_retry = 7,
			.private_data = want.rep.private_data,
			.private_len = ROCE_CM_PRIVATE_MAX_REP,
		},
	};

	roce_cm_msg_encode(&msg, &mad);
	assert_memory_equal(&mad, &want, sizeof(mad));
}

UNIT_RULE_IN(encode__writes_back_every_golden_message, NULL, NULL)
{
	struct roce_cm_mad all[] = {
		GOLDEN(linux_req),
		GOLDEN(linux_rep),
		GOLDEN(linux_rtu),
		GOLDEN(linux_dreq),
		GOLDEN(linux_drep),
		GOLDEN(linux_rej_consumer),
		GOLDEN(linux_rej_nobody),
		GOLDEN(linux_req_v6),
	};

	/* The one thing we say otherwise: rping asks for no end-to-end flow control although it has no shared queue. */
	all[RTE_DIM(all) - 1].req.eecn_timeout |= RTE_BE32(ROCE_CM_REQ_E2E);
	for (size_t i = 0; i < RTE_DIM(all); i++)
		assert_survives(&all[i]);
}

UNIT_RULE_IN(encode__keeps_what_linux_never_sent, NULL, NULL)
{
	static const uint8_t code = 3;
	struct roce_cm_msg mra = {
		.tid = 1,
		.local_id = 2,
		.remote_id = 3,
		.attr = ROCE_CM_ATTR_MRA,
		.about = ROCE_CM_ABOUT_REP,
		.service_timeout = 31,
	};
	struct roce_cm_msg rej = {
		.attr = ROCE_CM_ATTR_REJ,
		.about = ROCE_CM_ABOUT_OTHER,
		.reason = ROCE_CM_REJ_INVALID_MTU,
		.ari = &code,
		.ari_len = 1,
	};
	struct roce_cm_msg req = linux_request();
	struct roce_cm_mad mad;
	struct roce_cm_msg msg;

	/* A service level lies in the upper half of its octet (IBTA 12.6.5), a traffic class fills its own. */
	req.req.traffic_class = 0x68;
	req.req.sl = 13;
	roce_cm_msg_encode(&req, &mad);
	assert_fields(mad.req.primary, (traffic_class, 0x68), (sl, 0xd0));
	msg = decoded(&mad);
	assert_fields(msg.req, (traffic_class, 0x68), (sl, 13));
	req = linux_request();

	roce_cm_msg_encode(&mra, &mad);
	/* IBTA 12.6.6: two bits and five bits, each at the top of its byte. */
	assert_fields(mad.mra, (about, 0x40), (timeout, 0xf8));
	assert_fields(decoded(&mad), (about, ROCE_CM_ABOUT_REP), (service_timeout, 31));

	roce_cm_msg_encode(&rej, &mad);
	assert_fields(mad.rej, (about, 0x80), (ari_len, 0x02));
	assert_fields(decoded(&mad), (about, ROCE_CM_ABOUT_OTHER), (ari_len, 1), (ari[0], code));

	/* With a shared receive queue there are no credits to give. */
	req.param.srq = true;
	roce_cm_msg_encode(&req, &mad);
	assert_true(decoded(&mad).param.srq);
	assert_int_equal(rte_be_to_cpu_32(mad.req.eecn_timeout) & ROCE_CM_REQ_E2E, 0);
}

/* Where two messages differ: the first and the last byte. */
static void
assert_differ_in(const struct roce_cm_mad *a, const struct roce_cm_mad *b, const size_t *at,
		size_t n)
{
	for (size_t i = 0, found = 0; i < sizeof(*a); i++) {
		bool differs = ((const uint8_t *)a)[i] != ((const uint8_t *)b)[i];

		assert_true(differs == (found < n && at[found] == i));
		found += differs;
	}
}

/*
 * Selective acknowledgements are offered where Linux has zeros (IBTA Vol 1, 12.6.5 and 12.6.8) and reads nothing: a peer that
 * does not know of them reads the same message, with the same private data.
 */
UNIT_RULE_IN(encode__offers_selective_acknowledgements_in_unused_fields, NULL, NULL)
{
	/* Behind the header of 24 bytes: four behind the GUID; the EECN. */
	static const size_t in_req[] = { 48, 49, 50, 51 };
	static const size_t in_rep[] = { 40, 41, 42 };
	struct roce_cm_msg msg = linux_request();
	struct roce_cm_mad without, with;

	roce_cm_msg_encode(&msg, &without);
	assert_false(decoded(&without).param.extensions);
	msg.param.extensions = true;
	roce_cm_msg_encode(&msg, &with);
	assert_true(decoded(&with).param.extensions);
	assert_differ_in(&without, &with, in_req, RTE_DIM(in_req));
	with.req.reserved2 ^= RTE_BE32(1);
	assert_false(decoded(&with).param.extensions);

	msg.attr = ROCE_CM_ATTR_REP;
	msg.param.extensions = false;
	roce_cm_msg_encode(&msg, &without);
	assert_false(decoded(&without).param.extensions);
	msg.param.extensions = true;
	roce_cm_msg_encode(&msg, &with);
	assert_true(decoded(&with).param.extensions);
	assert_int_equal(decoded(&with).param.qpn, msg.param.qpn);
	assert_int_equal(decoded(&with).param.psn, msg.param.psn);
	assert_differ_in(&without, &with, in_rep, RTE_DIM(in_rep));
	with.rep.eecn ^= RTE_BE32(0x100);
	assert_false(decoded(&with).param.extensions);
}

/* Flow labels and source ports of the same connections, as both were seen on a wire. */
UNIT_RULE_IN(sport__folds_as_linux_does, NULL, NULL)
{
	static const struct {
		uint32_t label;
		uint16_t port;
	} seen[] = { { 0x4aab5, 60071 }, { 0xa71bf, 61846 }, { 0x7767e, 63075 },
		{ 0xa3103, 61739 } };

	for (size_t i = 0; i < RTE_DIM(seen); i++)
		assert_int_equal(roce_cm_msg_sport(seen[i].label), seen[i].port);
	for (uint32_t label = 0; label <= ROCE_CM_FLOW_MASK; label += 97)
		assert_true(roce_cm_msg_sport(label) >= 49152);
}
