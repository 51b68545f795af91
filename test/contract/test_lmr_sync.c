/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write: nobody needs them here, but they judge what they are given. */

#include "contract.h"

typedef DAT_RETURN (*sync_fn)(DAT_IA_HANDLE, const DAT_LMR_TRIPLET *, DAT_VLEN);

static const sync_fn calls[] = { dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write };

static void
sync__is_not_required(void **state)
{
	DAT_PROVIDER_ATTR provider;
	struct end end;

	end_open(&end, "loop0", NULL);
	memset((void *)&provider, POISON, sizeof(provider));
	ok(dat_ia_query(end.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &provider));
	assert_int_equal(provider.lmr_sync_req, DAT_FALSE);
	end_close(&end);
}

/* Segments may be of several regions and zones; the memory is left as it is. */
static void
sync__takes_any_segments(void **state)
{
	DAT_LMR_TRIPLET segments[3];
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_pz_create(end.ia, &pz));
	fill_bytes(end.buffer, BUFFER_LEN, 1);
	segments[0] = segment(&end, 0, BUFFER_LEN);
	segments[1] = segment(&end, 100, 0);
	segments[2] = segment(&end, 7, 64);
	segments[2].lmr_context = register_as(&end, pz, DAT_MEM_PRIV_NONE_FLAG, &lmr);
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t *copy = malloc(BUFFER_LEN);

		assert_non_null(copy);
		memcpy(copy, end.buffer, BUFFER_LEN);
		ok(calls[i](end.ia, segments, 3));
		ok(calls[i](end.ia, segments, 0));
		ok(calls[i](end.ia, NULL, 0));
		assert_memory_equal(copy, end.buffer, BUFFER_LEN);
		free(copy);
	}
	end_close(&end);
}

/* Whichever of the segments is wrong, and however. */
static void
sync__refuses_what_is_no_memory(void **state)
{
	DAT_LMR_CONTEXT dead;
	DAT_LMR_HANDLE lmr;
	struct end end;

	end_open(&end, "loop0", NULL);
	dead = register_as(&end, end.pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	ok(dat_lmr_free(lmr));
	for (unsigned int i = 0; i < 2; i++) {
		want_error(calls[i](DAT_HANDLE_NULL, NULL, 1), DAT_INVALID_HANDLE,
				DAT_INVALID_HANDLE_IA);
		want_error(calls[i](end.pz, NULL, 1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
		want_error(calls[i](end.ia, NULL, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
		for (unsigned int at = 0; at < 4; at++) {
			DAT_LMR_TRIPLET s[4];
			const DAT_LMR_TRIPLET good = segment(&end, 0, 64);
			DAT_LMR_TRIPLET bad[] = { good, good, good, good };

			bad[0].lmr_context = dead;
			bad[1].virtual_address -= 1;
			bad[2].segment_length = BUFFER_LEN + 1;
			bad[3].segment_length = SEGMENT_MAX;
			for (unsigned int b = 0; b < 4; b++) {
				for (unsigned int k = 0; k < 4; k++)
					s[k] = k == at ? bad[b] : good;
				want_error(calls[i](end.ia, s, 4), DAT_INVALID_PARAMETER,
						DAT_INVALID_ARG2);
			}
		}
	}
	end_close(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(sync__is_not_required),
		dat_test(sync__takes_any_segments),
		dat_test(sync__refuses_what_is_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
