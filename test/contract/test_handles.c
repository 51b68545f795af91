/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a handle that was good stays bad. */

#include "rig.h"

#define OTHERS 1024 /**< objects that are freed before the memory of one is used again */

/* A freed handle stays bad while others come and go. */
static void
handles__of_the_dead_are_not_soon_given_away(void **state)
{
	DAT_PZ_HANDLE dead, other;
	DAT_PZ_PARAM param;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_pz_create(end.ia, &dead));
	ok(dat_pz_free(dead));
	for (unsigned int i = 0; i < OTHERS; i++) {
		ok(dat_pz_create(end.ia, &other));
		assert_ptr_not_equal(other, dead);
		want_error(dat_pz_query(dead, DAT_PZ_FIELD_ALL, &param), DAT_INVALID_HANDLE,
				DAT_INVALID_HANDLE_PZ);
		want_error(dat_pz_free(dead), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
		ok(dat_pz_free(other));
	}
	end_close(&end);
}

/* What a close destroys are others, too: the first to go, and all behind it, stay bad when there are no more of them. */
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
		want_error(dat_pz_query(zone[i], DAT_PZ_FIELD_ALL, &pz), DAT_INVALID_HANDLE,
				DAT_INVALID_HANDLE_PZ);
	want_error(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(handles__of_the_dead_are_not_soon_given_away),
		rig_test(handles__of_a_closed_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
