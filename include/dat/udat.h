/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UDAT_H
#define UDAT_H

/**
 * @file
 * DAT 1.2 for user programs: the one header to include.
 *
 * The rules at the head of dat.h hold here as well. This part adds what only user programs have:
 * waiting, notification objects, the registration of virtual memory, and the registry.
 */

#include <dat/udat_config.h>
#include <dat/dat_platform_specific.h>
#include <dat/dat.h>
#include <dat/udat_vendor_specific.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the memory of a region is described to dat_lmr_create(). */
typedef enum dat_mem_type {
	DAT_MEM_TYPE_VIRTUAL = 0x00,       /**< an address of the process */
	DAT_MEM_TYPE_LMR = 0x01,           /**< the memory of an existing region */
	DAT_MEM_TYPE_SHARED_VIRTUAL = 0x02 /**< memory shared with other processes */
} DAT_MEM_TYPE;

/** Bytes in the name that processes agree on for shared memory. */
#define DAT_LMR_COOKIE_SIZE 40

typedef char (*DAT_LMR_COOKIE)[DAT_LMR_COOKIE_SIZE];

typedef struct dat_shared_memory {
	DAT_PVOID virtual_address;
	DAT_LMR_COOKIE shared_memory_id;
} DAT_SHARED_MEMORY;

/** Which member counts is told by the DAT_MEM_TYPE that travels with it. */
typedef union dat_region_description {
	DAT_PVOID for_va;
	DAT_LMR_HANDLE for_lmr_handle;
	DAT_SHARED_MEMORY for_shared_memory;
} DAT_REGION_DESCRIPTION;

typedef struct dat_lmr_param {
	DAT_IA_HANDLE ia_handle;
	DAT_MEM_TYPE mem_type;
	DAT_REGION_DESCRIPTION region_desc;
	DAT_VLEN length; /**< bytes, as asked */
	DAT_PZ_HANDLE pz_handle;
	DAT_MEM_PRIV_FLAGS mem_priv;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VLEN registered_size; /**< bytes, may be more than asked */
	DAT_VADDR registered_address;
} DAT_LMR_PARAM;

/** A function that the Provider calls when a notification object is triggered. */
typedef void (*DAT_AGENT_FUNC)(DAT_PVOID instance_data, DAT_EVD_HANDLE evd_handle);

typedef struct dat_os_wait_proxy_agent {
	DAT_PVOID instance_data; /**< first argument of the function */
	DAT_AGENT_FUNC proxy_agent_func;
} DAT_OS_WAIT_PROXY_AGENT;

/** No agent. */
#ifdef __cplusplus
#define DAT_OS_WAIT_PROXY_AGENT_NULL (DAT_OS_WAIT_PROXY_AGENT{ NULL, NULL })
#else
#define DAT_OS_WAIT_PROXY_AGENT_NULL \
	((DAT_OS_WAIT_PROXY_AGENT){ (DAT_PVOID)NULL, (DAT_AGENT_FUNC)NULL })
#endif

typedef struct dat_cno_param {
	DAT_IA_HANDLE ia_handle;
	DAT_OS_WAIT_PROXY_AGENT agent;
} DAT_CNO_PARAM;

typedef enum dat_cno_param_mask {
	DAT_CNO_FIELD_IA_HANDLE = 0x1,
	DAT_CNO_FIELD_AGENT = 0x2,
	DAT_CNO_FIELD_ALL = 0x3
} DAT_CNO_PARAM_MASK;

/** A dispatcher is in one state of each pair, and has at most one configuration. */
typedef enum dat_evd_state {
	DAT_EVD_STATE_ENABLED = 0x01,
	DAT_EVD_STATE_DISABLED = 0x02,
	DAT_EVD_STATE_WAITABLE = 0x04,
	DAT_EVD_STATE_UNWAITABLE = 0x08,
	DAT_EVD_STATE_CONFIG_NOTIFY = 0x10,
	DAT_EVD_STATE_CONFIG_SOLICITED = 0x20,
	DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30
} DAT_EVD_STATE;

typedef struct dat_evd_param {
	DAT_IA_HANDLE ia_handle;
	DAT_COUNT evd_qlen;
	DAT_EVD_STATE evd_state;
	DAT_CNO_HANDLE cno_handle;
	DAT_EVD_FLAGS evd_flags;
} DAT_EVD_PARAM;

