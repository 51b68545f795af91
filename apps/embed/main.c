/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An appliance with an EAL, ports and traffic of its own, and RDMA on one of its ports: docs/embedding.md walks through
 * it. One core does it all; nothing here is called by a thread of the library, for it has none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "forward.h"
#include "gauge.h"
#include "options.h"
#include "service.h"

#define POOL 4095u

static int
find_port(const char *name, unsigned int index, uint16_t *port)
{
	uint16_t id;

	if (name != NULL) {
		if (rte_eth_dev_get_port_by_name(name, port) == 0)
			return 0;
		cli_say("there is no port %s", name);
		return -1;
	}
	RTE_ETH_FOREACH_DEV(id) {
		if (index-- == 0) {
			*port = id;
			return 0;
		}
	}
	cli_say("two ports are needed: --vdev or -a of EAL makes them");
	return -1;
}

static int
attach(struct forward *f, const struct embed_options *options)
{
	struct roce_attach_config config = {
		.name = "appliance",
		.mode = ROCE_ATTACH_HANDOVER,
		.params = options->params,
	};
	struct rte_ether_addr mac;
	uint16_t mtu = 0;
	char errmsg[256];

	rte_eth_macaddr_get(f->port[0], &mac);
	memcpy(config.mac, mac.addr_bytes, sizeof(config.mac));
	if (rte_eth_dev_get_mtu(f->port[0], &mtu) == 0)
		config.frame_room = mtu;
	if (roce_device_attach(&config, &f->device, errmsg, sizeof(errmsg)) == 0)
		return 0;
	cli_say("%s", errmsg);
	return -1;
}

static void
report(const struct forward *f, const struct service *s)
{
	struct service_counts served;

	service_counts(s, &served);
	for (unsigned int i = 0; i < 2; i++)
		printf("port %u: %" PRIu64 " received, %" PRIu64 " forwarded, %" PRIu64
		       " dropped, %" PRIu64 " of RDMA\n",
				f->port[i], f->counts[i].received, f->counts[i].forwarded,
				f->counts[i].dropped, f->counts[i].ours);
	printf("service: %" PRIu64 " messages, %" PRIu64 " bytes, %u clients, %u refused\n",
			served.messages, served.bytes, served.clients, served.refused);
}

static void
work(struct forward *f, struct service *s, uint32_t seconds)
{
	uint64_t end = seconds == 0 ? UINT64_MAX : rte_rdtsc() + rte_get_tsc_hz() * seconds;

	while (cli_signal() == 0 && rte_rdtsc() < end) {
		forward_poll(f);
		service_poll(s);
	}
}

static int
run(const struct embed_options *options)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
			"frames", POOL, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	struct service *service = NULL;
	struct forward forward = { 0 };
	int rc = CLI_EXIT_FAILED;

	if (pool == NULL) {
		cli_say("no memory for frames");
		return rc;
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (find_port(options->port[i], i, &forward.port[i]) != 0 ||
				forward_start(forward.port[i], pool) != 0)
			return rc;
	}
	if (attach(&forward, options) != 0)
		return rc;
	if (service_start(forward.device, options->listen, &service) == 0) {
		printf("roce-embed: forwarding, and answering RDMA at port %u\n", options->listen);
		cli_output_flush();
		work(&forward, service, options->seconds);
		report(&forward, service);
		rc = 0;
	}
	service_stop(service);
	forward_stop(&forward);
	roce_device_close(forward.device);
	for (unsigned int i = 0; i < 2; i++)
		rte_eth_dev_stop(forward.port[i]);
	return rc;
}

int
main(int argc, char **argv)
{
	struct embed_options options;
	int used, rc;

	cli_begin("roce-embed");
	/* Help needs no EAL, and EAL takes the words before "--". */
	used = argc > 1 && argv[1][0] == '-' && strcmp(argv[1], "--help") == 0
			? 0
			: rte_eal_init(argc, argv);
	if (used < 0) {
		cli_say("EAL does not start: %s", rte_strerror(rte_errno));
		return CLI_EXIT_FAILED;
	}
	rc = embed_options_read(&options, argc - used, argv + used);
	if (rc >= 0)
		goto clean;
	cli_signals_catch();
	rc = options.gauge ? gauge_run(&options) : run(&options);
clean:
	if (used > 0)
		rte_eal_cleanup();
	return cli_exit(rc);
}
