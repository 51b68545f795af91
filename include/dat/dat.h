/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAT_H
#define DAT_H

/**
 * @file
 * The part of DAT 1.2 that is common to all levels. Programs include <dat/udat.h>.
 *
 * Rules that hold for every call and are not repeated there:
 *
 * - A call returns DAT_SUCCESS or a DAT_RETURN as described in dat_error.h. A handle that is null,
 *   was freed, or is of another kind gives DAT_INVALID_HANDLE with the subtype of that kind. Using
 *   a freed handle is detected where that is possible, not always.
 * - What an OUT argument points to is undefined unless the call succeeds.
 * - The memory behind every pointer argument is the caller's. The Provider reads or writes it
 *   during the call only; the exceptions are the buffers named by the segments of a post, which
 *   must stay untouched until the operation completes.
 * - A query fills the fields named by its mask and may fill more. Unknown bits of a mask give
 *   DAT_INVALID_PARAMETER.
 * - A post neither blocks nor allocates. DAT_SUCCESS means that the operation is on its way; how
 *   it ended comes as an event.
 * - "Threads: any" means that several threads may make the call at once, for the same object too.
 *   "Threads: one per object" means that two threads may make such calls for two different objects,
 *   while for one object the caller has to take turns.
 * - A call that the loaded Provider lacks returns DAT_NOT_IMPLEMENTED.
 */

#include <dat/dat_platform_specific.h>
#include <dat/dat_error.h>
#include <dat/dat_vendor_specific.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Direction of an argument, for the reader. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

typedef enum dat_boolean {
	DAT_FALSE = 0,
	DAT_TRUE = 1
} DAT_BOOLEAN;

/** Room for a name, its terminating zero included. */
#define DAT_NAME_MAX_LENGTH 256

typedef char *DAT_NAME_PTR;

/** An attribute that is not part of the standard: two strings owned by the Provider. */
typedef struct dat_named_attr {
	const char *name;
	const char *value;
} DAT_NAMED_ATTR;

/** The Provider cannot tell this number, now or ever. */
#define DAT_VALUE_UNKNOWN (((DAT_COUNT)~0) - 1)

/* ---- Handles ---- */

/**
 * An object of the Provider. Its first word points to the Provider's table of calls, which is how
 * libdat finds the Provider; nothing else of it is public.
 */
typedef DAT_PVOID DAT_HANDLE;

typedef DAT_HANDLE DAT_CNO_HANDLE; /**< consumer notification object */
typedef DAT_HANDLE DAT_CR_HANDLE;  /**< connection request */
typedef DAT_HANDLE DAT_EP_HANDLE;  /**< endpoint */
typedef DAT_HANDLE DAT_EVD_HANDLE; /**< event dispatcher */
typedef DAT_HANDLE DAT_IA_HANDLE;  /**< open Interface Adapter */
typedef DAT_HANDLE DAT_LMR_HANDLE; /**< local memory region */
typedef DAT_HANDLE DAT_PSP_HANDLE; /**< public service point */
typedef DAT_HANDLE DAT_PZ_HANDLE;  /**< protection zone */
typedef DAT_HANDLE DAT_RMR_HANDLE; /**< remote memory region */
typedef DAT_HANDLE DAT_RSP_HANDLE; /**< reserved service point */
typedef DAT_HANDLE DAT_SRQ_HANDLE; /**< shared receive queue */

#define DAT_HANDLE_NULL ((DAT_HANDLE)NULL)

typedef enum dat_handle_type {
	DAT_HANDLE_TYPE_CR = 0,
	DAT_HANDLE_TYPE_EP = 1,
	DAT_HANDLE_TYPE_EVD = 2,
	DAT_HANDLE_TYPE_IA = 3,
	DAT_HANDLE_TYPE_LMR = 4,
	DAT_HANDLE_TYPE_PSP = 5,
	DAT_HANDLE_TYPE_PZ = 6,
	DAT_HANDLE_TYPE_RMR = 7,
	DAT_HANDLE_TYPE_RSP = 8,
	DAT_HANDLE_TYPE_CNO = 9,
	DAT_HANDLE_TYPE_SRQ = 10
} DAT_HANDLE_TYPE;

/** A word of the consumer's, carried and never looked at. */
typedef union dat_context {
	DAT_PVOID as_ptr;
	DAT_UINT64 as_64;
	DAT_UVERYLONG as_index;
} DAT_CONTEXT;

/** A value of the consumer's, which the completion of a data transfer gives back. */
typedef DAT_CONTEXT DAT_DTO_COOKIE;

/** The same, of a bind. */
typedef DAT_CONTEXT DAT_RMR_COOKIE;

/* ---- Flags and small numbers of calls ---- */

/** Microseconds. */
typedef DAT_UINT32 DAT_TIMEOUT;

#define DAT_TIMEOUT_INFINITE ((DAT_TIMEOUT)~0)

/** How a post, or the queue of an endpoint, wants its completions reported. */
typedef enum dat_completion_flags {
	/** Every completion makes an event, and the event wakes a waiter. */
	DAT_COMPLETION_DEFAULT_FLAG = 0x00,
	/** This post makes no event when it succeeds. */
	DAT_COMPLETION_SUPPRESS_FLAG = 0x01,
	/** The peer's receive of this message wakes its waiter. */
	DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x02,
	/** The event is queued and wakes nobody. */
	DAT_COMPLETION_UNSIGNALLED_FLAG = 0x04,
	/** Do not start before all earlier RDMA reads of the endpoint have finished. */
	DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x08,
	/** The threshold of dat_evd_wait() decides when the waiter wakes. */
	DAT_COMPLETION_EVD_THRESHOLD_FLAG = 0x10
} DAT_COMPLETION_FLAGS;

/** Quality of service asked of a connection. */
typedef enum dat_qos {
	DAT_QOS_BEST_EFFORT = 0x00,
	DAT_QOS_HIGH_THROUGHPUT = 0x01,
	DAT_QOS_LOW_LATENCY = 0x02,
	DAT_QOS_ECONOMY = 0x04,
	DAT_QOS_PREMIUM = 0x08
} DAT_QOS;

typedef enum dat_connect_flags {
	DAT_CONNECT_DEFAULT_FLAG = 0x00,
	DAT_CONNECT_MULTIPATH_FLAG = 0x01
} DAT_CONNECT_FLAGS;

/** How to end an Interface Adapter or a connection. */
typedef enum dat_close_flags {
	/** At once: what is under way is flushed. */
	DAT_CLOSE_ABRUPT_FLAG = 0x00,
	/** When what is under way has finished. */
	DAT_CLOSE_GRACEFUL_FLAG = 0x01
} DAT_CLOSE_FLAGS;

#define DAT_CLOSE_DEFAULT DAT_CLOSE_ABRUPT_FLAG

/** Which streams of events a dispatcher takes. */
typedef enum dat_evd_flags {
	DAT_EVD_SOFTWARE_FLAG = 0x001,
	DAT_EVD_CR_FLAG = 0x010,
	DAT_EVD_DTO_FLAG = 0x020,
	DAT_EVD_CONNECTION_FLAG = 0x040,
	DAT_EVD_RMR_BIND_FLAG = 0x080,
	DAT_EVD_ASYNC_FLAG = 0x100,
	/** All streams but software events. */
	DAT_EVD_DEFAULT_FLAG = 0x1f0
} DAT_EVD_FLAGS;

/** The side, consumer or Provider, that supplies the endpoint for a connection request on a public service point. */
typedef enum dat_psp_flags {
	DAT_PSP_CONSUMER_FLAG = 0x00, /**< the consumer, with dat_cr_accept() */
	DAT_PSP_PROVIDER_FLAG = 0x01  /**< the Provider, with the request */
} DAT_PSP_FLAGS;

/* ---- Memory ---- */

/** Names a local memory region in the segments of a post. */
typedef DAT_UINT32 DAT_LMR_CONTEXT;

/** Names memory to the peer, in the remote segment of an RDMA operation. Host byte order. */
typedef DAT_UINT32 DAT_RMR_CONTEXT;

typedef DAT_UINT64 DAT_VLEN;
typedef DAT_UINT64 DAT_VADDR;