typedef enum dat_evd_param_mask {
	DAT_EVD_FIELD_IA_HANDLE = 0x01,
	DAT_EVD_FIELD_EVD_QLEN = 0x02,
	DAT_EVD_FIELD_EVD_STATE = 0x04,
	DAT_EVD_FIELD_CNO = 0x08,
	DAT_EVD_FIELD_EVD_FLAGS = 0x10,
	DAT_EVD_FIELD_ALL = 0x1f
} DAT_EVD_PARAM_MASK;

/** For dat_ia_openv(): another instance has the asynchronous dispatcher, make none. */
#define DAT_EVD_ASYNC_EXISTS ((DAT_EVD_HANDLE)0x1)

/** From dat_ia_openv(): that dispatcher cannot be reached from this process. */
#define DAT_EVD_OUT_OF_SCOPE ((DAT_EVD_HANDLE)0x2)

/** Bytes; buffers aligned like this never share a cache line with anything else. */
#define DAT_OPTIMAL_ALIGNMENT 256

typedef enum dat_pz_support {
	DAT_PZ_UNIQUE = 0,   /**< an endpoint and its memory must be in one zone */
	DAT_PZ_SHAREABLE = 1 /**< a zone may have several endpoints */
} DAT_PZ_SUPPORT;

/* The standard makes one member constant; C++ could not declare a variable of such a type. */
#ifdef __cplusplus
#define DAT_PROVIDER_ATTR_CONST
#else
#define DAT_PROVIDER_ATTR_CONST const
#endif

/** Attributes of a Provider. Strings and pointers are the Provider's. */
typedef struct dat_provider_attr {
	char provider_name[DAT_NAME_MAX_LENGTH];
	DAT_UINT32 provider_version_major;
	DAT_UINT32 provider_version_minor;
	DAT_UINT32 dapl_version_major;
	DAT_UINT32 dapl_version_minor;
	DAT_MEM_TYPE lmr_mem_types_supported;
	DAT_IOV_OWNERSHIP iov_ownership_on_return;
	DAT_QOS dat_qos_supported;
	DAT_COMPLETION_FLAGS completion_flags_supported;
	DAT_BOOLEAN is_thread_safe;
	DAT_COUNT max_private_data_size; /**< bytes */
	DAT_BOOLEAN supports_multipath;
	DAT_EP_CREATOR_FOR_PSP ep_creator;
	DAT_PZ_SUPPORT pz_support;
	DAT_UINT32 optimal_buffer_alignment; /**< bytes */
	/** Which two streams may share a dispatcher: software, CR, DTO, connection, bind, async. */
	DAT_PROVIDER_ATTR_CONST DAT_BOOLEAN evd_stream_merging_supported[6][6];
	DAT_BOOLEAN srq_supported;
	DAT_COUNT srq_watermarks_supported; /**< 0x001 low, 0x010 soft high, 0x100 hard high */
	DAT_BOOLEAN srq_ep_pz_difference_supported;
	DAT_COUNT srq_info_supported;     /**< 0x01 available count, 0x10 outstanding count */
	DAT_COUNT ep_recv_info_supported; /**< 0x01 number of buffers, 0x10 span */
	DAT_BOOLEAN lmr_sync_req;
	DAT_BOOLEAN dto_async_return_guaranteed;
	DAT_BOOLEAN rdma_write_for_rdma_read_req;
	DAT_COUNT num_provider_specific_attr;
	DAT_NAMED_ATTR *provider_specific_attr;
} DAT_PROVIDER_ATTR;

typedef DAT_UINT64 DAT_PROVIDER_ATTR_MASK;

