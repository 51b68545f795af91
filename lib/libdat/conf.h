/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_CONF_H
#define LIBDAT_CONF_H

/**
 * @file
 * The text of a dat.conf(5), line by line.
 *
 * A line has eight fields separated by blanks; a field with blanks in it is quoted, and inside
 * quotes \" and \\ stand for a quote and a backslash. Outside quotes # starts a comment. A line
 * that breaks a rule is skipped with one diagnosis; the others count. The parser reads and writes
 * nothing but its argument and keeps nothing, so any bytes may be given to it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Room for a name, its terminating zero included: DAT_NAME_MAX_LENGTH. */
#define LIBDAT_CONF_NAME_MAX 256

/** One line. Its strings lie in the text, and may be as long as that. */
struct libdat_conf_entry {
	unsigned int line;                  /**< counted from one */
	char ia_name[LIBDAT_CONF_NAME_MAX]; /**< what dat_ia_open() is asked for; not empty */
	char api;                           /**< 'u': user level; 'k': kernel level */
	uint32_t api_major;                 /**< of the DAT interface that the library offers */
	uint32_t api_minor;                 /**< of the DAT interface that the library offers */
	bool thread_safe;                   /**< may be used from several threads */
	bool is_default;                    /**< only such entries are for programs */
	const char *library;                /**< file or path of the library; not empty */
	char vendor[LIBDAT_CONF_NAME_MAX];  /**< name of the provider, without version */
	uint32_t vendor_major;              /**< version of the provider */
	uint32_t vendor_minor;              /**< version of the provider */
	const char *instance;               /**< for the library, which knows what it means */
	const char *platform;               /**< not used on this platform */
};

/** Callbacks of the parser, called in the order of the lines. */
struct libdat_conf_sink {
	void *arg; /**< first argument of both functions */
	/** A good line. @p entry is valid during the call, its strings while the text is. @return false ends the parsing. */
	bool (*entry)(void *arg, const struct libdat_conf_entry *entry);
	/** A bad line, and a sentence without a full stop that says why; valid during the call. */
	void (*bad_line)(void *arg, unsigned int line, const char *errmsg);
};

/**
 * Read @p len bytes of text, once: the fields of its entries are cut out of it where they lie. The text needs no terminating
 * zero, but room for one behind its last byte, and stays the caller's.
 *
 * Threads: any; no state is kept.
 */
void libdat_conf_parse(char *text, size_t len, const struct libdat_conf_sink *sink);

#endif /* LIBDAT_CONF_H */
