/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/eal_divert.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>

#if defined(__x86_64__)
#define RELOC_SLOT R_X86_64_JUMP_SLOT
#define RELOC_DATA R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define RELOC_SLOT R_AARCH64_JUMP_SLOT
#define RELOC_DATA R_AARCH64_GLOB_DAT
#endif

/** The tables of a library that the loader works by. */
struct tables {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * relocs[2]; /**< of functions, and of data */
	size_t n[2];
};

/** The search for an entry. */
struct search {
	uintptr_t has; /**< address in the library */
	const char *function;
	struct roce_eal_diverted found;
};

static uintptr_t
page_of(uintptr_t address)
{
	return address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

#ifdef RELOC_SLOT
/* The loader has added the base to addresses, or left that to the reader. */
static const void *
address_of(uintptr_t base, ElfW(Addr) address)
{
	return (const void *)(address < base ? base + address : address);
}

static void
read_tables(struct tables *tables, const ElfW(Dyn) * dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			tables->symbols = address_of(tables->base, dyn->d_un.d_ptr);
			break;
		case DT_STRTAB:
			tables->strings = address_of(tables->base, dyn->d_un.d_ptr);
			break;
		case DT_JMPREL:
			tables->relocs[0] = address_of(tables->base, dyn->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			tables->n[0] = dyn->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RELA:
			tables->relocs[1] = address_of(tables->base, dyn->d_un.d_ptr);
			break;
		case DT_RELASZ:
			tables->n[1] = dyn->d_un.d_val / sizeof(ElfW(Rela));
			break;
		default:
			break;
		}
	}
}

/* The name of the function whose address an entry holds; NULL: of none. */
static const char *
name_of(const struct tables *tables, const ElfW(Rela) * reloc)
{
	uint32_t type = ELF64_R_TYPE(reloc->r_info);

	return type == RELOC_SLOT || type == RELOC_DATA
			? tables->strings + tables->symbols[ELF64_R_SYM(reloc->r_info)].st_name
			: NULL;
}

static void **
find_slot(const struct tables *tables, const char *name)
{
	for (unsigned int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; tables->relocs[kind] != NULL && i < tables->n[kind]; i++) {
			const ElfW(Rela) *reloc = &tables->relocs[kind][i];
			const char *of = name_of(tables, reloc);

			if (of != NULL && strcmp(of, name) == 0)
				return (void **)(tables->base + reloc->r_offset);
		}
	}
	return NULL;
}

static bool
holds(const struct dl_phdr_info *info, const ElfW(Phdr) * part, uintptr_t address)
{
	return address >= info->dlpi_addr + part->p_vaddr &&
			address < info->dlpi_addr + part->p_vaddr + part->p_memsz;
}

/* The loader closes whole pages: what lies behind the last one in its page stays open. */
static bool
is_closed(const struct dl_phdr_info *info, const ElfW(Phdr) * relro, uintptr_t address)
{
	uintptr_t end = info->dlpi_addr + relro->p_vaddr + relro->p_memsz;

	return holds(info, relro, address) && address < page_of(end);
}

static bool
has_address(const struct dl_phdr_info *info, uintptr_t address)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
				holds(info, &info->dlpi_phdr[i], address))
			return true;
	}
	return false;
}

static bool
is_readonly(const struct dl_phdr_info *info, uintptr_t address)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO &&
				is_closed(info, &info->dlpi_phdr[i], address))
			return true;
	}
	return false;
}

/* False: it has no functions of others. */
static bool
find_tables(const struct dl_phdr_info *info, struct tables *tables)
{
	*tables = (struct tables){ .base = info->dlpi_addr };
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_tables(tables,
					(const void *)(info->dlpi_addr +
							info->dlpi_phdr[i].p_vaddr));
	}
	return tables->symbols != NULL && tables->strings != NULL;
}

/*
 * The library that is searched for. A program that is linked with the archives of DPDK has one table for these and for us: what
 * is called instead would call itself.
 * @return 1: found, whether it has such an entry or not.
 */
