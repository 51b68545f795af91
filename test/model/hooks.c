/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the calls end that the compiler puts beside each memory access of a source compiled with -fsanitize=thread.
 *
 * The names are the interface of that instrumentation in gcc and clang. Atomic builtins have names there, too, and
 * none is defined here: shim.h must have replaced them.
 */

#include <stddef.h>
#include <stdint.h>

#include "scheduler.h"

#define HOOK(name, ...)         \
	void name(__VA_ARGS__); \
	void name(__VA_ARGS__)

#define HOOKS(size)                                 \
	HOOK(__tsan_read##size, void *p)            \
	{                                           \
		model_plain(p, size, false);        \
	}                                           \
	HOOK(__tsan_write##size, void *p)           \
	{                                           \
		model_plain(p, size, true);         \
	}                                           \
	HOOK(__tsan_unaligned_read##size, void *p)  \
	{                                           \
		model_plain(p, size, false);        \
	}                                           \
	HOOK(__tsan_unaligned_write##size, void *p) \
	{                                           \
		model_plain(p, size, true);         \
	}

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

HOOK(__tsan_read_range, void *p, size_t size)
{
	model_plain(p, (uint32_t)size, false);
}

HOOK(__tsan_write_range, void *p, size_t size)
{
	model_plain(p, (uint32_t)size, true);
}

HOOK(__tsan_init, void)
{
}

HOOK(__tsan_func_entry, void *caller)
{
}

HOOK(__tsan_func_exit, void)
{
}
