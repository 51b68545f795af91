/* SPDX-License-Identifier: BSD-3-Clause */
/* libpcap reads no compressed files: those are unpacked into a temporary file without a name. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <lzma.h>

#include "capture_file.h"

#define CHUNK 65536u

static const char xz[] = ".xz";
static const char *const suffixes[] = { ".pcap", ".pcapng", ".cap" };

/* Length of @p name, of which @p len bytes count, without the suffix; 0: it has another one. */
static size_t
without(const char *name, size_t len, const char *suffix)
{
	size_t tail = strlen(suffix);

	if (len <= tail || memcmp(name + len - tail, suffix, tail) != 0)
		return 0;
	return len - tail;
}

size_t
capture_file_stem(const char *name)
{
	size_t len = without(name, strlen(name), xz);
	size_t stem;

	if (len == 0)
		len = strlen(name);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		stem = without(name, len, suffixes[i]);
		if (stem != 0)
			return stem;
	}
	return 0;
}

/* @return false: @p from is no complete xz file, or @p to is full. */
static bool
unpack(FILE *from, FILE *to)
{
	static uint8_t in[CHUNK], out[CHUNK];
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret rc = lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED);
	bool good = true;

	while (rc == LZMA_OK && good) {
		if (stream.avail_in == 0) {
			stream.next_in = in;
			stream.avail_in = fread(in, 1, CHUNK, from);
		}
		stream.next_out = out;
		stream.avail_out = CHUNK;
		rc = lzma_code(&stream, stream.avail_in == 0 ? LZMA_FINISH : LZMA_RUN);
		good = fwrite(out, 1, CHUNK - stream.avail_out, to) == CHUNK - stream.avail_out;
	}
	lzma_end(&stream);
	return good && rc == LZMA_STREAM_END && fflush(to) == 0;
}

static FILE *
open_xz(const char *path, char *error)
{
	FILE *packed = fopen(path, "rb");
	FILE *plain = tmpfile();

	if (packed != NULL && plain != NULL && unpack(packed, plain)) {
		(void)fclose(packed);
		rewind(plain);
		return plain;
	}
	(void)snprintf(error, PCAP_ERRBUF_SIZE, "%s: %s", path,
			packed == NULL || plain == NULL ? strerror(errno)
							: "not a complete xz file");
	if (packed != NULL)
		(void)fclose(packed);
	if (plain != NULL)
		(void)fclose(plain);
	return NULL;
}

pcap_t *
capture_file_open(const char *path, char *error)
{
	FILE *plain;
	pcap_t *capture;

	if (without(path, strlen(path), xz) == 0)
		return pcap_open_offline(path, error);
	plain = open_xz(path, error);
	if (plain == NULL)
		return NULL;
	capture = pcap_fopen_offline(plain, error);
	if (capture == NULL)
		(void)fclose(plain);
	return capture;
}
