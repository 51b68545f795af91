/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat/dat_ib_extensions.h>

#include "cli/cli.h"
#include "cli/ia.h"

/* key=value pairs that the provider lays over those of dat.conf. */
#define PARAMS "UDAPL_ROCE_PARAMS"

/* Add one pair, unless there is no room, which *used tells by being too large. */
static void
add_pair(char *params, size_t room, size_t *used, const char *key, uint32_t value)
{
	int n;

	if (*used >= room)
		return;
	n = snprintf(params + *used, room - *used, " %s=%u", key, value);
	*used += n > 0 ? (size_t)n : room;
}

int
perf_adapter_tune(const struct perf_options *options)
{
	const char *before = getenv(PARAMS);
	char params[1024];
	size_t used;
	bool keys = false;

	for (int key = 0; key < PERF_KEYS; key++)
		keys |= options->key_given[key];
	if (options->mtu == 0 && !options->faulty && !keys)
		return 0;
	used = (size_t)snprintf(params, sizeof(params), "%s", before == NULL ? "" : before);
	if (options->mtu != 0)
		add_pair(params, sizeof(params), &used, "mtu", options->mtu);
	for (int key = 0; key < PERF_KEYS; key++)
		if (options->key_given[key])
			add_pair(params, sizeof(params), &used, perf_key_name((enum perf_key)key),
					options->keys[key]);
	for (unsigned int kind = 0; options->faulty && kind < PERF_FAULTS; kind++)
		add_pair(params, sizeof(params), &used, perf_fault_name(kind),
				options->faults[kind]);
	if (used >= sizeof(params) || setenv(PARAMS, params, 1) != 0) {
		cli_say("the environment variable " PARAMS " has no room for what the options add");
		return -1;
	}
	return 0;
}

static void
note_attributes(struct perf_adapter *adapter, const struct cli_ia_attrs *attrs)
{
	const DAT_IA_ATTR *ia = &attrs->ia;
	const char *dpdk;

	adapter->max_message = ia->max_message_size;
	adapter->max_rdma = ia->max_rdma_size;
	adapter->max_reads = (uint32_t)(ia->max_rdma_read_per_ep_in < ia->max_rdma_read_per_ep_out
					? ia->max_rdma_read_per_ep_in
					: ia->max_rdma_read_per_ep_out);
	if (ia->ia_address_ptr != NULL)
		memcpy(&adapter->address, ia->ia_address_ptr,
				ia->ia_address_ptr->sa_family == AF_INET6
						? sizeof(struct sockaddr_in6)
						: sizeof(struct sockaddr_in));
	adapter->atomics = cli_ia_attr(attrs, DAT_IB_EXTENSION_ATTR, NULL) != NULL;
	adapter->mtu = (uint32_t)cli_ia_count(attrs, "DAT_IB_TRANSPORT_MTU");
	snprintf(adapter->pmd, sizeof(adapter->pmd), "%s",
			cli_ia_attr(attrs, "ROCE_DRIVER", "unknown"));
	snprintf(adapter->icrc, sizeof(adapter->icrc), "%s",
			cli_ia_attr(attrs, "ROCE_ICRC", "unknown"));
	dpdk = cli_ia_attr(attrs, "ROCE_DPDK", "unknown");
	snprintf(adapter->dpdk, sizeof(adapter->dpdk), "%s",
			strncmp(dpdk, "DPDK ", 5) == 0 ? dpdk + 5 : dpdk);
	snprintf(adapter->provider, sizeof(adapter->provider), "%.48s %u.%u",
			attrs->provider.provider_name, attrs->provider.provider_version_major,
			attrs->provider.provider_version_minor);
}

/* perftest's -D is a duration. */
static bool
is_duration(const char *name)
{
	DAT_PROVIDER_INFO list[CLI_IA_MAX];
	int n = cli_ia_list(list);

	for (int i = 0; i < n; i++)
		if (strcmp(list[i].ia_name, name) == 0)
			return false;
	return name[strspn(name, "0123456789")] == '\0';
}