#define DAT_PROVIDER_FIELD_NONE                           UINT64_C(0x0000000)
#define DAT_PROVIDER_FIELD_PROVIDER_NAME                  UINT64_C(0x0000001)
#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MAJOR         UINT64_C(0x0000002)
#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MINOR         UINT64_C(0x0000004)
#define DAT_PROVIDER_FIELD_DAPL_VERSION_MAJOR             UINT64_C(0x0000008)
#define DAT_PROVIDER_FIELD_DAPL_VERSION_MINOR             UINT64_C(0x0000010)
#define DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED         UINT64_C(0x0000020)
#define DAT_PROVIDER_FIELD_IOV_OWNERSHIP                  UINT64_C(0x0000040)
#define DAT_PROVIDER_FIELD_DAT_QOS_SUPPORTED              UINT64_C(0x0000080)
#define DAT_PROVIDER_FIELD_COMPLETION_FLAGS_SUPPORTED     UINT64_C(0x0000100)
#define DAT_PROVIDER_FIELD_IS_THREAD_SAFE                 UINT64_C(0x0000200)
#define DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE          UINT64_C(0x0000400)
#define DAT_PROVIDER_FIELD_SUPPORTS_MULTIPATH             UINT64_C(0x0000800)
#define DAT_PROVIDER_FIELD_EP_CREATOR                     UINT64_C(0x0001000)
#define DAT_PROVIDER_FIELD_PZ_SUPPORT                     UINT64_C(0x0002000)
#define DAT_PROVIDER_FIELD_OPTIMAL_BUFFER_ALIGNMENT       UINT64_C(0x0004000)
#define DAT_PROVIDER_FIELD_EVD_STREAM_MERGING_SUPPORTED   UINT64_C(0x0008000)
#define DAT_PROVIDER_FIELD_SRQ_SUPPORTED                  UINT64_C(0x0010000)
#define DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED       UINT64_C(0x0020000)
#define DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED UINT64_C(0x0040000)
#define DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED             UINT64_C(0x0080000)
#define DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED         UINT64_C(0x0100000)
#define DAT_PROVIDER_FIELD_LMR_SYNC_REQ                   UINT64_C(0x0200000)
#define DAT_PROVIDER_FIELD_DTO_ASYNC_RETURN_GUARANTEED    UINT64_C(0x0400000)
#define DAT_PROVIDER_FIELD_RDMA_WRITE_FOR_RDMA_READ_REQ   UINT64_C(0x0800000)
#define DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR     UINT64_C(0x1000000)
#define DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR         UINT64_C(0x2000000)
#define DAT_PROVIDER_FIELD_ALL                            UINT64_C(0x3ffffff)

/* ---- Registry and Interface Adapter ---- */

/**
 * Open an instance of the Interface Adapter @p name.
 *
 * The registry finds the Provider: among those registered, and in dat.conf(5). An entry fits when
 * name and major version are equal and its minor version is the one asked for or a later one. It
 * must be thread safe if @p thread_safety asks for that. The exact minor version is preferred, then
 * the highest.
 *
 * The value of *@p async_evd_handle decides about asynchronous events: null makes the Provider
 * create a dispatcher for at least @p async_evd_min_qlen events and store it there;
 * DAT_EVD_ASYNC_EXISTS makes none; a dispatcher of another instance is used and stays the
 * consumer's. The first open of an adapter must pass null. The instance is the consumer's until
 * dat_ia_close().
 *
 * Threads: any. uDAPL 1.2 dat_ia_openv(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER: name or pointers, or the Provider refuses its
 *   configuration; DAT_INVALID_HANDLE: the dispatcher; DAT_INSUFFICIENT_RESOURCES;
 *   DAT_PROVIDER_NOT_FOUND with subtype DAT_NAME_NOT_REGISTERED, DAT_MAJOR_NOT_FOUND,
 *   DAT_MINOR_NOT_FOUND or DAT_THREAD_SAFETY_NOT_FOUND for what has no match, or without a subtype
 *   when the Provider's library does not load; anything else the Provider's open returns.
 */
DAT_RETURN dat_ia_openv(IN const DAT_NAME_PTR name, IN DAT_COUNT async_evd_min_qlen,
		INOUT DAT_EVD_HANDLE *async_evd_handle, OUT DAT_IA_HANDLE *ia_handle,
		IN DAT_UINT32 major, IN DAT_UINT32 minor, IN DAT_BOOLEAN thread_safety);

/** dat_ia_openv() with the version of this header and the thread safety of udat_config.h. */
#define dat_ia_open(name, qlen, async_evd, ia)                                                \
	dat_ia_openv((name), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, DAT_VERSION_MINOR, \
			DAT_THREADSAFE)

