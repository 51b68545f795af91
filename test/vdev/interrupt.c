/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread waits at the adapter "wire", on net_tap, whose interface is named here; frames are sent into that until the
 * device has ended a sleep of it. The end is an event of this thread. Called by interrupt.sh. Ends with 0, or says why not.
 *
 *   vdev_interrupt INTERFACE
 */

#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_packet.h>

#include <dat/udat.h>

#include "../limit.h"

#define PAUSE_US  20000u /**< in which the waiter falls asleep */
#define ETHERTYPE 0x88b5 /**< for experiments */

static DAT_EVD_HANDLE evd;
static unsigned int disturbed;

static void
end(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

static void *
wait_for_event(void *arg)
{
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN rc;

	while ((rc = dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more)) != DAT_SUCCESS) {
		if (DAT_GET_TYPE(rc) != DAT_INTERRUPTED_CALL)
			end("the wait fails");
		disturbed++;
	}
	return NULL;
}

/* A counter of the adapter. */
static unsigned long long
count(DAT_IA_HANDLE ia, const char *name)
{
	DAT_EVD_HANDLE async;
	DAT_IA_ATTR attr;

	if (dat_ia_query(ia, &async, DAT_IA_FIELD_ALL, &attr, 0, NULL) != DAT_SUCCESS)
		end("dat_ia_query fails");
	for (DAT_COUNT i = 0; i < attr.num_vendor_attr; i++)
		if (strcmp(attr.vendor_attr[i].name, name) == 0)
			return strtoull(attr.vendor_attr[i].value, NULL, 10);
	end("the counter is missing");
	return 0;
}

static int
open_interface(const char *name)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) != 0)
		end("there is no such interface");
	request.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &request) != 0)
		end("the interface does not come up");
	to.sll_ifindex = (int)if_nametoindex(name);
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		end("the interface cannot be bound");
	return fd;
}

static void
send_frame(int fd)
{
	unsigned char frame[60] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9,
		ETHERTYPE >> 8, ETHERTYPE & 0xff };

	if (send(fd, frame, sizeof(frame), 0) < 0 && errno != ENOBUFS)
		end("the frame is not sent");
}

int
main(int argc, char **argv)
{
	const DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	unsigned long long told;
	unsigned int sent = 0;
	DAT_IA_HANDLE ia;
	pthread_t waiter;
	sigset_t all;
	char name[] = "wire";
	int fd;

	if (argc != 2)
		end("which interface?");
	if (dat_ia_open(name, 8, &async, &ia) != DAT_SUCCESS)
		return 77;
	fd = open_interface(argv[1]);
	if (dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd) != DAT_SUCCESS)
		end("no dispatcher");
	if (pthread_create(&waiter, NULL, wait_for_event, NULL) != 0)
		end("no thread");
	/* Only the waiter, or a thread of the provider's, is left to take the driver's signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while ((told = count(ia, "port_rx_interrupts")) == 0 &&
			sent++ < test_limit_us() / PAUSE_US) {
		send_frame(fd);
		usleep(PAUSE_US);
	}
	if (dat_evd_post_se(evd, &event) != DAT_SUCCESS)
		end("the event is not posted");
	pthread_join(waiter, NULL);
	printf("%llu interrupts of %u frames, %u signals\n", told, sent, disturbed);
	close(fd);
	if (dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
		end("the adapter does not close");
	/* The driver's signals are none of the program's. */
	return told > 0 && disturbed == 0 ? 0 : 1;
}
