/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapter.h"

#include <stdio.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/ia.h"
#include "cli/json.h"
#include "snapshot.h"
#include "use.h"

static void
add_version(struct json_object *object, const char *key, DAT_UINT32 major, DAT_UINT32 minor)
{
	char text[32];

	snprintf(text, sizeof(text), "%u.%u", major, minor);
	cli_json_string(object, key, text);
}

/* Counters come as named attributes too; those are numbers. */
static void
add_named(struct json_object *object, const DAT_NAMED_ATTR *list, DAT_COUNT n)
{
	uint64_t number;

	for (DAT_COUNT i = 0; i < n; i++) {
		if (list[i].name == NULL || list[i].value == NULL)
			continue;
		if (cli_number(list[i].value, 0, INT64_MAX, &number))
			cli_json_count(object, list[i].name, number);
		else
			cli_json_string(object, list[i].name, list[i].value);
	}
}

static struct json_object *
ia_object(const DAT_IA_ATTR *ia)
{
	struct json_object *object = json_object_new_object();
	char address[64];

	cli_json_string(object, "adapter_name", ia->adapter_name);
	cli_json_string(object, "vendor_name", ia->vendor_name);
	add_version(object, "hardware_version", ia->hardware_version_major,
			ia->hardware_version_minor);
	add_version(object, "firmware_version", ia->firmware_version_major,
			ia->firmware_version_minor);
	cli_json_string(object, "ia_address",
			cli_address(ia->ia_address_ptr, address, sizeof(address)));
	cli_json_int(object, "max_eps", ia->max_eps);
	cli_json_int(object, "max_dto_per_ep", ia->max_dto_per_ep);
	cli_json_int(object, "max_evds", ia->max_evds);
	cli_json_int(object, "max_evd_qlen", ia->max_evd_qlen);
	cli_json_int(object, "max_iov_segments_per_dto", ia->max_iov_segments_per_dto);
	cli_json_int(object, "max_lmrs", ia->max_lmrs);
	cli_json_count(object, "max_lmr_block_size", ia->max_lmr_block_size);
	cli_json_int(object, "max_pzs", ia->max_pzs);
	cli_json_count(object, "max_message_size", ia->max_message_size);
	cli_json_count(object, "max_rdma_size", ia->max_rdma_size);
	cli_json_int(object, "max_rmrs", ia->max_rmrs);
	cli_json_int(object, "max_srqs", ia->max_srqs);
	cli_json_int(object, "max_ep_per_srq", ia->max_ep_per_srq);
	cli_json_int(object, "max_recv_per_srq", ia->max_recv_per_srq);
	cli_json_int(object, "max_rdma_read_in", ia->max_rdma_read_in);
	cli_json_int(object, "max_rdma_read_out", ia->max_rdma_read_out);
	cli_json_int(object, "max_rdma_read_per_ep_in", ia->max_rdma_read_per_ep_in);
	cli_json_int(object, "max_rdma_read_per_ep_out", ia->max_rdma_read_per_ep_out);
	add_named(object, ia->transport_attr, ia->num_transport_attr);
	add_named(object, ia->vendor_attr, ia->num_vendor_attr);
	return object;
}

static struct json_object *
provider_object(const DAT_PROVIDER_ATTR *provider)
{
	struct json_object *object = json_object_new_object();

	cli_json_string(object, "provider_name", provider->provider_name);
	add_version(object, "provider_version", provider->provider_version_major,
			provider->provider_version_minor);
	add_version(object, "dapl_version", provider->dapl_version_major,
			provider->dapl_version_minor);
	cli_json_bool(object, "is_thread_safe", provider->is_thread_safe);
	cli_json_int(object, "max_private_data_size", provider->max_private_data_size);
	cli_json_count(object, "optimal_buffer_alignment", provider->optimal_buffer_alignment);
	cli_json_bool(object, "supports_multipath", provider->supports_multipath);
	cli_json_bool(object, "srq_supported", provider->srq_supported);
	cli_json_int(object, "srq_watermarks_supported", provider->srq_watermarks_supported);
	cli_json_bool(object, "srq_ep_pz_difference_supported",
			provider->srq_ep_pz_difference_supported);
	cli_json_int(object, "srq_info_supported", provider->srq_info_supported);
	cli_json_int(object, "ep_recv_info_supported", provider->ep_recv_info_supported);
	cli_json_bool(object, "lmr_sync_req", provider->lmr_sync_req);
	cli_json_bool(object, "dto_async_return_guaranteed", provider->dto_async_return_guaranteed);
	cli_json_bool(object, "rdma_write_for_rdma_read_req",
			provider->rdma_write_for_rdma_read_req);
	add_named(object, provider->provider_specific_attr, provider->num_provider_specific_attr);
	return object;
}

