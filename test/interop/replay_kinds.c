/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of frames, by their names in the README beside the captures. For each file it says how many frames of each
 * kind were counted by other means. Our count must be the same.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

#define KINDS_MAX 32u
#define TEXT_MAX  4096

static const char *const rc_name[] = {
	[IBV_OPCODE_RC_SEND_FIRST] = "SEND_FIRST",
	[IBV_OPCODE_RC_SEND_MIDDLE] = "SEND_MIDDLE",
	[IBV_OPCODE_RC_SEND_LAST] = "SEND_LAST",
	[IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] = "SEND_LAST_IMM",
	[IBV_OPCODE_RC_SEND_ONLY] = "SEND_ONLY",
	[IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] = "SEND_ONLY_IMM",
	[IBV_OPCODE_RC_RDMA_WRITE_FIRST] = "WRITE_FIRST",
	[IBV_OPCODE_RC_RDMA_WRITE_MIDDLE] = "WRITE_MIDDLE",
	[IBV_OPCODE_RC_RDMA_WRITE_LAST] = "WRITE_LAST",
	[IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] = "WRITE_LAST_IMM",
	[IBV_OPCODE_RC_RDMA_WRITE_ONLY] = "WRITE_ONLY",
	[IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = "WRITE_ONLY_IMM",
	[IBV_OPCODE_RC_RDMA_READ_REQUEST] = "READ_REQUEST",
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] = "READ_RESP_FIRST",
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = "READ_RESP_MIDDLE",
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST] = "READ_RESP_LAST",
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] = "READ_RESP_ONLY",
	[IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE] = "ATOMIC_ACK",
	[IBV_OPCODE_RC_COMPARE_SWAP] = "CMP_SWAP",
	[IBV_OPCODE_RC_FETCH_ADD] = "FETCH_ADD",
	[ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] = "SEND_ONLY_INV",
};

static const char *const cm_name[] = { "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP" };

static const char *
kind_of(const struct rp_frame *frame)
{
	uint8_t opcode = frame->pkt.opcode;

	if (frame->pkt.dest_qp == ROCE_QPN_GSI)
		return cm_name[frame->msg.attr - ROCE_CM_ATTR_REQ];
	if (opcode == IBV_OPCODE_RC_ACKNOWLEDGE) {
		if (rp_says(frame, ROCE_AETH_RNR))
			return "RNR";
		return rp_says(frame, ROCE_AETH_ACK) ? "ACK" : "NAK";
	}
	assert_true(opcode < RTE_DIM(rc_name) && rc_name[opcode] != NULL);
	return rc_name[opcode];
}

/* Kinds in the order of their first frame, as in "REQ:1 REP:1". */
static void
count(const struct rp_capture *capture, char *to, size_t size)
{
	const char *kind[KINDS_MAX];
	uint32_t times[KINDS_MAX];
	uint32_t kinds = 0;
	int len;

	for (uint32_t i = 0; i < capture->frames; i++) {
		const char *name = kind_of(&capture->frame[i]);
		uint32_t k = 0;

		while (k < kinds && strcmp(kind[k], name) != 0)
			k++;
		if (k == kinds) {
			assert_true(kinds < KINDS_MAX);
			kind[kinds] = name;
			times[kinds++] = 0;
		}
		times[k]++;
	}
	len = snprintf(to, size, "%u RoCEv2 (%u bad ICRC), %u other | ", capture->frames,
			capture->bad_icrc, capture->foreign);
	for (uint32_t k = 0; k < kinds; k++)
		len += snprintf(to + len, size - (size_t)len, "%s:%u ", kind[k], times[k]);
}

/* The line of a file in the section of its folder. @return false: there is none. */
static bool
find_line(FILE *readme, const char *name, char *line, int size)
{
	const char *slash = strchr(name, '/');
	char section[96], head[128];
	bool here = false;

	(void)snprintf(section, sizeof(section), "## %.*s\n", (int)(slash - name), name);
	(void)snprintf(head, sizeof(head), "- `%s.pcap: ", slash + 1);
	while (fgets(line, size, readme) != NULL) {
		if (strncmp(line, "## ", 3) == 0)
			here = strcmp(line, section) == 0;
		if (here && strncmp(line, head, strlen(head)) == 0) {
			memmove(line, line + strlen(head), strlen(line + strlen(head)) + 1);
			return true;
		}
	}
	return false;
}

bool
rp_kinds_check(const struct rp_capture *capture, const char *folder)
{
	char path[TEXT_MAX], line[TEXT_MAX], ours[TEXT_MAX];
	FILE *readme;
	bool found;

	(void)snprintf(path, sizeof(path), "%s/README.md", folder);
	readme = fopen(path, "r");
	if (readme == NULL || strchr(capture->name, '/') == NULL) {
		if (readme != NULL)
			(void)fclose(readme);
		return false;
	}
	found = find_line(readme, capture->name, line, (int)sizeof(line));
	(void)fclose(readme);
	if (!found)
		return false;
	count(capture, ours, sizeof(ours));
	if (strncmp(line, ours, strlen(ours)) != 0)
		fail_msg("%s: we count %s\nrecorded %s", capture->name, ours, line);
	return true;
}
