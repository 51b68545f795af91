/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture file, frame by frame: dissected by the code under test, sides found, nothing interpreted. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture_file.h"
#include "replay.h"
#include "unit.h"
#include "wire/icrc.h"

#define FIRST_AT (5 * RP_HZ)

struct reader {
	struct rp_capture *capture;
	uint32_t number;
	uint64_t base;
	bool begun;
};

static uint64_t
ticks_of(const struct pcap_pkthdr *head)
{
	return (uint64_t)head->ts.tv_sec * RP_HZ + (uint64_t)head->ts.tv_usec * 1000;
}

static struct rp_frame *
append(struct rp_capture *capture)
{
	capture->frame = realloc(capture->frame, (capture->frames + 1) * sizeof(*capture->frame));
	assert_non_null(capture->frame);
	capture->frame[capture->frames] = (struct rp_frame){ .flow = -1, .conn = -1 };
	return &capture->frame[capture->frames++];
}

/* The sender of the first frame is the client. @return negative: a frame of others. */
static int
side_of(struct rp_capture *capture, const struct roce_pkt *pkt)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt->m, const struct rte_ether_hdr *);
	struct roce_ip src, dst;

	roce_pkt_addresses(pkt, &src, &dst);
	if (capture->frames == 1) {
		capture->ip[RP_CLIENT] = src;
		capture->ip[RP_SERVER] = dst;
		capture->mac[RP_CLIENT] = eth->src_addr;
		capture->mac[RP_SERVER] = eth->dst_addr;
	}
	for (int side = 0; side < RP_SIDES; side++) {
		if (roce_ip_equal(&src, &capture->ip[side]) &&
				roce_ip_equal(&dst, &capture->ip[!side]))
			return side;
	}
	return -1;
}

/* It is none of the conversation's. */
static void
leave_out(struct rp_capture *capture)
{
	unit_mbuf_exact_free(capture->frame[--capture->frames].m);
	capture->foreign++;
}

/* A management datagram must be one that we know, too. */
static void
read_mad(const struct rp_capture *capture, struct rp_frame *frame)
{
	const void *mad = rp_payload(&frame->pkt);

	if (frame->pkt.payload_len != ROCE_MAD_LEN || !roce_cm_msg_decode(mad, &frame->msg))
		fail_msg("%s: frame %u: no management datagram of ours", capture->name,
				frame->number);
}

static void
read_roce(struct reader *reader, const struct pcap_pkthdr *head, const uint8_t *bytes)
{
	struct rp_capture *capture = reader->capture;
	struct rp_frame *frame = append(capture);
	enum roce_frame_verdict verdict;
	int side;

	frame->number = reader->number;
	frame->at = FIRST_AT + ticks_of(head) - reader->base;
	frame->m = unit_mbuf_exact(bytes, head->caplen);
	verdict = roce_frame_parse(frame->m, &frame->pkt);
	if (verdict != ROCE_FRAME_OK)
		fail_msg("%s: frame %u: verdict %d", capture->name, frame->number, (int)verdict);
	side = side_of(capture, &frame->pkt);
	if (side < 0 || (frame->pkt.op->flags & ROCE_OP_CNP)) {
		leave_out(capture);
		return;
	}
	frame->icrc_ok = roce_icrc_ok(&frame->pkt);
	capture->bad_icrc += !frame->icrc_ok;
	frame->from = (uint8_t)side;
	if (frame->pkt.dest_qp == ROCE_QPN_GSI)
		read_mad(capture, frame);
	else if (!(frame->pkt.op->flags & (ROCE_OP_REQUEST | ROCE_OP_RESPONSE)))
		fail_msg("%s: frame %u: neither request nor answer", capture->name, frame->number);
}

static void
read_foreign(struct reader *reader, const struct pcap_pkthdr *head, const uint8_t *bytes)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, head->caplen);
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_FOREIGN);
	reader->capture->foreign++;
	unit_mbuf_exact_free(m);
}

/* libpcap's own filter decides which frames are RoCEv2, not the parser under test. */
static void
read_all(struct reader *reader, pcap_t *file)
{
	struct bpf_program filter;
	struct pcap_pkthdr *head;
	const uint8_t *bytes;

	if (pcap_compile(file, &filter, "udp dst port 4791", 1, PCAP_NETMASK_UNKNOWN) != 0)
		fail_msg("%s", pcap_geterr(file));
	while (pcap_next_ex(file, &head, &bytes) == 1) {
		reader->number++;
		if (!reader->begun)
			reader->base = ticks_of(head);
		reader->begun = true;
		if (pcap_offline_filter(&filter, head, bytes) != 0)
			read_roce(reader, head, bytes);
		else
			read_foreign(reader, head, bytes);
	}
	pcap_freecode(&filter);
}

void
rp_capture_open(struct rp_capture *capture, const char *path, const char *name)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *file = capture_file_open(path, error);
	struct reader reader = { .capture = capture };

	if (file == NULL)
		fail_msg("%s", error);
	*capture = (struct rp_capture){ .frames = 0 };
	(void)snprintf(capture->name, sizeof(capture->name), "%s", name);
	read_all(&reader, file);
	pcap_close(file);
	rp_flows_find(capture);
	rp_messages_find(capture);
}

void
rp_capture_close(struct rp_capture *capture)
{
	for (uint32_t i = 0; i < capture->frames; i++)
		unit_mbuf_exact_free(capture->frame[i].m);
	for (int i = 0; i < capture->flows; i++) {
		for (unsigned int side = 0; side < RP_SIDES; side++) {
			struct rp_message *message = capture->flow[i].message[side];

			for (uint32_t k = 0; k < capture->flow[i].messages[side]; k++)
				free(message[k].data);
			free(message);
		}
	}
	free(capture->frame);
}

const struct rp_frame *
rp_frame_find(const struct rp_capture *capture, int flow, uint8_t from, bool request, uint32_t psn)
{
	for (uint32_t i = 0; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];

		if (frame->flow == flow && frame->from == from && rp_is_request(frame) == request &&
				frame->icrc_ok && frame->pkt.psn == psn)
			return frame;
	}
	return NULL;
}