typedef enum dat_mem_priv_flags {
	DAT_MEM_PRIV_NONE_FLAG = 0x00,
	DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x01,
	DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x02,
	DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x10,
	DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x20,
	DAT_MEM_PRIV_ALL_FLAG = 0x33
} DAT_MEM_PRIV_FLAGS;

#define DAT_MEM_PRIV_READ_FLAG  (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)
#define DAT_MEM_PRIV_WRITE_FLAG (DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/** A segment of a buffer. The 64-bit length and the pad are what 2.0 dropped. */
typedef struct dat_lmr_triplet {
	DAT_LMR_CONTEXT lmr_context;
	DAT_UINT32 pad;
	DAT_VADDR virtual_address;
	DAT_VLEN segment_length; /**< bytes */
} DAT_LMR_TRIPLET;

/** A segment of the peer's memory. */
typedef struct dat_rmr_triplet {
	DAT_RMR_CONTEXT rmr_context;
	DAT_UINT32 pad;
	DAT_VADDR target_address;
	DAT_VLEN segment_length; /**< bytes */
} DAT_RMR_TRIPLET;

typedef enum dat_lmr_param_mask {
	DAT_LMR_FIELD_IA_HANDLE = 0x001,
	DAT_LMR_FIELD_MEM_TYPE = 0x002,
	DAT_LMR_FIELD_REGION_DESC = 0x004,
	DAT_LMR_FIELD_LENGTH = 0x008,
	DAT_LMR_FIELD_PZ_HANDLE = 0x010,
	DAT_LMR_FIELD_MEM_PRIV = 0x020,
	DAT_LMR_FIELD_LMR_CONTEXT = 0x040,
	DAT_LMR_FIELD_RMR_CONTEXT = 0x080,
	DAT_LMR_FIELD_REGISTERED_SIZE = 0x100,
	DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x200,
	DAT_LMR_FIELD_ALL = 0x3ff
} DAT_LMR_PARAM_MASK;

typedef struct dat_rmr_param {
	DAT_IA_HANDLE ia_handle;
	DAT_PZ_HANDLE pz_handle;
	DAT_LMR_TRIPLET lmr_triplet; /**< of the last bind; zero when unbound */
	DAT_MEM_PRIV_FLAGS mem_priv; /**< of the last bind; zero when unbound */
	DAT_RMR_CONTEXT rmr_context; /**< of the last bind; zero when unbound */
} DAT_RMR_PARAM;

typedef enum dat_rmr_param_mask {
	DAT_RMR_FIELD_IA_HANDLE = 0x01,
	DAT_RMR_FIELD_PZ_HANDLE = 0x02,
	DAT_RMR_FIELD_LMR_TRIPLET = 0x04,
	DAT_RMR_FIELD_MEM_PRIV = 0x08,
	DAT_RMR_FIELD_RMR_CONTEXT = 0x10,
	DAT_RMR_FIELD_ALL = 0x1f
} DAT_RMR_PARAM_MASK;