/**
 * Read the asynchronous dispatcher and the attributes of an Interface Adapter and of its Provider.
 * A pointer may be null when its mask is zero.
 *
 * Threads: any. uDAPL 1.2 dat_ia_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_ia_query(IN DAT_IA_HANDLE ia_handle, OUT DAT_EVD_HANDLE *async_evd_handle,
		IN DAT_IA_ATTR_MASK ia_attr_mask, OUT DAT_IA_ATTR *ia_attr,
		IN DAT_PROVIDER_ATTR_MASK provider_attr_mask, OUT DAT_PROVIDER_ATTR *provider_attr);

/**
 * List what dat_ia_openv() can find: the entries of dat.conf(5), then the registered Providers.
 *
 * @p list is an array of pointers to @p max_to_return structures of the caller, which are filled.
 * When the call succeeds or the list is too small, @p entries_returned is the number there is.
 *
 * Threads: any. uDAPL 1.2 dat_registry_list_providers(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER: the list is too small, zero included (subtype
 *   DAT_INVALID_ARG1), null (DAT_INVALID_ARG3), or nowhere to put the number (DAT_INVALID_ARG2);
 *   DAT_INTERNAL_ERROR: no memory to read dat.conf.
 */
DAT_RETURN dat_registry_list_providers(IN DAT_COUNT max_to_return, OUT DAT_COUNT *entries_returned,
		OUT DAT_PROVIDER_INFO *(list[]));

/* ---- Notification object ---- */

/**
 * Make a notification object: one place to wait for several dispatchers. It belongs to the consumer
 * until dat_cno_free().
 *
 * Threads: any. uDAPL 1.2 dat_cno_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: agent or pointer;
 *   DAT_INSUFFICIENT_RESOURCES.
 */
DAT_RETURN dat_cno_create(IN DAT_IA_HANDLE ia_handle, IN DAT_OS_WAIT_PROXY_AGENT agent,
		OUT DAT_CNO_HANDLE *cno_handle);

/**
 * Replace the agent of a notification object; DAT_OS_WAIT_PROXY_AGENT_NULL removes it.
 *
 * Threads: one per object. uDAPL 1.2 dat_cno_modify_agent(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: agent.
 */
DAT_RETURN
dat_cno_modify_agent(IN DAT_CNO_HANDLE cno_handle, IN DAT_OS_WAIT_PROXY_AGENT agent);

/**
 * Read the parameters of a notification object.
 *
 * Threads: one per object. uDAPL 1.2 dat_cno_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_cno_query(IN DAT_CNO_HANDLE cno_handle, IN DAT_CNO_PARAM_MASK cno_param_mask,
		OUT DAT_CNO_PARAM *cno_param);

/**
 * Destroy a notification object. The handle is gone when the call succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_cno_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_STATE: a dispatcher refers to it, or a thread
 *   waits on it.
 */
DAT_RETURN dat_cno_free(IN DAT_CNO_HANDLE cno_handle);

/**
 * Wait until a dispatcher of a notification object has an event, at most @p timeout microseconds.
 * The dispatcher returned is a hint: look at all of them.
 *
 * Threads: any. uDAPL 1.2 dat_cno_wait(3DAT).
 * @return DAT_SUCCESS, with a null dispatcher when the Interface Adapter was closed meanwhile;
 *   DAT_QUEUE_EMPTY: the time is over; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER;
 *   DAT_INTERRUPTED_CALL: a handler of a signal ran in this thread.
 */
DAT_RETURN
dat_cno_wait(IN DAT_CNO_HANDLE cno_handle, IN DAT_TIMEOUT timeout, OUT DAT_EVD_HANDLE *evd_handle);

/* ---- Event dispatcher ---- */

/**
 * Make a dispatcher, enabled and waitable, for at least @p evd_min_qlen events of the streams in
 * @p evd_flags. @p cno_handle may be null. It belongs to the consumer until dat_evd_free().
 *
 * Threads: any. uDAPL 1.2 dat_evd_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: Interface Adapter or notification object;
 *   DAT_INVALID_PARAMETER: length, flags or pointer; DAT_INSUFFICIENT_RESOURCES;
 *   DAT_MODEL_NOT_SUPPORTED: these streams cannot share a dispatcher.
 */
DAT_RETURN
dat_evd_create(IN DAT_IA_HANDLE ia_handle, IN DAT_COUNT evd_min_qlen, IN DAT_CNO_HANDLE cno_handle,
		IN DAT_EVD_FLAGS evd_flags, OUT DAT_EVD_HANDLE *evd_handle);