int
perf_adapter_open(struct perf_adapter *adapter, const char *name)
{
	struct cli_ia_attrs attrs;

	*adapter = (struct perf_adapter){
		.name = name,
		.cr_evd = DAT_HANDLE_NULL,
		.psp = DAT_HANDLE_NULL,
		.armed = DAT_HANDLE_NULL,
	};
	if (is_duration(name)) {
		cli_say("no interface adapter is named '%s'; a duration in seconds is --duration %s, or dat_send_bw -D %s",
				name, name, name);
		return -1;
	}
	if (cli_ia_open(name, &adapter->async_evd, &adapter->ia) != 0)
		return -1;
	if (cli_ia_query(adapter->ia, &attrs) != 0) {
		dat_ia_close(adapter->ia, DAT_CLOSE_ABRUPT_FLAG);
		return -1;
	}
	note_attributes(adapter, &attrs);
	return 0;
}

int
perf_adapter_listen(struct perf_adapter *adapter, uint16_t port, uint32_t backlog)
{
	DAT_RETURN ret;

	ret = dat_evd_create(adapter->ia, (DAT_COUNT)backlog, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG,
			&adapter->cr_evd);
	if (ret != DAT_SUCCESS) {
		cli_say_dat(ret, "dat_evd_create for connection requests on %s", adapter->name);
		return -1;
	}
	ret = dat_psp_create(
			adapter->ia, port, adapter->cr_evd, DAT_PSP_CONSUMER_FLAG, &adapter->psp);
	if (ret != DAT_SUCCESS) {
		cli_say_dat(ret, "cannot listen on port %u of %s", port, adapter->name);
		return -1;
	}
	return 0;
}

int
perf_adapter_count(struct perf_adapter *adapter, struct perf_counters *counters)
{
	struct cli_ia_attrs attrs;

	if (perf_adapter_async(adapter) != 0 || cli_ia_query(adapter->ia, &attrs) != 0)
		return -1;
	*counters = (struct perf_counters){
		.retransmits = cli_ia_count(&attrs, "retransmits"),
		.rnr_nak_sent = cli_ia_count(&attrs, "rnr_nak_sent"),
		.rnr_nak_received = cli_ia_count(&attrs, "rnr_nak_received"),
		.low_watermarks = adapter->low_watermarks,
		.resizes = adapter->resizes,
		.resizes_refused = adapter->resizes_refused,
	};
	return 0;
}

int
perf_adapter_async(struct perf_adapter *adapter)
{
	DAT_EVENT event;
	DAT_RETURN ret;

	while ((ret = dat_evd_dequeue(adapter->async_evd, &event)) == DAT_SUCCESS) {
		const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event.event_data.asynch_error_event_data;

		if (event.event_number == DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK &&
				data->reason == DAT_SRQ_LOW_WATERMARK_EVENT &&
				adapter->armed != DAT_HANDLE_NULL &&
				data->dat_handle == adapter->armed) {
			adapter->armed = DAT_HANDLE_NULL;
			adapter->low_watermarks++;
			continue;
		}
		cli_say("asynchronous event 0x%x, reason %d, on %s",
				(unsigned int)event.event_number, data->reason, adapter->name);
		return -1;
	}
	if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
		return 0;
	cli_say_dat(ret, "dat_evd_dequeue of the asynchronous EVD of %s", adapter->name);
	return -1;
}

int
perf_adapter_close(struct perf_adapter *adapter)
{
	DAT_RETURN ret;

	if (adapter->psp != DAT_HANDLE_NULL)
		dat_psp_free(adapter->psp);
	if (adapter->cr_evd != DAT_HANDLE_NULL)
		dat_evd_free(adapter->cr_evd);
	ret = dat_ia_close(adapter->ia, DAT_CLOSE_GRACEFUL_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	/* After a failure objects may be left: that has been said already. */
	if (cli_said() == NULL)
		cli_say_dat(ret, "cannot close interface adapter %s", adapter->name);
	dat_ia_close(adapter->ia, DAT_CLOSE_ABRUPT_FLAG);
	return -1;
}
