/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/unreachable.h"

#include <arpa/inet.h>
#include <stdio.h>

#include <rte_common.h>

#include "observe/log.h"

/* A program that tries one address again and again is told once in so many seconds. */
#define QUIET_S 10

/* An address with its prefix, and room for the separator. */
#define SUBNET_LEN (INET6_ADDRSTRLEN + sizeof("/128, ") - 1)

static const char *
ip_text(const struct roce_ip *ip, char text[INET6_ADDRSTRLEN])
{
	bool v4 = roce_ip_is_v4(ip);
	const char *done = inet_ntop(
			v4 ? AF_INET : AF_INET6, v4 ? ip->b + 12 : ip->b, text, INET6_ADDRSTRLEN);

	return done != NULL ? done : "?";
}

static const char *
subnets_text(const struct roce_unreachable *u, char *text, size_t len)
{
	char ip[INET6_ADDRSTRLEN];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < u->n && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%s%s/%u", i > 0 ? ", " : "",
				ip_text(&u->own[i].addr, ip), u->own[i].prefix);
	return text;
}

/* Neither here nor behind a gateway. */
static void
say_far(const struct roce_unreachable *u, const char *what, char *text, size_t len)
{
	char subnets[ROCE_ADDRS_MAX * SUBNET_LEN];
	char gw[INET6_ADDRSTRLEN];

	subnets_text(u, subnets, sizeof(subnets));
	if (roce_ip_is_zero(&u->gw))
		snprintf(text, len,
				"%s is unreachable: it is in no subnet of ip=%s, and there is no gw=; "
				"want another prefix, or a gateway",
				what, subnets);
	else
		snprintf(text, len,
				"%s is unreachable: it is in no subnet of ip=%s, and gw=%s is of the "
				"other family; want an address of its family",
				what, subnets, ip_text(&u->gw, gw));
}

/* The route is known, and its first hop did not say its MAC address. */
static void
say_unanswered(const struct roce_unreachable *u, const struct roce_ip *dst,
		const struct roce_subnet *near, char *text, size_t len)
{
	char what[INET6_ADDRSTRLEN], ip[INET6_ADDRSTRLEN], via[INET6_ADDRSTRLEN + 4] = "it";
	const struct roce_ip *hop = near != NULL ? dst : &u->gw;
	char vlan[32] = "untagged";

	ip_text(dst, what);
	if (hop != dst)
		snprintf(via, sizeof(via), "gw=%s", ip_text(hop, ip));
	if (u->vlan != 0)
		snprintf(vlan, sizeof(vlan), "in VLAN %u", u->vlan);
	near = roce_subnet_find(u->own, u->n, hop);
	if (u->program_knows)
		snprintf(text, len,
				"%s is unreachable: the program that attached port %s has no MAC address "
				"for %s",
				what, u->port, via);
	else
		snprintf(text, len,
				"%s is unreachable: nobody answers %s for %s on port %s, %s; is it up, "
				"on the wire of ip=%s/%u, and has it the same vlan=?",
				what, roce_ip_is_v4(hop) ? "ARP" : "neighbour solicitations", via,
				u->port, vlan, near != NULL ? ip_text(&near->addr, ip) : "?",
				near != NULL ? near->prefix : 0);
}

const char *
roce_unreachable_words(
		const struct roce_unreachable *u, const struct roce_ip *dst, char *text, size_t len)
{
	const struct roce_subnet *near = roce_subnet_find(u->own, u->n, dst);
	bool gw_serves = !roce_ip_is_zero(&u->gw) && roce_ip_is_v4(dst) == roce_ip_is_v4(&u->gw);
	char what[INET6_ADDRSTRLEN], own[INET6_ADDRSTRLEN];

	ip_text(dst, what);
	if (u->gone)
		snprintf(text, len, "%s is unreachable: port %s is gone", what, u->port);
	else if (roce_subnet_owns(u->own, u->n, dst))
		snprintf(text, len,
				"%s is unreachable: it is an address of this host, and a connection to it begins at no other one",
				what);
	else if (!roce_ip_is_host(dst))
		snprintf(text, len, "%s is unreachable: it is no host's address", what);
	else if (u->no_uplink)
		snprintf(text, len,
				"%s is unreachable: it is no address of this host, and port %s has no uplink "
				"to others; see --port of roced(1)",
				what, u->port);
	else if (near == NULL && !gw_serves)
		say_far(u, what, text, len);
	else if (near != NULL && roce_subnet_is_reserved(near, dst))
		snprintf(text, len, "%s is unreachable: it is the %s address of ip=%s/%u", what,
				roce_subnet_is_broadcast(near, dst) ? "broadcast" : "network",
				ip_text(&near->addr, own), near->prefix);
	else
		say_unanswered(u, dst, near, text, len);
	return text;
}

void
roce_unreachable_log(const struct roce_unreachable *u, const struct roce_ip *dst,
		struct roce_unreachable_logged *logged, uint64_t now, uint64_t hz)
{
	char text[768];

	if (now < logged->until && roce_ip_equal(&logged->dst, dst))
		return;
	logged->dst = *dst;
	logged->until = now + QUIET_S * hz;
	ROCE_LOG_OF(cm, NOTICE, "%s", roce_unreachable_words(u, dst, text, sizeof(text)));
}
