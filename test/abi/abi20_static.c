/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The binary interface of DAT 2.0: that the headers which the provider was compiled with are those that libdat2 and its
 * consumers were, as far as a compiler can judge it. It compiles, and has passed.
 */

#include <assert.h>
#include <stddef.h>

/* Theirs do not include what they use. */
#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

#define SIZE(type, bytes)  static_assert(sizeof(type) == (bytes), #type);
#define ALIGN(type, bytes) static_assert(__alignof__(type) == (bytes), #type);
#include "abi20_sizes.def"

#define FIELD(type, member, offset, bytes)                                    \
	static_assert(offsetof(type, member) == (offset), #type "." #member); \
	static_assert(sizeof(((type *)0)->member) == (bytes), #type "." #member);
#include "abi20_fields.def"

#define NUMBER(name, value) static_assert((name) == (value), #name);
#define ADDRESS(name, value)
#include "abi20_numbers.def"
