/* SPDX-License-Identifier: BSD-3-Clause */

/* The port of the device, its address as a GID, its partition key. */

#include <errno.h>
#include <string.h>

#include "roce/device.h"
#include "verbs/verbs_front.h"

#undef ibv_query_port

#define PKEY_DEFAULT  0xffffu
#define MSG_MAX       (1u << 31)
#define LINK_UP       5 /**< of phys_state */
#define LINK_DISABLED 3
#define WIDTH_4X      2
#define SPEED_EDR     32 /**< 25 Gbit/s a lane; memory has no speed of its own */

union ibv_gid
verbs_port_gid(const struct ibv_context *context)
{
	struct roce_device_attr attr;
	union ibv_gid gid;

	roce_device_query(verbs_progress_device(), &attr);
	memcpy(gid.raw, attr.ip, sizeof(gid.raw));
	return gid;
}

int
verbs_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		size_t len)
{
	bool down = __atomic_load_n(&verbs_ctx_of(context)->link_down, __ATOMIC_RELAXED);
	struct roce_device_attr device;
	struct ibv_port_attr full;

	if (port_num != VERBS_PORT)
		return EINVAL;
	roce_device_query(verbs_progress_device(), &device);
	full = (struct ibv_port_attr){
		.state = down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = verbs_mtu_of(device.mtu),
		.gid_tbl_len = VERBS_GIDS,
		.port_cap_flags = IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = MSG_MAX,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = WIDTH_4X,
		.active_speed = SPEED_EDR,
		.phys_state = down ? LINK_DISABLED : LINK_UP,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.flags = IBV_QPF_GRH_REQUIRED,
	};
	memcpy(attr, &full, len < sizeof(full) ? len : sizeof(full));
	return 0;
}

/* Called by programs of older headers alone: their structure ends before port_cap_flags2. */
int
ibv_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr)
{
	return verbs_query_port(context, port_num, (struct ibv_port_attr *)(void *)attr,
			offsetof(struct ibv_port_attr, port_cap_flags2));
}

static int
refuse(int error)
{
	errno = error;
	return -1;
}

int
ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	if (port_num != VERBS_PORT || index < 0 || index >= (int)VERBS_GIDS)
		return refuse(EINVAL);
	*gid = verbs_port_gid(context);
	return 0;
}

static struct ibv_gid_entry
first_entry(const struct ibv_context *context)
{
	return (struct ibv_gid_entry){
		.gid = verbs_port_gid(context),
		.port_num = VERBS_PORT,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
	};
}

static void
copy_entry(struct ibv_gid_entry *to, const struct ibv_gid_entry *from, size_t size)
{
	memset(to, 0, size);
	memcpy(to, from, size < sizeof(*from) ? size : sizeof(*from));
}

int
_ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t index,
		struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	struct ibv_gid_entry first;

	if (flags != 0)
		return EOPNOTSUPP;
	if (port_num != VERBS_PORT || index >= VERBS_GIDS)
		return EINVAL;
	first = first_entry(context);
	copy_entry(entry, &first, size);
	return 0;
}

ssize_t
_ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
		uint32_t flags, size_t size)
{
	struct ibv_gid_entry first;

	if (flags != 0)
		return -EOPNOTSUPP;
	if (max < VERBS_GIDS)
		return -EINVAL;
	first = first_entry(context);
	copy_entry(entries, &first, size);
	return VERBS_GIDS;
}

/** Of the private header of rdma-core: what its own programs ask for. */
enum gid_type_of_driver {
	GID_TYPE_ROCE_V2 = 1,
};

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		enum gid_type_of_driver *type);

int
ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		enum gid_type_of_driver *type)
{
	if (port_num != VERBS_PORT || index >= VERBS_GIDS)
		return refuse(EINVAL);
	*type = GID_TYPE_ROCE_V2;
	return 0;
}

int
ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	if (port_num != VERBS_PORT || index != 0)
		return refuse(EINVAL);
	*pkey = PKEY_DEFAULT;
	return 0;
}

int
ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	return port_num == VERBS_PORT && pkey == PKEY_DEFAULT ? 0 : refuse(EINVAL);
}
