/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles: what is one, and what is one no longer. */

#include <stdlib.h>

#include "dapl/ia.h"
#include "dapl/obj.h"
#include "rules.h"

static const int provider; /* stands for the table of calls */

/* An adapter of libdat2, where an object is wanted. */
static void *volatile eighth = (void *)(uintptr_t)8;

static void
make_ia(struct dapl_ia *ia)
{
	*ia = (struct dapl_ia){ .head = { .provider = &provider, .tag = DAPL_MAGIC | DAPL_IA } };
	ia->head.ia = ia;
	TAILQ_INIT(&ia->objects);
}

UNIT_RULE_IN(dapl_obj_alloc__stamps_the_head, NULL, NULL)
{
	struct dapl_obj *obj;
	struct dapl_ia ia;

	make_ia(&ia);
	obj = dapl_obj_alloc(100, &ia);
	assert_non_null(obj);
	/* The first word of a handle is the provider (DAT_HANDLE_TO_PROVIDER). */
	assert_ptr_equal(*(const void **)obj, &provider);
	assert_ptr_equal(obj->ia, &ia);
	assert_int_equal((uintptr_t)obj % 64, 0);
	/* Not a handle before it is published. */
	assert_int_equal(dapl_obj_type(obj), 0);
	dapl_obj_free(obj);
}

UNIT_RULE_IN(dapl_obj_check__wants_a_live_object_of_the_kind, NULL, NULL)
{
	struct dapl_ia ia, other;
	struct dapl_obj *obj;

	make_ia(&ia);
	make_ia(&other);
	obj = dapl_obj_alloc(sizeof(*obj), &ia);
	dapl_obj_publish_locked(obj, DAPL_PZ);
	assert_ptr_equal(dapl_obj_check(obj, DAPL_PZ), obj);
	assert_null(dapl_obj_check(obj, DAPL_EP));
	assert_null(dapl_obj_check(NULL, DAPL_PZ));
	assert_null(dapl_obj_check((char *)obj + 1, DAPL_PZ));
	assert_null(dapl_obj_check(eighth, DAPL_PZ));
	assert_ptr_equal(dapl_obj_of(&ia, obj, DAPL_PZ), obj);
	assert_null(dapl_obj_of(&other, obj, DAPL_PZ));
	dapl_obj_retire_locked(obj);
	assert_null(dapl_obj_check(obj, DAPL_PZ));
	dapl_obj_free(obj);
}

UNIT_RULE_IN(dapl_obj_type__of_every_kind, NULL, NULL)
{
	struct dapl_ia ia;

	make_ia(&ia);
	assert_int_equal(dapl_obj_type(&ia), DAPL_IA);
	for (unsigned int type = DAPL_PZ; type < DAPL_TYPES; type++) {
		struct dapl_obj *obj = dapl_obj_alloc(sizeof(*obj), &ia);

		dapl_obj_publish_locked(obj, (enum dapl_type)type);
		assert_int_equal(dapl_obj_type(obj), type);
		dapl_obj_retire_locked(obj);
		assert_int_equal(dapl_obj_type(obj), 0);
		dapl_obj_free(obj);
	}
	assert_int_equal(dapl_obj_type(NULL), 0);
	assert_int_equal(dapl_obj_type(eighth), 0);
	assert_true(TAILQ_EMPTY(&ia.objects));
}

/* DAT asks providers to delay the reuse of handle values; libdat still reads the first word of a stale one. */
UNIT_RULE_IN(dapl_obj_free__keeps_the_memory_for_a_while, NULL, NULL)
{
	struct dapl_obj *first, *obj;
	struct dapl_ia ia;

	make_ia(&ia);
	first = dapl_obj_alloc(sizeof(*first), &ia);
	dapl_obj_free(first);
	for (int i = 0; i < 500; i++) {
		obj = dapl_obj_alloc(sizeof(*obj), &ia);
		assert_ptr_not_equal(obj, first);
		dapl_obj_free(obj);
	}
	assert_ptr_equal(first->provider, &provider);
	assert_null(dapl_obj_check(first, DAPL_PZ));
}

UNIT_RULE_IN(dapl_obj_use__counts, NULL, NULL)
{
	struct dapl_ia ia;

	make_ia(&ia);
	assert_false(dapl_obj_in_use(&ia));
	dapl_obj_use(&ia);
	dapl_obj_use(&ia);
	dapl_obj_drop(&ia);
	assert_true(dapl_obj_in_use(&ia));
	dapl_obj_drop(&ia);
	assert_false(dapl_obj_in_use(&ia));
	dapl_obj_use(NULL);
	dapl_obj_drop(NULL);
}
