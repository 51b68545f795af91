/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_TABLE_H
#define ROCE_CM_CM_TABLE_H

/**
 * @file
 * The two tables that find a connection: by our communication id, and by its peer.
 */

#include "cm/cm_pvt.h"

/** Make the tables of a manager that is configured. @return 0; -ENOMEM. */
int roce_cm_table_init(struct roce_cm *cm);

/** Free the tables, and all connections in them without telling anybody. */
void roce_cm_table_fini(struct roce_cm *cm);

/** A new, zeroed connection with an id of its own, in no state. NULL: memory or places are used up. */
struct roce_cm_conn *roce_cm_conn_new(struct roce_cm *cm);

/** Give back memory and place. In no list, not armed, not indexed any more after it. */
void roce_cm_conn_free(struct roce_cm_conn *conn);

/** The connection with this local id; NULL. */
struct roce_cm_conn *roce_cm_find_local(const struct roce_cm *cm, uint32_t local_id);

/** Two ways to name a connection by its peer. */
enum roce_cm_key_kind {
	ROCE_CM_KEY_ID = 1, /**< the peer's communication id: passive ones until CLOSED */
	ROCE_CM_KEY_QPN,    /**< the peer's queue pair: ESTABLISHED ones */
};

/** The connection with this peer; NULL. */
struct roce_cm_conn *roce_cm_find_peer(const struct roce_cm *cm, enum roce_cm_key_kind kind,
		const struct roce_ip *ip, uint32_t number);

/** Enter under the peer's id or QPN. @return 0; -ENOMEM. */
int roce_cm_index_add(struct roce_cm_conn *conn, enum roce_cm_key_kind kind);

/** Take out again; nothing happens when another one or nobody stands there. */
void roce_cm_index_del(struct roce_cm_conn *conn, enum roce_cm_key_kind kind);

#endif
