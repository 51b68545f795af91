/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write: nobody needs them here, but they judge what they are given. */

#include "rig.h"

typedef DAT_RETURN (*sync_fn)(DAT_IA_HANDLE, const DAT_LMR_TRIPLET *, DAT_VLEN);

static const sync_fn calls[] = { dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write };

static void
sync__is_not_required(void **state)
{
	assert_int_equal(provider_attr(a, DAT_PROVIDER_FIELD_ALL).lmr_sync_req, DAT_FALSE);
}

/* Segments may be of several regions and zones; the memory is left as it is. */
static void
sync__takes_any_segments(void **state)
{
	DAT_LMR_TRIPLET segments[3];
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz = make_pz(a);

	fill_bytes(a->buffer, BUFFER_LEN, 1);
	segments[0] = segment(a, 0, BUFFER_LEN);
	segments[1] = segment(a, 100, 0);
	segments[2] = segment(a, 7, 64);
	segments[2].lmr_context = register_as(a, pz, DAT_MEM_PRIV_NONE_FLAG, &lmr);
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t *copy = malloc(BUFFER_LEN);

		assert_non_null(copy);
		memcpy(copy, a->buffer, BUFFER_LEN);
		ok(calls[i](a->ia, segments, 3));
		ok(calls[i](a->ia, segments, 0));
		ok(calls[i](a->ia, NULL, 0));
		assert_memory_equal(copy, a->buffer, BUFFER_LEN);
		free(copy);
	}
}

/* Whichever of the segments is wrong, and however. */
static void
sync__refuses_what_is_no_memory(void **state)
{
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT dead = register_as(a, a->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr);

	ok(dat_lmr_free(lmr));
	for (unsigned int i = 0; i < 2; i++) {
		want_bad_handle(calls[i](DAT_HANDLE_NULL, NULL, 1), IA);
		want_bad_handle(calls[i](a->pz, NULL, 1), IA);
		want_bad_arg(calls[i](a->ia, NULL, 1), 2);
		for (unsigned int at = 0; at < 4; at++) {
			DAT_LMR_TRIPLET s[4];
			const DAT_LMR_TRIPLET good = segment(a, 0, 64);
			DAT_LMR_TRIPLET bad[] = { good, good, good, good };

			bad[0].lmr_context = dead;
			bad[1].virtual_address -= 1;
			bad[2].segment_length = BUFFER_LEN + 1;
			bad[3].segment_length = SEGMENT_MAX;
			for (unsigned int w = 0; w < 4; w++) {
				for (unsigned int k = 0; k < 4; k++)
					s[k] = k == at ? bad[w] : good;
				want_bad_arg(calls[i](a->ia, s, 4), 2);
			}
		}
	}
}

const struct CMUnitTest tests[] = {
	end_test(sync__is_not_required),
	end_test(sync__takes_any_segments),
	end_test(sync__refuses_what_is_no_memory),
	tests_end,
};