typedef struct dat_pz_param {
	DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;

typedef enum dat_pz_param_mask {
	DAT_PZ_FIELD_IA_HANDLE = 0x01,
	DAT_PZ_FIELD_ALL = 0x01
} DAT_PZ_PARAM_MASK;

/* ---- What a Provider says about itself ---- */

/** The owner of the array of segments of a post between the post and its completion. */
typedef enum dat_iov_ownership {
	DAT_IOV_CONSUMER = 0x0,       /**< the consumer may reuse it at once */
	DAT_IOV_PROVIDER_NOMOD = 0x1, /**< the Provider reads it */
	DAT_IOV_PROVIDER_MOD = 0x2    /**< the Provider reads and changes it */
} DAT_IOV_OWNERSHIP;

/** Whether the Provider makes endpoints for the requests of a public service point. */
typedef enum dat_ep_creator_for_psp {
	DAT_PSP_CREATES_EP_NEVER = 0,
	DAT_PSP_CREATES_EP_IFASKED = 1,
	DAT_PSP_CREATES_EP_ALWAYS = 2
} DAT_EP_CREATOR_FOR_PSP;

/** A Provider as the registry knows it: the search key of dat_ia_openv(). */
typedef struct dat_provider_info {
	char ia_name[DAT_NAME_MAX_LENGTH];
	DAT_UINT32 dapl_version_major;
	DAT_UINT32 dapl_version_minor;
	DAT_BOOLEAN is_thread_safe;
} DAT_PROVIDER_INFO;

/** The table of calls of a Provider; its layout is in udat_redirection.h. */
typedef struct dat_provider DAT_PROVIDER;

/* ---- Interface Adapter ---- */

typedef DAT_SOCK_ADDR *DAT_IA_ADDRESS_PTR;

/** The service that a listener offers. Over RDMA IP CM the low 16 bits are the TCP port space. */
typedef DAT_UINT64 DAT_CONN_QUAL;

typedef DAT_UINT64 DAT_PORT_QUAL;

/** Identity and abilities of an Interface Adapter. Strings and pointers are the Provider's. */
typedef struct dat_ia_attr {
	char adapter_name[DAT_NAME_MAX_LENGTH];
	char vendor_name[DAT_NAME_MAX_LENGTH];
	DAT_UINT32 hardware_version_major;
	DAT_UINT32 hardware_version_minor;
	DAT_UINT32 firmware_version_major;
	DAT_UINT32 firmware_version_minor;
	DAT_IA_ADDRESS_PTR ia_address_ptr; /**< valid while the IA is open; may be written to */
	DAT_COUNT max_eps;
	DAT_COUNT max_dto_per_ep;
	DAT_COUNT max_rdma_read_per_ep_in;
	DAT_COUNT max_rdma_read_per_ep_out;
	DAT_COUNT max_evds;
	DAT_COUNT max_evd_qlen;
	DAT_COUNT max_iov_segments_per_dto;
	DAT_COUNT max_lmrs;
	DAT_VLEN max_lmr_block_size;
	DAT_VADDR max_lmr_virtual_address;
	DAT_COUNT max_pzs;
	DAT_VLEN max_message_size;
	DAT_VLEN max_rdma_size;
	DAT_COUNT max_rmrs;
	DAT_VADDR max_rmr_target_address;
	DAT_COUNT max_srqs;
	DAT_COUNT max_ep_per_srq;
	DAT_COUNT max_recv_per_srq;
	DAT_COUNT max_iov_segments_per_rdma_read;
	DAT_COUNT max_iov_segments_per_rdma_write;
	DAT_COUNT max_rdma_read_in;  /**< of all endpoints together */
	DAT_COUNT max_rdma_read_out; /**< of all endpoints together */
	DAT_BOOLEAN max_rdma_read_per_ep_in_guaranteed;
	DAT_BOOLEAN max_rdma_read_per_ep_out_guaranteed;
	DAT_COUNT num_transport_attr;
	DAT_NAMED_ATTR *transport_attr;
	DAT_COUNT num_vendor_attr;
	DAT_NAMED_ATTR *vendor_attr;
} DAT_IA_ATTR;

/* Two members had other names in DAT 1.0 and 1.1; programs of that time still compile. */
#define max_mtu_size         max_message_size
#define max_rdma_read_per_ep max_rdma_read_per_ep_in

typedef DAT_UINT64 DAT_IA_ATTR_MASK;

#define DAT_IA_FIELD_NONE                                   UINT64_C(0x000000000)
#define DAT_IA_FIELD_IA_ADAPTER_NAME                        UINT64_C(0x000000001)
#define DAT_IA_FIELD_IA_VENDOR_NAME                         UINT64_C(0x000000002)
#define DAT_IA_FIELD_IA_HARDWARE_MAJOR_VERSION              UINT64_C(0x000000004)
#define DAT_IA_FIELD_IA_HARDWARE_MINOR_VERSION              UINT64_C(0x000000008)
#define DAT_IA_FIELD_IA_FIRMWARE_MAJOR_VERSION              UINT64_C(0x000000010)
#define DAT_IA_FIELD_IA_FIRMWARE_MINOR_VERSION              UINT64_C(0x000000020)
#define DAT_IA_FIELD_IA_ADDRESS_PTR                         UINT64_C(0x000000040)
#define DAT_IA_FIELD_IA_MAX_EPS                             UINT64_C(0x000000080)
#define DAT_IA_FIELD_IA_MAX_DTO_PER_EP                      UINT64_C(0x000000100)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN             UINT64_C(0x000000200)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT            UINT64_C(0x000000400)
#define DAT_IA_FIELD_IA_MAX_EVDS                            UINT64_C(0x000000800)
#define DAT_IA_FIELD_IA_MAX_EVD_QLEN                        UINT64_C(0x000001000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_DTO            UINT64_C(0x000002000)
#define DAT_IA_FIELD_IA_MAX_LMRS                            UINT64_C(0x000004000)
#define DAT_IA_FIELD_IA_MAX_LMR_BLOCK_SIZE                  UINT64_C(0x000008000)
#define DAT_IA_FIELD_IA_MAX_LMR_VIRTUAL_ADDRESS             UINT64_C(0x000010000)
#define DAT_IA_FIELD_IA_MAX_PZS                             UINT64_C(0x000020000)
#define DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE                    UINT64_C(0x000040000)
#define DAT_IA_FIELD_IA_MAX_RDMA_SIZE                       UINT64_C(0x000080000)
#define DAT_IA_FIELD_IA_MAX_RMRS                            UINT64_C(0x000100000)
#define DAT_IA_FIELD_IA_MAX_RMR_TARGET_ADDRESS              UINT64_C(0x000200000)
#define DAT_IA_FIELD_IA_MAX_SRQS                            UINT64_C(0x000400000)
#define DAT_IA_FIELD_IA_MAX_EP_PER_SRQ                      UINT64_C(0x000800000)
#define DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ                    UINT64_C(0x001000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_READ      UINT64_C(0x002000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_WRITE     UINT64_C(0x004000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_IN                    UINT64_C(0x008000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_OUT                   UINT64_C(0x010000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN_GUARANTEED  UINT64_C(0x020000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT_GUARANTEED UINT64_C(0x040000000)
#define DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR                  UINT64_C(0x080000000)
#define DAT_IA_FIELD_IA_TRANSPORT_ATTR                      UINT64_C(0x100000000)
#define DAT_IA_FIELD_IA_NUM_VENDOR_ATTR                     UINT64_C(0x200000000)
#define DAT_IA_FIELD_IA_VENDOR_ATTR                         UINT64_C(0x400000000)
#define DAT_IA_FIELD_ALL                                    UINT64_C(0x7ffffffff)

/* Older names of the same bits. */
#define DAT_IA_ALL                     DAT_IA_FIELD_ALL
#define DAT_IA_FIELD_IA_MAX_MTU_SIZE   DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE
#define DAT_IA_FIELD_IA_MAX_DTO_PER_OP DAT_IA_FIELD_IA_MAX_DTO_PER_EP

/* ---- Endpoint ---- */

typedef enum dat_service_type {
	DAT_SERVICE_TYPE_RC = 0 /**< reliable connection */
} DAT_SERVICE_TYPE;

typedef enum dat_ep_state {
	DAT_EP_STATE_UNCONNECTED = 0,
	DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1,
	DAT_EP_STATE_RESERVED = 2, /**< waits behind a reserved service point */
	DAT_EP_STATE_UNCONFIGURED_RESERVED = 3,
	DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4, /**< a request came for a reserved one */
	DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5,
	DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6,    /**< connecting */
	DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7, /**< made by the Provider for a request */
	DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8,
	DAT_EP_STATE_CONNECTED = 9,
	DAT_EP_STATE_DISCONNECT_PENDING = 10, /**< a graceful disconnect drains the requests */
	DAT_EP_STATE_DISCONNECTED = 11,
	DAT_EP_STATE_COMPLETION_PENDING = 12 /**< accepted, not yet established */
} DAT_EP_STATE;

#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED

/** Sizes and abilities of an endpoint. A size of zero asks for the Provider's default. */
typedef struct dat_ep_attr {
	DAT_SERVICE_TYPE service_type;
	DAT_VLEN max_message_size; /**< bytes */
	DAT_VLEN max_rdma_size;    /**< bytes */
	DAT_QOS qos;
	DAT_COMPLETION_FLAGS recv_completion_flags;
	DAT_COMPLETION_FLAGS request_completion_flags;
	DAT_COUNT max_recv_dtos; /**< reported, never a limit, when receives come from an SRQ */
	DAT_COUNT max_request_dtos;
	DAT_COUNT max_recv_iov; /**< ignored when receives come from an SRQ */
	DAT_COUNT max_request_iov;
	DAT_COUNT max_rdma_read_in;
	DAT_COUNT max_rdma_read_out;
	DAT_COUNT srq_soft_hw; /**< first soft high watermark; 0 asks for the default: none */
	DAT_COUNT max_rdma_read_iov;
	DAT_COUNT max_rdma_write_iov;
	DAT_COUNT ep_transport_specific_count;
	DAT_NAMED_ATTR *ep_transport_specific;
	DAT_COUNT ep_provider_specific_count;
	DAT_NAMED_ATTR *ep_provider_specific;
} DAT_EP_ATTR;

/** Everything that can be asked of an endpoint. */
typedef struct dat_ep_param {
	DAT_IA_HANDLE ia_handle;
	DAT_EP_STATE ep_state;
	DAT_IA_ADDRESS_PTR local_ia_address_ptr; /**< the Provider's, while the endpoint lives */
	DAT_PORT_QUAL local_port_qual;
	DAT_IA_ADDRESS_PTR remote_ia_address_ptr; /**< defined while there is a peer */
	DAT_PORT_QUAL remote_port_qual;           /**< defined while there is a peer */
	DAT_PZ_HANDLE pz_handle;
	DAT_EVD_HANDLE recv_evd_handle;
	DAT_EVD_HANDLE request_evd_handle;
	DAT_EVD_HANDLE connect_evd_handle;
	DAT_SRQ_HANDLE srq_handle; /**< null when the endpoint has its own receive queue */
	DAT_EP_ATTR ep_attr;
} DAT_EP_PARAM;

typedef DAT_UINT64 DAT_EP_PARAM_MASK;

#define DAT_EP_FIELD_IA_HANDLE                        UINT64_C(0x00000001)
#define DAT_EP_FIELD_EP_STATE                         UINT64_C(0x00000002)
#define DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR             UINT64_C(0x00000004)
#define DAT_EP_FIELD_LOCAL_PORT_QUAL                  UINT64_C(0x00000008)
#define DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR            UINT64_C(0x00000010)
#define DAT_EP_FIELD_REMOTE_PORT_QUAL                 UINT64_C(0x00000020)
#define DAT_EP_FIELD_PZ_HANDLE                        UINT64_C(0x00000040)
#define DAT_EP_FIELD_RECV_EVD_HANDLE                  UINT64_C(0x00000080)
#define DAT_EP_FIELD_REQUEST_EVD_HANDLE               UINT64_C(0x00000100)
#define DAT_EP_FIELD_CONNECT_EVD_HANDLE               UINT64_C(0x00000200)
#define DAT_EP_FIELD_SRQ_HANDLE                       UINT64_C(0x00000400)
#define DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE             UINT64_C(0x00001000)
#define DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE         UINT64_C(0x00002000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE            UINT64_C(0x00004000)
#define DAT_EP_FIELD_EP_ATTR_QOS                      UINT64_C(0x00008000)
#define DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS    UINT64_C(0x00010000)
#define DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS UINT64_C(0x00020000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS            UINT64_C(0x00040000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS         UINT64_C(0x00080000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV             UINT64_C(0x00100000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV          UINT64_C(0x00200000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN         UINT64_C(0x00400000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT        UINT64_C(0x00800000)
#define DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW              UINT64_C(0x01000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV        UINT64_C(0x02000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV       UINT64_C(0x04000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR       UINT64_C(0x08000000)
#define DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR  UINT64_C(0x10000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR        UINT64_C(0x20000000)
#define DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR   UINT64_C(0x40000000)
#define DAT_EP_FIELD_EP_ATTR_ALL                      UINT64_C(0x7ffff000)
#define DAT_EP_FIELD_ALL                              UINT64_C(0x7ffff7ff)

/** A high watermark that nothing reaches. */
#define DAT_WATERMARK_INFINITE ((DAT_COUNT)~0)

/** The high watermarks of a new endpoint. */
#define DAT_HW_DEFAULT DAT_WATERMARK_INFINITE

/* ---- Shared receive queue ---- */

/** The low watermark of a new queue: none. */
#define DAT_SRQ_LW_DEFAULT 0x0

typedef enum dat_srq_state {
	DAT_SRQ_STATE_OPERATIONAL = 0,
	DAT_SRQ_STATE_ERROR = 1
} DAT_SRQ_STATE;

typedef struct dat_srq_attr {
	DAT_COUNT max_recv_dtos; /**< buffers that can be posted and not yet reaped */
	DAT_COUNT max_recv_iov;  /**< segments of one buffer */
	DAT_COUNT low_watermark; /**< DAT_SRQ_LW_DEFAULT at create */
} DAT_SRQ_ATTR;

typedef struct dat_srq_param {
	DAT_IA_HANDLE ia_handle;
	DAT_SRQ_STATE srq_state;
	DAT_PZ_HANDLE pz_handle;
	DAT_COUNT max_recv_dtos;
	DAT_COUNT max_recv_iov;
	DAT_COUNT low_watermark;         /**< last one set, whether or not its event came */
	DAT_COUNT available_dto_count;   /**< buffers an endpoint can still take */
	DAT_COUNT outstanding_dto_count; /**< buffers posted whose completion is not reaped */
} DAT_SRQ_PARAM;

typedef enum dat_srq_param_mask {
	DAT_SRQ_FIELD_IA_HANDLE = 0x01,
	DAT_SRQ_FIELD_SRQ_STATE = 0x02,
	DAT_SRQ_FIELD_PZ_HANDLE = 0x04,
	DAT_SRQ_FIELD_MAX_RECV_DTO = 0x08,
	DAT_SRQ_FIELD_MAX_RECV_IOV = 0x10,
	DAT_SRQ_FIELD_LOW_WATERMARK = 0x20,
	DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT = 0x40,
	DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT = 0x80,
	DAT_SRQ_FIELD_ALL = 0xff
} DAT_SRQ_PARAM_MASK;

/* ---- Service points and connection requests ---- */

typedef struct dat_psp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_CONN_QUAL conn_qual;
	DAT_EVD_HANDLE evd_handle;
	DAT_PSP_FLAGS psp_flags;
} DAT_PSP_PARAM;

