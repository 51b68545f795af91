/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a handle that was good stays bad. */

#include "rig.h"

#define OTHERS 1024 /**< objects that are freed before the memory of one is used again */

/* A freed handle stays bad while others come and go. */
static void
handles__of_the_dead_are_not_soon_given_away(void **state)
{
	DAT_PZ_HANDLE other;
	DAT_PZ_PARAM param;
	DAT_PZ_HANDLE dead = make_pz(a);

	ok(dat_pz_free(dead));
	for (unsigned int i = 0; i < OTHERS; i++) {
		other = make_pz(a);
		assert_ptr_not_equal(other, dead);
		want_bad_handle(dat_pz_query(dead, DAT_PZ_FIELD_ALL, &param), PZ);
		want_bad_handle(dat_pz_free(dead), PZ);
		ok(dat_pz_free(other));
	}
}

/* Objects that a close destroys are others, too: if they are OTHERS at most, the handles of all of them stay bad. */
static void
handles__of_a_closed_instance(void **state)
{
	static char loop0[] = "loop0";
	DAT_EVD_HANDLE first = DAT_HANDLE_NULL;
	DAT_PZ_HANDLE zone[OTHERS - 2];
	DAT_EVD_PARAM evd;
	DAT_PZ_PARAM pz;
	DAT_IA_HANDLE ia;

	ok(dat_ia_open(loop0, 8, &first, &ia));
	for (unsigned int i = 0; i < OTHERS - 2; i++)
		ok(dat_pz_create(ia, &zone[i]));
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
	want_error(dat_evd_query(first, DAT_EVD_FIELD_ALL, &evd), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE1);
	for (unsigned int i = 0; i < OTHERS - 2; i++)
		want_bad_handle(dat_pz_query(zone[i], DAT_PZ_FIELD_ALL, &pz), PZ);
	want_bad_handle(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), IA);
}

const struct CMUnitTest tests[] = {
	end_test(handles__of_the_dead_are_not_soon_given_away),
	rig_test(handles__of_a_closed_instance),
	tests_end,
};
