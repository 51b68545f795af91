/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CAPTURE_FILE_H
#define ROCE_TEST_CAPTURE_FILE_H

/**
 * @file
 * Capture files: what libpcap reads (.pcap, .pcapng, .cap), as it is or compressed by xz (.pcap.xz ...).
 */

#include <stdbool.h>
#include <stddef.h>

#include <pcap/pcap.h>

/** Length of a file's name without the suffixes of a capture; 0: not the name of one. */
size_t capture_file_stem(const char *name);

/**
 * Open a capture file; pcap_close() closes it.
 *
 * @param error  PCAP_ERRBUF_SIZE bytes for the reason.
 * @return NULL: it could not be read, see @p error.
 */
pcap_t *capture_file_open(const char *path, char *error);

#endif
