/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Frames that Linux's rxe sent: test/captures.
 *
 * usage: test_captures [FOLDER]; the environment's ROCE_CAPTURES goes first.
 * Which frames are RoCEv2 is asked of libpcap's own filter, not of the parser. All of them must be
 * accepted with a right ICRC, but for the one that the capture "bad-icrc" was made for.
 */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture_file.h"
#include "unit.h"
#include "wire/frame.h"
#include "wire/icrc.h"

static const char *folder;

static struct {
	uint32_t files;
	uint32_t roce;
	uint32_t foreign;
	uint32_t bad_icrc;
} seen;

static void
check_roce(const char *path, const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, len);
	/* The payload in a second segment, as a device with small buffers would deliver it. */
	struct rte_mbuf *cut;
	struct roce_pkt pkt, cut_pkt;
	enum roce_frame_verdict verdict = roce_frame_parse(m, &pkt);
	bool ok;

	if (verdict != ROCE_FRAME_OK)
		fail_msg("%s: RoCEv2 frame %u: verdict %d", path, seen.roce + 1, (int)verdict);
	ok = roce_icrc_ok(&pkt);
	cut = unit_mbuf_exact_chain(bytes, len, pkt.payload_off + pkt.payload_len / 2);
	assert_int_equal(roce_frame_parse(cut, &cut_pkt), ROCE_FRAME_OK);
	assert_int_equal(roce_icrc_ok(&cut_pkt), ok);
	seen.roce++;
	if (!ok) {
		seen.bad_icrc++;
		if (strstr(path, "bad-icrc.b") == NULL)
			fail_msg("%s: RoCEv2 frame %u: bad ICRC", path, seen.roce);
	}
	unit_mbuf_exact_free(cut);
	unit_mbuf_exact_free(m);
}

static void
check_foreign(const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, len);
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_FOREIGN);
	seen.foreign++;
	unit_mbuf_exact_free(m);
}

static void
check_file(const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *frames = capture_file_open(path, error);
	struct bpf_program filter;
	struct pcap_pkthdr *head;
	const uint8_t *bytes;

	if (frames == NULL)
		fail_msg("%s", error);
	if (pcap_compile(frames, &filter, "udp dst port 4791", 1, PCAP_NETMASK_UNKNOWN) != 0)
		fail_msg("%s", pcap_geterr(frames));
	while (pcap_next_ex(frames, &head, &bytes) == 1) {
		if (pcap_offline_filter(&filter, head, bytes) != 0)
			check_roce(path, bytes, head->caplen);
		else
			check_foreign(bytes, head->caplen);
	}
	pcap_freecode(&filter);
	pcap_close(frames);
	seen.files++;
}

static int
visit(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)where;
	if (type == FTW_F && capture_file_stem(path) != 0)
		check_file(path);
	return 0;
}

static void
captures__of_rxe_are_accepted(void **state)
{
	(void)state;
	assert_int_equal(nftw(folder, visit, 8, FTW_PHYS), 0);
	print_message("%u files: %u RoCEv2 frames, %u with a bad ICRC; %u foreign\n", seen.files,
			seen.roce, seen.bad_icrc, seen.foreign);
	assert_in_range(seen.roce, 1, UINT32_MAX);
	assert_in_range(seen.bad_icrc, 0, 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures__of_rxe_are_accepted),
	};

	folder = getenv("ROCE_CAPTURES");
	if (folder == NULL || folder[0] == '\0')
		folder = argc > 1 ? argv[1] : "test/captures";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
