/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of an address that a process uses: others see it, and can leave nothing there. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ethdev/address_claim.h"
#include "unit/rules.h"

#define PORT "net_af_packet0,iface=lo"

static struct roce_subnet at;
static struct roce_address_claim claim;

/* An address that no other run has. */
static int
setup(void **state)
{
	const uint8_t ip[16] = { [10] = 0xff, 0xff, 198, 18 };
	pid_t pid = getpid();

	memcpy(at.addr.b, ip, sizeof(ip));
	at.addr.b[14] = (uint8_t)(pid >> 8);
	at.addr.b[15] = (uint8_t)pid;
	roce_address_claim(&claim, PORT, &at, 1);
	return claim.n == 1 ? 0 : -1;
}

static int
teardown(void **state)
{
	roce_address_release(&claim);
	return 0;
}

static socklen_t
name_of_claim(struct sockaddr_un *name)
{
	socklen_t len = sizeof(*name);

	assert_int_equal(getsockname(claim.fd[0], (struct sockaddr *)name, &len), 0);
	assert_int_equal(name->sun_path[0], '\0');
	return len;
}

UNIT_RULE(claim__refuses_what_a_stranger_sends)
{
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM, SOCK_SEQPACKET };
	struct sockaddr_un name;
	socklen_t len = name_of_claim(&name);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int stranger = socket(AF_UNIX, types[i] | SOCK_CLOEXEC, 0);
		bool sent = connect(stranger, (struct sockaddr *)&name, len) == 0 &&
				send(stranger, "", 0, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;

		close(stranger);
		assert_false(sent);
	}
}

UNIT_RULE(claim__is_seen_until_it_is_released)
{
	struct roce_address_claim second;
	struct sockaddr_un name;
	socklen_t len = name_of_claim(&name);
	int other = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	roce_address_claim(&second, PORT, &at, 1);
	assert_int_equal(second.n, 0);
	assert_int_not_equal(bind(other, (struct sockaddr *)&name, len), 0);
	assert_int_equal(errno, EADDRINUSE);
	roce_address_release(&claim);
	assert_int_equal(bind(other, (struct sockaddr *)&name, len), 0);
	close(other);
}