/**
 * Read the parameters of a dispatcher.
 *
 * Threads: one per object. uDAPL 1.2 dat_evd_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_evd_query(IN DAT_EVD_HANDLE evd_handle, IN DAT_EVD_PARAM_MASK evd_param_mask,
		OUT DAT_EVD_PARAM *evd_param);

/**
 * Attach a dispatcher to another notification object; null detaches it.
 *
 * Threads: one per object. uDAPL 1.2 dat_evd_modify_cno(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: dispatcher or notification object.
 */
DAT_RETURN dat_evd_modify_cno(IN DAT_EVD_HANDLE evd_handle, IN DAT_CNO_HANDLE cno_handle);

/**
 * Let the events of a dispatcher trigger its notification object again.
 *
 * Threads: any. uDAPL 1.2 dat_evd_enable(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_evd_enable(IN DAT_EVD_HANDLE evd_handle);

/**
 * Keep the events of a dispatcher from triggering its notification object. Events still queue.
 *
 * Threads: any. uDAPL 1.2 dat_evd_disable(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_evd_disable(IN DAT_EVD_HANDLE evd_handle);

/**
 * Wait until @p threshold events are queued, at most @p timeout microseconds, then take the oldest.
 *
 * One thread may wait on a dispatcher at a time. A timeout of zero only looks. The number of events
 * that remain is stored in @p n_more_events, after a timeout too.
 *
 * Threads: any. uDAPL 1.2 dat_evd_wait(3DAT).
 * @return DAT_SUCCESS; DAT_TIMEOUT_EXPIRED; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: threshold
 *   below one or above the length, or pointers; DAT_INVALID_STATE: another thread waits, the
 *   dispatcher is or becomes unwaitable, or its streams allow no threshold but one; DAT_ABORT: the
 *   Interface Adapter was closed; DAT_INTERRUPTED_CALL: a handler of a signal ran in this thread.
 */
DAT_RETURN dat_evd_wait(IN DAT_EVD_HANDLE evd_handle, IN DAT_TIMEOUT timeout,
		IN DAT_COUNT threshold, OUT DAT_EVENT *event, OUT DAT_COUNT *n_more_events);

/**
 * Make a dispatcher unwaitable: a thread that waits returns with DAT_INVALID_STATE. Events still
 * queue, and dat_evd_dequeue() and the notification object still work.
 *
 * Threads: any. uDAPL 1.2 dat_evd_set_unwaitable(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_evd_set_unwaitable(IN DAT_EVD_HANDLE evd_handle);

/**
 * Make a dispatcher waitable again.
 *
 * Threads: any. uDAPL 1.2 dat_evd_clear_unwaitable(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_evd_clear_unwaitable(IN DAT_EVD_HANDLE evd_handle);

/* ---- Memory ---- */

/**
 * Register memory as a local region. The memory stays the consumer's and must stay mapped until
 * dat_lmr_free().
 *
 * @p lmr_context names the region in local segments, @p rmr_context names it to a peer; the latter
 * is zero unless @p privileges has a remote right. The region may start earlier and be
 * longer than asked; @p registered_length and @p registered_address tell.
 *
 * Threads: any. uDAPL 1.2 dat_lmr_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: Interface Adapter, zone or region; DAT_LENGTH_ERROR: no
 *   bytes; DAT_INVALID_PARAMETER; DAT_INVALID_STATE: the other region or the zone cannot be used;
 *   DAT_INSUFFICIENT_RESOURCES; DAT_MODEL_NOT_SUPPORTED: memory type.
 */
DAT_RETURN dat_lmr_create(IN DAT_IA_HANDLE ia_handle, IN DAT_MEM_TYPE mem_type,
		IN DAT_REGION_DESCRIPTION region_description, IN DAT_VLEN length,
		IN DAT_PZ_HANDLE pz_handle, IN DAT_MEM_PRIV_FLAGS privileges,
		OUT DAT_LMR_HANDLE *lmr_handle, OUT DAT_LMR_CONTEXT *lmr_context,
		OUT DAT_RMR_CONTEXT *rmr_context, OUT DAT_VLEN *registered_length,
		OUT DAT_VADDR *registered_address);

/**
 * Read the parameters of a local memory region.
 *
 * Threads: one per object. uDAPL 1.2 dat_lmr_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_lmr_query(IN DAT_LMR_HANDLE lmr_handle, IN DAT_LMR_PARAM_MASK lmr_param_mask,
		OUT DAT_LMR_PARAM *lmr_param);

#ifdef __cplusplus
}
#endif

#endif /* UDAT_H */