static int
look_into(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	struct roce_eal_diverted *found = &search->found;
	struct tables tables;

	if (!has_address(info, search->has))
		return 0;
	if (!has_address(info, (uintptr_t)roce_eal_divert) && find_tables(info, &tables))
		found->at = find_slot(&tables, search->function);
	if (found->at != NULL)
		found->readonly = is_readonly(info, (uintptr_t)found->at);
	return 1;
}
#endif

static bool
protect(const struct roce_eal_diverted *diverted, int protection)
{
	return !diverted->readonly ||
			mprotect((void *)page_of((uintptr_t)diverted->at),
					(size_t)sysconf(_SC_PAGESIZE), protection) == 0;
}

bool
roce_eal_divert(struct roce_eal_diverted *diverted, void *has, const char *function, void *to)
{
	struct search search = { .has = (uintptr_t)has, .function = function };

	*diverted = (struct roce_eal_diverted){ 0 };
#ifdef RELOC_SLOT
	(void)dl_iterate_phdr(look_into, &search);
#endif
	if (search.found.at == NULL || !protect(&search.found, PROT_READ | PROT_WRITE))
		return false;
	search.found.before = *search.found.at;
	__atomic_store_n(search.found.at, to, __ATOMIC_RELEASE);
	*diverted = search.found;
	return true;
}

void
roce_eal_undivert(const struct roce_eal_diverted *diverted)
{
	/* Another entry of the same page may have been undone. */
	if (diverted->at == NULL || !protect(diverted, PROT_READ | PROT_WRITE))
		return;
	__atomic_store_n(diverted->at, diverted->before, __ATOMIC_RELEASE);
	(void)protect(diverted, PROT_READ);
}

#ifdef RELOC_SLOT
/** Arguments of roce_eal_divert_all(). */
struct detours {
	const char *prefix;
	const struct roce_eal_detour *at;
	size_t n;
};

static const struct roce_eal_detour *
find_detour(const struct detours *detours, const char *function)
{
	for (size_t i = 0; i < detours->n; i++) {
		if (strcmp(detours->at[i].function, function) == 0)
			return &detours->at[i];
	}
	return NULL;
}

/* Is it a function of this library? */
static bool
is_of_us(void *function)
{
	Dl_info its, ours;

	return dladdr(function, &its) != 0 &&
			dladdr((void *)(uintptr_t)roce_eal_divert, &ours) != 0 &&
			its.dli_fbase == ours.dli_fbase;
}

static void
divert_entry(const struct dl_phdr_info *info, void **at, void *to)
{
	const struct roce_eal_diverted entry = { .at = at,
		.readonly = is_readonly(info, (uintptr_t)at) };

	if (is_of_us(*at) || !protect(&entry, PROT_READ | PROT_WRITE))
		return;
	__atomic_store_n(at, to, __ATOMIC_RELEASE);
	(void)protect(&entry, PROT_READ);
}

static int
divert_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *file = slash != NULL ? slash + 1 : info->dlpi_name;
	const struct detours *detours = arg;
	struct tables tables;

	if (strncmp(file, detours->prefix, strlen(detours->prefix)) != 0 ||
			!find_tables(info, &tables))
		return 0;
	for (unsigned int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; tables.relocs[kind] != NULL && i < tables.n[kind]; i++) {
			const ElfW(Rela) *reloc = &tables.relocs[kind][i];
			const char *function = name_of(&tables, reloc);
			const struct roce_eal_detour *detour =
					function != NULL ? find_detour(detours, function) : NULL;

			if (detour != NULL)
				divert_entry(info, (void **)(tables.base + reloc->r_offset),
						detour->to);
		}
	}
	return 0;
}
#endif

void
roce_eal_divert_all(const char *prefix, const struct roce_eal_detour *detours, size_t n)
{
#ifdef RELOC_SLOT
	struct detours all = { prefix, detours, n };

	(void)dl_iterate_phdr(divert_library, &all);
#endif
}