/* An adapter that was opened here. */
static struct json_object *
describe_open(const char *name, const struct cli_ia_attrs *attrs)
{
	struct json_object *object = json_object_new_object();

	cli_json_string(object, "name", name);
	json_object_object_add(object, "adapter", ia_object(&attrs->ia));
	json_object_object_add(object, "provider", provider_object(&attrs->provider));
	return object;
}

/* An adapter that another process has open: what that tells of its device. */
static struct json_object *
describe_used(const char *name, const struct info_use *use)
{
	struct json_object *object = json_object_new_object();

	cli_json_string(object, "name", name);
	cli_json_count(object, "pid", info_number(use->process, "pid"));
	cli_json_string(object, "process", info_words(use->process, "process"));
	json_object_object_foreach(use->device, part, value)
			json_object_object_add(object, part, json_object_get(value));
	return object;
}

/* One that no other process has open. @return the object, the caller's; NULL: the reason was printed. */
static struct json_object *
open_and(struct json_object *(*describe)(const char *name, const struct cli_ia_attrs *attrs),
		const char *name)
{
	struct json_object *object = NULL;
	DAT_EVD_HANDLE async_evd;
	struct cli_ia_attrs attrs;
	DAT_IA_HANDLE ia;

	if (cli_ia_open(name, &async_evd, &ia) != 0)
		return NULL;
	if (cli_ia_query(ia, &attrs) == 0)
		object = describe(name, &attrs);
	dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
	return object;
}

struct json_object *
info_adapter_describe(const char *name, struct json_object *processes)
{
	struct info_use use;

	if (info_use_find(processes, name, &use))
		return describe_used(name, &use);
	return open_and(describe_open, name);
}

static struct json_object *
summarize(const char *name, const struct cli_ia_attrs *attrs)
{
	struct json_object *object = json_object_new_object();
	char address[64];

	(void)name;
	cli_json_string(object, "driver", cli_ia_attr(attrs, "ROCE_DRIVER", "-"));
	cli_json_string(object, "address",
			cli_address(attrs->ia.ia_address_ptr, address, sizeof(address)));
	cli_json_string(object, "link", cli_ia_attr(attrs, "ROCE_LINK", "-"));
	cli_json_string(object, "hugepages", cli_ia_attr(attrs, "ROCE_HUGEPAGES", "-"));
	return object;
}

static struct json_object *
summarize_used(const struct info_use *use)
{
	struct json_object *object = json_object_new_object();
	struct json_object *port = info_member(use->device, "port");

	cli_json_string(object, "driver", info_words(port, "driver"));
	cli_json_string(object, "address", info_words(port, "ip"));
	cli_json_string(object, "link", info_number(port, "link") != 0 ? "up" : "down");
	cli_json_string(object, "hugepages", info_number(port, "hugepages") != 0 ? "yes" : "no");
	cli_json_count(object, "pid", info_number(use->process, "pid"));
	cli_json_string(object, "process", info_words(use->process, "process"));
	if (use->others > 0)
		cli_json_count(object, "others", use->others);
	return object;
}

struct json_object *
info_adapter_list(struct json_object *processes)
{
	DAT_PROVIDER_INFO info[CLI_IA_MAX];
	struct json_object *object, *one;
	int n = cli_ia_list(info);
	struct info_use use;

	if (n < 0)
		return NULL;
	object = json_object_new_object();
	for (int i = 0; i < n; i++) {
		if (info_use_find(processes, info[i].ia_name, &use))
			one = summarize_used(&use);
		else
			one = open_and(summarize, info[i].ia_name);
		/* One that cannot be opened is there, too. */
		if (one == NULL)
			one = json_object_new_object();
		add_version(one, "dapl_version", info[i].dapl_version_major,
				info[i].dapl_version_minor);
		cli_json_bool(one, "is_thread_safe", info[i].is_thread_safe);
		json_object_object_add(object, info[i].ia_name, one);
	}
	return object;
}
