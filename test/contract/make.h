/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_MAKE_H
#define TEST_CONTRACT_MAKE_H

/** @file Objects of an end: made with what the end has, replaced, and freed. */

#include "contract.h"

/** A dispatcher of @p end; DAT_EVD_*_FLAG. Without a length: EVD_LEN. */
DAT_EVD_HANDLE make_evd(const struct end *end, unsigned int flags);
DAT_EVD_HANDLE make_evd_of(const struct end *end, DAT_COUNT len, unsigned int flags);
/** A zone of @p end; a window in its zone. */
DAT_PZ_HANDLE make_pz(const struct end *end);
DAT_RMR_HANDLE make_rmr(const struct end *end);
/** A service point of @p end's. */
DAT_PSP_HANDLE make_psp(const struct end *end, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd);
/** Register the first @p length bytes of @p end's buffer; null: the key is not wanted. */
DAT_LMR_HANDLE register_bytes(const struct end *end, DAT_VLEN length, DAT_PZ_HANDLE pz,
		unsigned int priv, DAT_LMR_CONTEXT *key, DAT_RMR_CONTEXT *peer_key);
/** A segment of @p end's buffer with another key. */
DAT_LMR_TRIPLET
segment_of(const struct end *end, DAT_LMR_CONTEXT key, size_t offset, DAT_VLEN length);
/** Memory of @p end's, as its peer names it. */
DAT_RMR_TRIPLET target(const struct end *end, size_t offset, DAT_VLEN length);
/** Another instance of an adapter, with @p async as for dat_ia_open(), a zone, and a queue of 4 by 1. */
void open_beside(struct end *twin, const char *name, DAT_EVD_HANDLE async);

/** Another endpoint of @p end with its dispatchers and a queue of its own. */
DAT_EP_HANDLE another_ep(const struct end *end);
/** An endpoint on @p end's queue with its dispatchers; null attributes: zeros. */
DAT_EP_HANDLE srq_ep(const struct end *end, const DAT_EP_ATTR *attr);
/** Replace @p end's endpoint by one with a queue of its own; null attributes: none. */
void use_ep(struct end *end, const DAT_EP_ATTR *attr);
/** Replace @p end's endpoint by one on its queue. */
void use_srq_ep(struct end *end, const DAT_EP_ATTR *attr);
/** The same, and it tells everything to one new dispatcher: end->recv, ->request and ->connect. */
void use_one_evd(struct end *end);
/** Free @p end's endpoint and its queue. */
void free_srq_ep(const struct end *end);
/** Free what @p end has made of memory: endpoint, queue if it has one, region, zone. No other object holds the zone. */
void free_to_the_zone(const struct end *end);

#endif
