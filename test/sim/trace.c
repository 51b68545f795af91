/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>

#include "flip.h"
#include "trace.h"
#include "wire/aeth.h"
#include "wire/frame.h"
#include "wire/icrc.h"

static bool on;

void
trace_on(void)
{
	on = true;
}

void
trace_frame(const char *what, uint32_t side, struct rte_mbuf *m, uint64_t now)
{
	struct roce_pkt pkt;

	if (!on)
		return;
	printf("%12" PRIu64 " %u %-8s ", now, side, what);
	if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK || !roce_icrc_ok(&pkt)) {
		printf("damaged\n");
		return;
	}
	printf("to %06x psn %06x %s, %u bytes%s%s", pkt.dest_qp, pkt.psn, flip_name(pkt.opcode),
			pkt.payload_len, pkt.ack_req ? ", asks" : "",
			pkt.ecn == 3 ? ", marked" : "");
	if (pkt.op->flags & ROCE_OP_AETH)
		printf(", syndrome %02x, message %u", roce_aeth_syndrome(roce_pkt_aeth(&pkt)),
				roce_aeth_msn(roce_pkt_aeth(&pkt)));
	printf("\n");
}
