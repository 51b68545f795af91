/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffers.h"

#include <sys/mman.h>

#include "cli/cli.h"

/* No two buffers in one cache line: one may be written while the other is read. */
#define LINE 64u

static int
map(struct buffers *buffers, uint32_t size, uint64_t count)
{
	void *base;

	*buffers = (struct buffers){
		.size = size,
		.stride = size == 0 ? LINE : (size + LINE - 1) / LINE * LINE,
	};
	buffers->bytes = buffers->stride * count;
	/* Pages come with their first use: room to grow costs nothing until it is needed. */
	base = mmap(NULL, buffers->bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		cli_say("no memory for %llu buffers of %u bytes", (unsigned long long)count, size);
		return -1;
	}
	buffers->base = base;
	return 0;
}

int
buffers_open(struct buffers *buffers, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, uint32_t size,
		uint64_t count)
{
	DAT_REGION_DESCRIPTION region;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VADDR address;
	DAT_VLEN length;
	DAT_RETURN ret;

	if (map(buffers, size, count) != 0)
		return -1;
	region.for_va = buffers->base;
	ret = dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, buffers->bytes, pz,
			DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &buffers->lmr,
			&buffers->lmr_context, &rmr_context, &length, &address);
	if (ret == DAT_SUCCESS)
		return 0;
	buffers->lmr = DAT_HANDLE_NULL;
	cli_say_dat(ret, "dat_lmr_create for %llu buffers of %u bytes", (unsigned long long)count,
			size);
	return -1;
}

int
buffers_close(struct buffers *buffers)
{
	DAT_RETURN ret = DAT_SUCCESS;

	if (buffers->lmr != DAT_HANDLE_NULL)
		ret = dat_lmr_free(buffers->lmr);
	if (buffers->base != NULL)
		munmap(buffers->base, buffers->bytes);
	*buffers = (struct buffers){ .base = NULL };
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "dat_lmr_free");
	return -1;
}