typedef enum dat_psp_param_mask {
	DAT_PSP_FIELD_IA_HANDLE = 0x01,
	DAT_PSP_FIELD_CONN_QUAL = 0x02,
	DAT_PSP_FIELD_EVD_HANDLE = 0x04,
	DAT_PSP_FIELD_PSP_FLAGS = 0x08,
	DAT_PSP_FIELD_ALL = 0x0f
} DAT_PSP_PARAM_MASK;

typedef struct dat_rsp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_CONN_QUAL conn_qual;
	DAT_EVD_HANDLE evd_handle;
	DAT_EP_HANDLE ep_handle;
} DAT_RSP_PARAM;

typedef enum dat_rsp_param_mask {
	DAT_RSP_FIELD_IA_HANDLE = 0x01,
	DAT_RSP_FIELD_CONN_QUAL = 0x02,
	DAT_RSP_FIELD_EVD_HANDLE = 0x04,
	DAT_RSP_FIELD_EP_HANDLE = 0x08,
	DAT_RSP_FIELD_ALL = 0x0f
} DAT_RSP_PARAM_MASK;

typedef struct dat_cr_param {
	DAT_IA_ADDRESS_PTR remote_ia_address_ptr; /**< the Provider's, until the request is used */
	DAT_PORT_QUAL remote_port_qual;
	DAT_COUNT private_data_size; /**< bytes */
	DAT_PVOID private_data;      /**< the consumer may write to it until the request is used */
	DAT_EP_HANDLE local_ep_handle; /**< null unless the service point brings an endpoint */
} DAT_CR_PARAM;

typedef enum dat_cr_param_mask {
	DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x01,
	DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x02,
	DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x04,
	DAT_CR_FIELD_PRIVATE_DATA = 0x08,
	DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10,
	DAT_CR_FIELD_ALL = 0x1f
} DAT_CR_PARAM_MASK;

/* ---- Events ---- */

typedef enum dat_event_number {
	DAT_DTO_COMPLETION_EVENT = 0x00001,
	DAT_RMR_BIND_COMPLETION_EVENT = 0x01001,
	DAT_CONNECTION_REQUEST_EVENT = 0x02001,
	DAT_CONNECTION_EVENT_ESTABLISHED = 0x04001,
	DAT_CONNECTION_EVENT_PEER_REJECTED = 0x04002,
	/** No listener is there, or the listener's backlog is full. */
	DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x04003,
	DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x04004,
	DAT_CONNECTION_EVENT_DISCONNECTED = 0x04005,
	DAT_CONNECTION_EVENT_BROKEN = 0x04006,
	DAT_CONNECTION_EVENT_TIMED_OUT = 0x04007,
	/** The address does not resolve, or no path leads there. */
	DAT_CONNECTION_EVENT_UNREACHABLE = 0x04008,
	DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x08001,
	DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x08002,
	DAT_ASYNC_ERROR_EP_BROKEN = 0x08003,
	DAT_ASYNC_ERROR_TIMED_OUT = 0x08004,
	DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x08005,
	DAT_SOFTWARE_EVENT = 0x10001,
	DAT_VENDOR_EVENT_NUMBERS
} DAT_EVENT_NUMBER;

/** How a data transfer, or a bind, ended. */
typedef enum dat_dto_completion_status {
	DAT_DTO_SUCCESS = 0,
	DAT_DTO_ERR_FLUSHED = 1, /**< the connection went away before the transfer was done */
	DAT_DTO_ERR_LOCAL_LENGTH = 2,
	DAT_DTO_ERR_LOCAL_EP = 3,
	DAT_DTO_ERR_LOCAL_PROTECTION = 4,
	DAT_DTO_ERR_BAD_RESPONSE = 5,
	DAT_DTO_ERR_REMOTE_ACCESS = 6,
	DAT_DTO_ERR_REMOTE_RESPONDER = 7,
	DAT_DTO_ERR_TRANSPORT = 8,          /**< the peer did not answer, retries included */
	DAT_DTO_ERR_RECEIVER_NOT_READY = 9, /**< the peer had no buffer, retries included */
	DAT_DTO_ERR_PARTIAL_PACKET = 10,
	DAT_RMR_OPERATION_FAILED = 11
} DAT_DTO_COMPLETION_STATUS;

#define DAT_DTO_FAILURE      DAT_DTO_ERR_FLUSHED
#define DAT_DTO_LENGTH_ERROR DAT_DTO_ERR_LOCAL_LENGTH

#define DAT_RMR_BIND_COMPLETION_STATUS DAT_DTO_COMPLETION_STATUS
#define DAT_RMR_BIND_SUCCESS           DAT_DTO_SUCCESS
#define DAT_RMR_BIND_FAILURE           DAT_DTO_ERR_FLUSHED

typedef struct dat_dto_completion_event_data {
	DAT_EP_HANDLE ep_handle;
	DAT_DTO_COOKIE user_cookie;
	DAT_DTO_COMPLETION_STATUS status;
	DAT_VLEN transfered_length; /**< bytes; undefined unless the status is success */
} DAT_DTO_COMPLETION_EVENT_DATA;

