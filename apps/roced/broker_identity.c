/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The identity that all processes of the host share: the uplink's, and always 127.0.0.1/8. It outlives an uplink, so
 * that processes that came before and after the end of an uplink go on talking by the same addresses.
 */

#include <string.h>

#include "broker_pvt.h"

#define LOCAL_MTU   4200u /**< a frame of path MTU 4096, and its headers */
#define MTU_MIN     320u  /**< path MTU 256 and its headers */
#define V4_AT       12    /**< bytes in front of an IPv4-mapped address */
#define LOOPBACK_V4 127   /**< first byte */

static const uint8_t v4_mapped[V4_AT] = { [10] = 0xff, [11] = 0xff };
static const struct roce_proto_addr loopback = {
	.ip = { [10] = 0xff, [11] = 0xff, LOOPBACK_V4, 0, 0, 1 },
	.prefix = 8,
};

static bool
is_v4(const uint8_t *ip)
{
	return memcmp(ip, v4_mapped, sizeof(v4_mapped)) == 0;
}

bool
broker_is_loopback(const uint8_t *ip)
{
	static const uint8_t v6_loopback[16] = { [15] = 1 };

	return (is_v4(ip) && ip[V4_AT] == LOOPBACK_V4) ||
			memcmp(ip, v6_loopback, sizeof(v6_loopback)) == 0;
}

void
broker_identity_local(struct roce_proto_identity *identity)
{
	*identity = (struct roce_proto_identity){
		.mac = { 0x02, 'r', 'o', 'c', 'e', 0 },
		.mtu = LOCAL_MTU,
		.addrs = 1,
		.addr = { loopback },
	};
}

/* A multicast address, or none at all. */
static bool
is_no_host(const uint8_t *ip)
{
	static const uint8_t none[16];

	if (is_v4(ip))
		return ip[V4_AT] == 0 || ip[V4_AT] >= 224;
	return ip[0] == 0xff || memcmp(ip, none, sizeof(none)) == 0;
}

static bool
is_good(const struct roce_proto_identity *told)
{
	static const uint8_t none[6], no_gw[16];

	if ((told->mac[0] & 1) != 0 || memcmp(told->mac, none, sizeof(none)) == 0)
		return false;
	if (told->mtu < MTU_MIN || told->addrs == 0 || told->addrs >= ROCE_PROTO_ADDRS)
		return false;
	if (memcmp(told->gw, no_gw, sizeof(no_gw)) != 0 && is_no_host(told->gw))
		return false;
	for (uint32_t i = 0; i < told->addrs; i++) {
		const struct roce_proto_addr *addr = &told->addr[i];

		if (is_no_host(addr->ip) || broker_is_loopback(addr->ip) ||
				addr->prefix > (is_v4(addr->ip) ? 32u : 128u))
			return false;
	}
	return true;
}

bool
broker_identity_take(struct broker *broker, const struct roce_proto_identity *told)
{
	struct roce_proto_identity *identity = &broker->identity;

	if (!is_good(told))
		return false;
	*identity = (struct roce_proto_identity){ .mtu = told->mtu, .uplink = 1 };
	memcpy(identity->mac, told->mac, sizeof(identity->mac));
	memcpy(identity->gw, told->gw, sizeof(identity->gw));
	memcpy(identity->addr, told->addr, told->addrs * sizeof(told->addr[0]));
	identity->addr[told->addrs] = loopback;
	identity->addrs = told->addrs + 1;
	return true;
}

bool
broker_identity_has(const struct roce_proto_identity *identity, const uint8_t *ip)
{
	if (is_v4(ip) && ip[V4_AT] == LOOPBACK_V4)
		return true;
	for (uint32_t i = 0; i < identity->addrs; i++) {
		if (memcmp(identity->addr[i].ip, ip, sizeof(identity->addr[i].ip)) == 0)
			return true;
	}
	return false;
}
