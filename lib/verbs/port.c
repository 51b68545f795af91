/* SPDX-License-Identifier: BSD-3-Clause */

/* The port of the device, its addresses as GIDs, its partition key. */

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

/* They stay the same while the device is open. */
static unsigned int
read_gids(union ibv_gid gids[ROCE_DEVICE_ADDRS_MAX])
{
	return roce_device_addrs(verbs_progress_device(), (uint8_t(*)[16])(void *)gids,
			ROCE_DEVICE_ADDRS_MAX);
}

bool
verbs_port_gid(unsigned int index, union ibv_gid *gid)
{
	union ibv_gid gids[ROCE_DEVICE_ADDRS_MAX];

	if (index >= read_gids(gids))
		return false;
	*gid = gids[index];
	return true;
}

int
verbs_port_gid_index(const uint8_t ip[16])
{
	union ibv_gid gids[ROCE_DEVICE_ADDRS_MAX];
	const unsigned int n = read_gids(gids);

	for (unsigned int i = 0; i < n; i++) {
		if (memcmp(gids[i].raw, ip, sizeof(gids[i].raw)) == 0)
			return (int)i;
	}
	return -1;
}

int
verbs_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		size_t len)
{
	bool down = __atomic_load_n(&verbs_ctx_of(context)->link_down, __ATOMIC_RELAXED);
	union ibv_gid gids[ROCE_DEVICE_ADDRS_MAX];
	struct roce_device_attr device;
	struct ibv_port_attr full;

	if (port_num != VERBS_PORT)
		return EINVAL;
	roce_device_query(verbs_progress_device(), &device);
	full = (struct ibv_port_attr){
		.state = down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = verbs_mtu_of(device.mtu),
		.gid_tbl_len = (int)read_gids(gids),
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
	if (port_num != VERBS_PORT || index < 0 || !verbs_port_gid((unsigned int)index, gid))
		return refuse(EINVAL);
	return 0;
}

/* Into a structure of @p size bytes, of older or newer headers. */
static void
put_entry(struct ibv_gid_entry *to, unsigned int index, const union ibv_gid *gid, size_t size)
{
	const struct ibv_gid_entry entry = {
		.gid = *gid,
		.gid_index = index,
		.port_num = VERBS_PORT,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
	};

	memset(to, 0, size);
	memcpy(to, &entry, size < sizeof(entry) ? size : sizeof(entry));
}

int
_ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t index,
		struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	union ibv_gid gid;

	if (flags != 0)
		return EOPNOTSUPP;
	if (port_num != VERBS_PORT || !verbs_port_gid(index, &gid))
		return EINVAL;
	put_entry(entry, index, &gid, size);
	return 0;
}

ssize_t
_ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
		uint32_t flags, size_t size)
{
	union ibv_gid gids[ROCE_DEVICE_ADDRS_MAX];
	const unsigned int n = read_gids(gids);

	if (flags != 0)
		return -EOPNOTSUPP;
	if (max < n)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		put_entry((struct ibv_gid_entry *)(void *)((char *)entries + i * size), i, &gids[i],
				size);
	return n;
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
	union ibv_gid gid;

	if (port_num != VERBS_PORT || !verbs_port_gid(index, &gid))
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
