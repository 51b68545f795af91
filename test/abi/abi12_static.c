/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The binary interface of DAT 1.2, as far as a compiler can judge it without running anything. The
 * source is C and C++, and is compiled as both.
 */

#include <assert.h>
#include <stddef.h>

#include <dat/dat_registry.h>
#include <roce/dat_ep.h>

#define SIZE(type, bytes)  static_assert(sizeof(type) == (bytes), #type);
#define ALIGN(type, bytes) static_assert(__alignof__(type) == (bytes), #type);
#include "abi12_sizes.def"

#define FIELD(type, member, offset, bytes)                                    \
	static_assert(offsetof(type, member) == (offset), #type "." #member); \
	static_assert(sizeof(((type *)0)->member) == (bytes), #type "." #member);
#include "abi12_fields.def"

#define NUMBER(name, value) static_assert((name) == (value), #name);
#define ADDRESS(name, value)
#include "abi12_numbers.def"