typedef struct dat_rmr_bind_completion_event_data {
	DAT_RMR_HANDLE rmr_handle;
	DAT_RMR_COOKIE user_cookie;
	DAT_RMR_BIND_COMPLETION_STATUS status;
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

typedef union dat_sp_handle {
	DAT_RSP_HANDLE rsp_handle;
	DAT_PSP_HANDLE psp_handle;
} DAT_SP_HANDLE;

typedef struct dat_cr_arrival_event_data {
	DAT_SP_HANDLE sp_handle;
	DAT_IA_ADDRESS_PTR local_ia_address_ptr;
	DAT_CONN_QUAL conn_qual;
	DAT_CR_HANDLE cr_handle;
} DAT_CR_ARRIVAL_EVENT_DATA;

typedef struct dat_connection_event_data {
	DAT_EP_HANDLE ep_handle;
	DAT_COUNT private_data_size; /**< bytes the peer sent; 0 on the accepting side */
	DAT_PVOID private_data;
} DAT_CONNECTION_EVENT_DATA;

/* Reasons of asynchronous events. The kind of dat_handle says which list the number is from. */
typedef enum ia_async_error_reason {
	DAT_IA_CATASTROPHIC_ERROR = 0,
	DAT_IA_OTHER_ERROR = 1
} DAT_IA_ASYNC_ERROR_REASON;

typedef enum ep_async_error_reason {
	DAT_EP_TRANSFER_TO_ERROR = 0,
	DAT_EP_OTHER_ERROR = 1,
	DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 2
} DAT_EP_ASYNC_ERROR_REASON;

typedef enum evd_async_error_reason {
	DAT_EVD_OVERFLOW_ERROR = 0,
	DAT_EVD_OTHER_ERROR = 1
} DAT_EVD_ASYNC_ERROR_REASON;

typedef enum srq_async_error_reason {
	DAT_SRQ_TRANSFER_TO_ERROR = 0,
	DAT_SRQ_OTHER_ERROR = 1,
	DAT_SRQ_LOW_WATERMARK_EVENT = 2
} DAT_SRQ_ASYNC_ERROR_REASON;

typedef enum lmr_async_error_reason {
	DAT_LMR_OTHER_ERROR = 0
} DAT_LMR_ASYNC_ERROR_REASON;

typedef enum rmr_async_error_reason {
	DAT_RMR_OTHER_ERROR = 0
} DAT_RMR_ASYNC_ERROR_REASON;

typedef enum pz_async_error_reason {
	DAT_PZ_OTHER_ERROR = 0
} DAT_PZ_ASYNC_ERROR_REASON;

typedef struct dat_asynch_error_event_data {
	DAT_HANDLE dat_handle;
	DAT_COUNT reason;
} DAT_ASYNCH_ERROR_EVENT_DATA;

typedef struct dat_software_event_data {
	DAT_PVOID pointer; /**< what the consumer gave to dat_evd_post_se() */
} DAT_SOFTWARE_EVENT_DATA;

typedef union dat_event_data {
	DAT_DTO_COMPLETION_EVENT_DATA dto_completion_event_data;
	DAT_RMR_BIND_COMPLETION_EVENT_DATA rmr_completion_event_data;
	DAT_CR_ARRIVAL_EVENT_DATA cr_arrival_event_data;
	DAT_CONNECTION_EVENT_DATA connect_event_data;
	DAT_ASYNCH_ERROR_EVENT_DATA asynch_error_event_data;
	DAT_SOFTWARE_EVENT_DATA software_event_data;
} DAT_EVENT_DATA;

typedef struct dat_event {
	DAT_EVENT_NUMBER event_number;
	DAT_EVD_HANDLE evd_handle;
	DAT_EVENT_DATA event_data;
} DAT_EVENT;

/* ---- Any object ---- */

/**
 * Set the consumer's word of an object. There is one; the new one replaces the old.
 *
 * Threads: one per object. uDAPL 1.2 dat_set_consumer_context(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: the Provider cannot hold it.
 */
DAT_RETURN dat_set_consumer_context(IN DAT_HANDLE dat_handle, IN DAT_CONTEXT context);

/**
 * Read the consumer's word of an object. It is null until it is set.
 *
 * Threads: one per object. uDAPL 1.2 dat_get_consumer_context(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_get_consumer_context(IN DAT_HANDLE dat_handle, OUT DAT_CONTEXT *context);

/**
 * Tell which kind of object a handle is of.
 *
 * Threads: one per object. uDAPL 1.2 dat_get_handle_type(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_get_handle_type(IN DAT_HANDLE dat_handle, OUT DAT_HANDLE_TYPE *handle_type);

/* ---- Interface Adapter ---- */

/**
 * Close one open instance of an Interface Adapter. The handle is gone when the call succeeds.
 *
 * DAT_CLOSE_ABRUPT_FLAG destroys everything that was made from the instance; threads that wait on a
 * dispatcher return with DAT_ABORT, those that wait on a notification object with a null dispatcher.
 * DAT_CLOSE_GRACEFUL_FLAG refuses as long as the consumer has left anything but the asynchronous
 * dispatcher that the Provider made.
 *
 * Threads: one per object. uDAPL 1.2 dat_ia_close(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE, also when the instance was closed before;
 *   DAT_INVALID_PARAMETER: no such flag; DAT_INVALID_STATE: graceful, and objects are left;
 *   DAT_INSUFFICIENT_RESOURCES: the Provider needs memory to close.
 */
DAT_RETURN dat_ia_close(IN DAT_IA_HANDLE ia_handle, IN DAT_CLOSE_FLAGS close_flags);

/* ---- Connection request ---- */

/**
 * Read who wants to connect and what the peer sent along.
 *
 * The address and the private data are the Provider's and stay until the request is accepted,
 * rejected or handed off; the consumer may change the private data in place.
 *
 * Threads: any. uDAPL 1.2 dat_cr_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_cr_query(IN DAT_CR_HANDLE cr_handle, IN DAT_CR_PARAM_MASK cr_param_mask,
		OUT DAT_CR_PARAM *cr_param);

/**
 * Accept a connection request. The handle is gone when the call succeeds.
 *
 * @p ep_handle must be null if the request brings an endpoint (see DAT_CR_PARAM), else it names an
 * unconnected one. DAT_CONNECTION_EVENT_ESTABLISHED follows on the endpoint's connect dispatcher,
 * or DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR. The private data is copied during the call.
 *
 * Threads: one per object. uDAPL 1.2 dat_cr_accept(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: request or endpoint; DAT_INVALID_PARAMETER: an endpoint
 *   where none may be given, none where one is needed, or too much private data.
 */
DAT_RETURN dat_cr_accept(IN DAT_CR_HANDLE cr_handle, IN DAT_EP_HANDLE ep_handle,
		IN DAT_COUNT private_data_size, IN const DAT_PVOID private_data);

/**
 * Reject a connection request: the peer gets DAT_CONNECTION_EVENT_PEER_REJECTED. The handle is gone
 * when the call succeeds; an endpoint that the request brought goes back to where it came from.
 *
 * Threads: one per object. uDAPL 1.2 dat_cr_reject(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_cr_reject(IN DAT_CR_HANDLE cr_handle);

/**
 * Pass a connection request on to another connection qualifier of the same host. The handle is gone
 * when the call succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_cr_handoff(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: nobody listens there.
 */
DAT_RETURN dat_cr_handoff(IN DAT_CR_HANDLE cr_handle, IN DAT_CONN_QUAL handoff);

/* ---- Event dispatcher ---- */

/**
 * Change how many events fit into a dispatcher. No queued event is lost.
 *
 * Threads: one per object. uDAPL 1.2 dat_evd_resize(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: not a possible length;
 *   DAT_INSUFFICIENT_RESOURCES; DAT_INVALID_STATE: more events than that are queued. After a failure
 *   the length is what it was.
 */
DAT_RETURN dat_evd_resize(IN DAT_EVD_HANDLE evd_handle, IN DAT_COUNT evd_min_qlen);

/**
 * Queue a software event. The event is copied.
 *
 * Threads: one per object. uDAPL 1.2 dat_evd_post_se(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: not a software event, or a
 *   dispatcher that takes none; DAT_QUEUE_FULL: nothing was queued.
 */
DAT_RETURN dat_evd_post_se(IN DAT_EVD_HANDLE evd_handle, IN const DAT_EVENT *event);

/**
 * Take the oldest event, if there is one; never blocks.
 *
 * Threads: any. uDAPL 1.2 dat_evd_dequeue(3DAT).
 * @return DAT_SUCCESS; DAT_QUEUE_EMPTY without the class bit; DAT_INVALID_HANDLE;
 *   DAT_INVALID_PARAMETER: no place for the event; DAT_INVALID_STATE: a thread waits on the
 *   dispatcher.
 */
DAT_RETURN dat_evd_dequeue(IN DAT_EVD_HANDLE evd_handle, OUT DAT_EVENT *event);

/**
 * Destroy a dispatcher with the events in it. The handle is gone when the call succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_evd_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_STATE: an endpoint, service point or Interface
 *   Adapter still sends its events there.
 */
DAT_RETURN dat_evd_free(IN DAT_EVD_HANDLE evd_handle);

/* ---- Endpoint ---- */

/**
 * Make an endpoint with a receive queue of its own, in state DAT_EP_STATE_UNCONNECTED.
 *
 * A null dispatcher means that nobody wants those events. Null attributes ask for the Provider's
 * defaults; the attributes are copied. The endpoint belongs to the consumer until dat_ep_free().
 *
 * Threads: any. uDAPL 1.2 dat_ep_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: Interface Adapter, zone or a dispatcher;
 *   DAT_INVALID_PARAMETER: an attribute, or completion flags that cannot share a dispatcher;
 *   DAT_INSUFFICIENT_RESOURCES; DAT_MODEL_NOT_SUPPORTED: an attribute the Provider cannot offer.
 */
DAT_RETURN dat_ep_create(IN DAT_IA_HANDLE ia_handle, IN DAT_PZ_HANDLE pz_handle,
		IN DAT_EVD_HANDLE recv_completion_evd_handle,
		IN DAT_EVD_HANDLE request_completion_evd_handle,
		IN DAT_EVD_HANDLE connect_evd_handle, IN const DAT_EP_ATTR *ep_attributes,
		OUT DAT_EP_HANDLE *ep_handle);

/**
 * Make an endpoint whose receives come from a shared receive queue, for as long as it lives.
 *
 * As dat_ep_create(), except: the attributes may not be null; max_recv_iov is ignored;
 * max_recv_dtos is reported and never a limit; srq_soft_hw is the first soft high watermark, and 0
 * there means none. Zone of endpoint and queue may differ if the Provider attribute
 * srq_ep_pz_difference_supported says so: receives are validated by the queue's, all else by the
 * endpoint's.
 *
 * Threads: any. uDAPL 1.2 dat_ep_create_with_srq(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: any of the handles; DAT_INVALID_PARAMETER: an attribute,
 *   completion flags that cannot share a dispatcher, or zones that differ where they may not;
 *   DAT_INSUFFICIENT_RESOURCES, also when the queue has all the endpoints it can have;
 *   DAT_MODEL_NOT_SUPPORTED: no shared receive queues here.
 */
DAT_RETURN dat_ep_create_with_srq(IN DAT_IA_HANDLE ia_handle, IN DAT_PZ_HANDLE pz_handle,
		IN DAT_EVD_HANDLE recv_evd_handle, IN DAT_EVD_HANDLE request_evd_handle,
		IN DAT_EVD_HANDLE connect_evd_handle, IN DAT_SRQ_HANDLE srq_handle,
		IN const DAT_EP_ATTR *ep_attributes, OUT DAT_EP_HANDLE *ep_handle);

/**
 * Read parameters and attributes of an endpoint. Addresses are the Provider's and stay while the
 * endpoint lives; those of the peer are defined only while there is a peer.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_ep_query(IN DAT_EP_HANDLE ep_handle, IN DAT_EP_PARAM_MASK ep_param_mask,
		OUT DAT_EP_PARAM *ep_param);

/**
 * Read how many receive buffers an endpoint holds.
 *
 * @p nbufs_allocated counts buffers that belong to the endpoint and have no completion yet: from
 * the post, or from the moment they were taken off a shared receive queue. @p bufs_alloc_span is
 * the distance from the newest message that has completed to the newest that has a buffer. Either
 * pointer may be null; a number that is not known is DAT_VALUE_UNKNOWN.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_recv_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER; DAT_MODEL_NOT_SUPPORTED: neither
 *   number is known here, ever.
 */
DAT_RETURN dat_ep_recv_query(IN DAT_EP_HANDLE ep_handle, OUT DAT_COUNT *nbufs_allocated,
		OUT DAT_COUNT *bufs_alloc_span);

/**
 * Set and arm both high watermarks of the buffers that an endpoint holds.
 *
 * When the count exceeds the soft one for the first time, now or later, one asynchronous event
 * (DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK) tells. When it exceeds the hard one the connection
 * breaks. DAT_WATERMARK_INFINITE switches one off. Allowed in every state.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_set_watermark(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: negative and not infinite;
 *   DAT_MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_ep_set_watermark(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT soft_high_watermark,
		IN DAT_COUNT hard_high_watermark);

/**
 * Change parameters and attributes of an endpoint, all that the mask names or none.
 *
 * The attributes that may change depend on the state: the dispatchers and most attributes before there is a
 * connection, the zone when unconnected or tentative; the Interface Adapter, the state, the
 * addresses and the shared receive queue never.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_modify(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: endpoint or one in @p ep_param; DAT_INVALID_PARAMETER: a
 *   field that never changes, or a bad value; DAT_INVALID_STATE: not in this state.
 */
DAT_RETURN dat_ep_modify(IN DAT_EP_HANDLE ep_handle, IN DAT_EP_PARAM_MASK ep_param_mask,
		IN const DAT_EP_PARAM *ep_param);

/**
 * Ask a listener for a connection: an unconnected endpoint becomes
 * DAT_EP_STATE_ACTIVE_CONNECTION_PENDING.
 *
 * The answer is an event of the connect dispatcher: ESTABLISHED, PEER_REJECTED (the consumer there
 * said no), NON_PEER_REJECTED (nobody listens, or the backlog is full), UNREACHABLE (the address
 * does not resolve) or TIMED_OUT after @p timeout microseconds. Address and private data are copied.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_connect(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_STATE: not unconnected; DAT_INVALID_ADDRESS;
 *   DAT_INVALID_PARAMETER: timeout of 0, or too much private data; DAT_INSUFFICIENT_RESOURCES;
 *   DAT_MODEL_NOT_SUPPORTED: quality of service or flags.
 */
DAT_RETURN
dat_ep_connect(IN DAT_EP_HANDLE ep_handle, IN DAT_IA_ADDRESS_PTR remote_ia_address,
		IN DAT_CONN_QUAL remote_conn_qual, IN DAT_TIMEOUT timeout,
		IN DAT_COUNT private_data_size, IN const DAT_PVOID private_data,
		IN DAT_QOS quality_of_service, IN DAT_CONNECT_FLAGS connect_flags);

/**
 * As dat_ep_connect(), to the peer and connection qualifier of the connected @p ep_dup_handle.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_dup_connect(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: either endpoint; DAT_INVALID_STATE: the first is not
 *   unconnected, or the second not connected; DAT_INVALID_PARAMETER; DAT_INSUFFICIENT_RESOURCES;
 *   DAT_MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_ep_dup_connect(IN DAT_EP_HANDLE ep_handle, IN DAT_EP_HANDLE ep_dup_handle,
		IN DAT_TIMEOUT timeout, IN DAT_COUNT private_data_size,
		IN const DAT_PVOID private_data, IN DAT_QOS quality_of_service);

/**
 * End a connection, or the attempt to make one.
 *
 * Abrupt flushes what is under way; graceful lets the posted requests finish first, in state
 * DAT_EP_STATE_DISCONNECT_PENDING, which a later abrupt call cuts short. In state
 * DAT_EP_STATE_DISCONNECTED nothing happens. DAT_CONNECTION_EVENT_DISCONNECTED follows the
 * completions where one dispatcher takes both.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_disconnect(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: no such flag; DAT_INVALID_STATE:
 *   there is neither a connection nor an own attempt; DAT_INSUFFICIENT_RESOURCES.
 */
DAT_RETURN dat_ep_disconnect(IN DAT_EP_HANDLE ep_handle, IN DAT_CLOSE_FLAGS close_flags);

/**
 * Send a message.
 *
 * @p local_iov names the buffers in order; no segments send an empty message. The array itself may
 * be reused at once if the Provider attribute iov_ownership_on_return is DAT_IOV_CONSUMER, else
 * with the buffers at completion. On a disconnected endpoint the completion is
 * DAT_DTO_ERR_FLUSHED.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_post_send(3DAT).
 * @return DAT_SUCCESS; DAT_INSUFFICIENT_RESOURCES: the queue is full; DAT_INVALID_HANDLE;
 *   DAT_INVALID_PARAMETER: number of segments, bounds of a region, or flags; DAT_INVALID_STATE:
 *   neither connected nor disconnected; DAT_LENGTH_ERROR: longer than a message may be;
 *   DAT_PROTECTION_VIOLATION: memory of another zone; DAT_PRIVILEGES_VIOLATION: memory without the
 *   right.
 */
DAT_RETURN dat_ep_post_send(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN DAT_COMPLETION_FLAGS completion_flags);

/**
 * Give a buffer for one message to the endpoint's own receive queue. Allowed in every state; on a
 * disconnected endpoint the completion is DAT_DTO_ERR_FLUSHED.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_post_recv(3DAT).
 * @return DAT_SUCCESS; DAT_INSUFFICIENT_RESOURCES: the queue is full; DAT_INVALID_HANDLE;
 *   DAT_INVALID_PARAMETER: number of segments, bounds of a region, or flags; DAT_INVALID_STATE: the
 *   endpoint takes its buffers from a shared receive queue; DAT_PROTECTION_VIOLATION: memory of
 *   another zone; DAT_PRIVILEGES_VIOLATION: memory without local write.
 */
DAT_RETURN dat_ep_post_recv(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN DAT_COMPLETION_FLAGS completion_flags);

/**
 * Read from one segment of the peer's memory into local buffers.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_post_rdma_read(3DAT).
 * @return DAT_SUCCESS; DAT_INSUFFICIENT_RESOURCES: the queue is full; DAT_INVALID_HANDLE;
 *   DAT_INVALID_PARAMETER; DAT_INVALID_STATE: neither connected nor disconnected; DAT_LENGTH_ERROR:
 *   the remote segment is longer than the local ones; DAT_PROTECTION_VIOLATION;
 *   DAT_PRIVILEGES_VIOLATION: local memory without local write.
 */
DAT_RETURN dat_ep_post_rdma_read(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN const DAT_RMR_TRIPLET *remote_iov, IN DAT_COMPLETION_FLAGS completion_flags);

/**
 * Write local buffers into one segment of the peer's memory. The last byte is placed last.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_post_rdma_write(3DAT).
 * @return DAT_SUCCESS; DAT_INSUFFICIENT_RESOURCES: the queue is full; DAT_INVALID_HANDLE;
 *   DAT_INVALID_PARAMETER; DAT_INVALID_STATE: neither connected nor disconnected; DAT_LENGTH_ERROR:
 *   the local segments are longer than the remote one; DAT_PROTECTION_VIOLATION;
 *   DAT_PRIVILEGES_VIOLATION.
 */
DAT_RETURN dat_ep_post_rdma_write(IN DAT_EP_HANDLE ep_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie,
		IN const DAT_RMR_TRIPLET *remote_iov, IN DAT_COMPLETION_FLAGS completion_flags);

/**
 * Read the state of an endpoint, and whether anything is outstanding on its two queues.
 *
 * Threads: any. uDAPL 1.2 dat_ep_get_status(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_ep_get_status(IN DAT_EP_HANDLE ep_handle, OUT DAT_EP_STATE *ep_state,
		OUT DAT_BOOLEAN *recv_idle, OUT DAT_BOOLEAN *request_idle);

/**
 * Destroy an endpoint. A connection is broken; completions that are queued already may stay. The
 * handle is gone when the call succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_STATE: reserved, or part of a connection
 *   request that is not answered.
 */
DAT_RETURN dat_ep_free(IN DAT_EP_HANDLE ep_handle);

/**
 * Make a disconnected endpoint unconnected, ready for another connection. Its attributes, its
 * dispatchers and its shared receive queue stay; completions not yet dequeued may be dropped.
 *
 * Threads: one per object. uDAPL 1.2 dat_ep_reset(3DAT).
 * @return DAT_SUCCESS, also when unconnected already; DAT_INVALID_HANDLE; DAT_INVALID_STATE.
 */
DAT_RETURN dat_ep_reset(IN DAT_EP_HANDLE ep_handle);

/* ---- Memory ---- */

/**
 * Make a protection zone. It belongs to the consumer until dat_pz_free().
 *
 * Threads: any. uDAPL 1.2 dat_pz_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: null pointer;
 *   DAT_INSUFFICIENT_RESOURCES.
 */
DAT_RETURN dat_pz_create(IN DAT_IA_HANDLE ia_handle, OUT DAT_PZ_HANDLE *pz_handle);

/**
 * Read the parameters of a protection zone.
 *
 * Threads: any. uDAPL 1.2 dat_pz_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_pz_query(IN DAT_PZ_HANDLE pz_handle, IN DAT_PZ_PARAM_MASK pz_param_mask,
		OUT DAT_PZ_PARAM *pz_param);

/**
 * Destroy a protection zone. The handle is gone when the call succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_pz_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_STATE: an endpoint, memory region or shared
 *   receive queue is in it.
 */
DAT_RETURN dat_pz_free(IN DAT_PZ_HANDLE pz_handle);

/**
 * Forget a local memory region; the memory goes back to its owner. The handle is gone when the call
 * succeeds. Transfers still under way that use the region fail.
 *
 * Threads: one per object. uDAPL 1.2 dat_lmr_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_STATE: a remote memory region is bound to it.
 */
DAT_RETURN dat_lmr_free(IN DAT_LMR_HANDLE lmr_handle);

/**
 * Make what the consumer wrote to memory visible to an incoming RDMA read. Needed only where the
 * Provider attribute lmr_sync_req is DAT_TRUE.
 *
 * Threads: one per object. uDAPL 1.2 dat_lmr_sync_rdma_read(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: a segment is not in a region.
 */
DAT_RETURN dat_lmr_sync_rdma_read(IN DAT_IA_HANDLE ia_handle,
		IN const DAT_LMR_TRIPLET *local_segments, IN DAT_VLEN num_segments);

/**
 * Make what an incoming RDMA write placed in memory visible to the consumer. Needed only where the
 * Provider attribute lmr_sync_req is DAT_TRUE.
 *
 * Threads: one per object. uDAPL 1.2 dat_lmr_sync_rdma_write(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: a segment is not in a region.
 */
DAT_RETURN dat_lmr_sync_rdma_write(IN DAT_IA_HANDLE ia_handle,
		IN const DAT_LMR_TRIPLET *local_segments, IN DAT_VLEN num_segments);

/**
 * Make a remote memory region: a window that can be bound to parts of local regions. It is unbound,
 * and belongs to the consumer until dat_rmr_free().
 *
 * Threads: any. uDAPL 1.2 dat_rmr_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INSUFFICIENT_RESOURCES.
 */
DAT_RETURN dat_rmr_create(IN DAT_PZ_HANDLE pz_handle, OUT DAT_RMR_HANDLE *rmr_handle);

/**
 * Read the parameters of a remote memory region. The triplet, privileges and context of an unbound
 * one are zero.
 *
 * Threads: one per object. uDAPL 1.2 dat_rmr_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_rmr_query(IN DAT_RMR_HANDLE rmr_handle, IN DAT_RMR_PARAM_MASK rmr_param_mask,
		OUT DAT_RMR_PARAM *rmr_param);

/**
 * Bind a remote memory region to a part of a local one, or unbind it with a length of zero.
 *
 * The bind is a request of the endpoint and holds back the requests posted after it. It completes
 * with DAT_RMR_BIND_COMPLETION_EVENT; from then on the old context is worthless and the new one may
 * be given to the peer.
 *
 * Threads: one per object. uDAPL 1.2 dat_rmr_bind(3DAT).
 * @return DAT_SUCCESS; DAT_INSUFFICIENT_RESOURCES: the queue is full; DAT_INVALID_HANDLE: region or
 *   endpoint; DAT_INVALID_PARAMETER; DAT_INVALID_STATE: the endpoint is neither connected nor
 *   disconnected; DAT_PROTECTION_VIOLATION: zones differ; DAT_PRIVILEGES_VIOLATION: the local
 *   region does not grant what the window should; DAT_MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_rmr_bind(IN DAT_RMR_HANDLE rmr_handle, IN const DAT_LMR_TRIPLET *lmr_triplet,
		IN DAT_MEM_PRIV_FLAGS mem_priv, IN DAT_EP_HANDLE ep_handle,
		IN DAT_RMR_COOKIE user_cookie, IN DAT_COMPLETION_FLAGS completion_flags,
		OUT DAT_RMR_CONTEXT *context);

/**
 * Destroy a remote memory region, bound or not. The handle is gone when the call succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_rmr_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_rmr_free(IN DAT_RMR_HANDLE rmr_handle);

/* ---- Service points ---- */

/**
 * Listen on a connection qualifier. Each request comes as DAT_CONNECTION_REQUEST_EVENT; the length
 * of the dispatcher is the backlog. The service point is the consumer's until dat_psp_free().
 *
 * Threads: any. uDAPL 1.2 dat_psp_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: Interface Adapter or dispatcher; DAT_INVALID_PARAMETER;
 *   DAT_CONN_QUAL_IN_USE; DAT_INSUFFICIENT_RESOURCES; DAT_MODEL_NOT_SUPPORTED: the Provider does
 *   not make endpoints, or makes them always.
 */
DAT_RETURN
dat_psp_create(IN DAT_IA_HANDLE ia_handle, IN DAT_CONN_QUAL conn_qual, IN DAT_EVD_HANDLE evd_handle,
		IN DAT_PSP_FLAGS psp_flags, OUT DAT_PSP_HANDLE *psp_handle);

/**
 * As dat_psp_create(), with a free connection qualifier chosen by the Provider.
 *
 * Threads: any. uDAPL 1.2 dat_psp_create_any(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: Interface Adapter or dispatcher; DAT_INVALID_PARAMETER;
 *   DAT_CONN_QUAL_UNAVAILABLE: none is free; DAT_INSUFFICIENT_RESOURCES; DAT_MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_psp_create_any(IN DAT_IA_HANDLE ia_handle, OUT DAT_CONN_QUAL *conn_qual,
		IN DAT_EVD_HANDLE evd_handle, IN DAT_PSP_FLAGS psp_flags,
		OUT DAT_PSP_HANDLE *psp_handle);

/**
 * Read the parameters of a public service point.
 *
 * Threads: any. uDAPL 1.2 dat_psp_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_psp_query(IN DAT_PSP_HANDLE psp_handle, IN DAT_PSP_PARAM_MASK psp_param_mask,
		OUT DAT_PSP_PARAM *psp_param);

/**
 * Stop listening. Requests that arrived before stay valid. The handle is gone when the call
 * succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_psp_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_psp_free(IN DAT_PSP_HANDLE psp_handle);

/**
 * Listen for one request, to be answered with @p ep_handle, which becomes DAT_EP_STATE_RESERVED. The
 * service point is the consumer's until dat_rsp_free().
 *
 * Threads: any. uDAPL 1.2 dat_rsp_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: any of the handles; DAT_INVALID_PARAMETER;
 *   DAT_INVALID_STATE: the endpoint is not unconnected; DAT_CONN_QUAL_IN_USE;
 *   DAT_INSUFFICIENT_RESOURCES.
 */
DAT_RETURN
dat_rsp_create(IN DAT_IA_HANDLE ia_handle, IN DAT_CONN_QUAL conn_qual, IN DAT_EP_HANDLE ep_handle,
		IN DAT_EVD_HANDLE evd_handle, OUT DAT_RSP_HANDLE *rsp_handle);

/**
 * Read the parameters of a reserved service point.
 *
 * Threads: any. uDAPL 1.2 dat_rsp_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_rsp_query(IN DAT_RSP_HANDLE rsp_handle, IN DAT_RSP_PARAM_MASK rsp_param_mask,
		OUT DAT_RSP_PARAM *rsp_param);

/**
 * Stop listening; an endpoint still reserved becomes unconnected. The handle is gone when the call
 * succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_rsp_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE.
 */
DAT_RETURN dat_rsp_free(IN DAT_RSP_HANDLE rsp_handle);

/* ---- Shared receive queue ---- */

/**
 * Make a shared receive queue: operational, empty, no endpoint on it. It belongs to the consumer
 * until dat_srq_free(); the attributes are copied.
 *
 * The queue has at least the size asked for; dat_srq_query() tells the size it got. low_watermark
 * must be DAT_SRQ_LW_DEFAULT, since any other value would be undercut by an empty queue at once.
 *
 * Threads: any. uDAPL 1.2 dat_srq_create(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: Interface Adapter or zone; DAT_INVALID_PARAMETER: an
 *   attribute, or null pointers; DAT_INSUFFICIENT_RESOURCES; DAT_MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_srq_create(IN DAT_IA_HANDLE ia_handle, IN DAT_PZ_HANDLE pz_handle,
		IN DAT_SRQ_ATTR *srq_attr, OUT DAT_SRQ_HANDLE *srq_handle);

/**
 * Destroy a shared receive queue. Buffers that are still posted go back to the consumer without a
 * completion. The handle is gone when the call succeeds.
 *
 * Threads: one per object. uDAPL 1.2 dat_srq_free(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_STATE with subtype
 *   DAT_INVALID_STATE_SRQ_IN_USE: an endpoint uses it, and nothing has changed.
 */
DAT_RETURN dat_srq_free(IN DAT_SRQ_HANDLE srq_handle);

/**
 * Give a buffer for one message to all endpoints of a shared receive queue. The endpoint that takes
 * it reports the completion, with the cookie unchanged. No segments make a buffer for an empty
 * message.
 *
 * Threads: any, which is more than the standard promises. uDAPL 1.2 dat_srq_post_recv(3DAT).
 * @return DAT_SUCCESS; DAT_INSUFFICIENT_RESOURCES: as many buffers are outstanding as the queue has
 *   room for; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: number of segments, or bounds of a region;
 *   DAT_PROTECTION_VIOLATION: memory of another zone; DAT_PRIVILEGES_VIOLATION: memory without
 *   local write.
 */
DAT_RETURN dat_srq_post_recv(IN DAT_SRQ_HANDLE srq_handle, IN DAT_COUNT num_segments,
		IN DAT_LMR_TRIPLET *local_iov, IN DAT_DTO_COOKIE user_cookie);

/**
 * Read the parameters of a shared receive queue. A count that is not known is DAT_VALUE_UNKNOWN.
 *
 * Threads: one per object; endpoints may take buffers meanwhile. uDAPL 1.2 dat_srq_query(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: mask or pointer.
 */
DAT_RETURN dat_srq_query(IN DAT_SRQ_HANDLE srq_handle, IN DAT_SRQ_PARAM_MASK srq_param_mask,
		OUT DAT_SRQ_PARAM *srq_param);

/**
 * Change the size of a shared receive queue. No buffer and no message is lost; endpoints may be
 * receiving.
 *
 * Threads: one per object; endpoints may take buffers meanwhile. uDAPL 1.2 dat_srq_resize(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: not a possible size;
 *   DAT_INVALID_STATE: smaller than the number outstanding or than the low watermark;
 *   DAT_INSUFFICIENT_RESOURCES. After a failure the size is what it was.
 */
DAT_RETURN dat_srq_resize(IN DAT_SRQ_HANDLE srq_handle, IN DAT_COUNT srq_max_recv_dto);

/**
 * Set and arm the low watermark of a shared receive queue.
 *
 * When fewer buffers than that are available, now or after a later take, one asynchronous event
 * (DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK) tells. Each call arms for one event. Zero disarms.
 *
 * Threads: one per object; endpoints may take buffers meanwhile. uDAPL 1.2 dat_srq_set_lw(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER: negative, or above the size of the
 *   queue; DAT_MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_srq_set_lw(IN DAT_SRQ_HANDLE srq_handle, IN DAT_COUNT low_watermark);

/* ---- Messages ---- */

/**
 * Give the names of the type and the subtype of a returned value. The strings are constants.
 *
 * Threads: any. uDAPL 1.2 dat_strerror(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER: a null pointer (subtype DAT_INVALID_ARG2 or
 *   DAT_INVALID_ARG3), or a type or subtype that does not exist (DAT_INVALID_ARG1).
 */
DAT_RETURN
dat_strerror(IN DAT_RETURN value, OUT const char **major_message, OUT const char **minor_message);

#ifdef __cplusplus
}
#endif

#endif /* DAT_H */
