/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAT_ERROR_H
#define DAT_ERROR_H

/**
 * @file
 * Return values of DAT calls.
 *
 * A DAT_RETURN is three numbers in 32 bits: the class in the two highest bits, the type in the
 * next fourteen, the subtype in the low sixteen. Success is zero. The type says what went wrong and
 * is what a program decides on; the subtype says which argument, handle or state was the reason and
 * is meant for the person who reads the message.
 *
 * The enumerators of DAT_RETURN_TYPE are already shifted into place, so that
 * DAT_GET_TYPE(ret) == DAT_INVALID_HANDLE is the right test. One value is returned without its
 * class bits: DAT_QUEUE_EMPTY of dat_evd_dequeue(), because real programs compare it directly.
 */

#include <dat/dat_platform_specific.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef DAT_UINT32 DAT_RETURN;

#define DAT_CLASS_ERROR   0x80000000
#define DAT_CLASS_WARNING 0x40000000
#define DAT_CLASS_SUCCESS 0x00000000

#define DAT_TYPE_MASK    0x3fff0000
#define DAT_SUBTYPE_MASK 0x0000ffff

/** The type of @p status: an enumerator of DAT_RETURN_TYPE. */
#define DAT_GET_TYPE(status) ((DAT_UINT32)(status)&DAT_TYPE_MASK)

/** The subtype of @p status: an enumerator of DAT_RETURN_SUBTYPE. */
#define DAT_GET_SUBTYPE(status) ((DAT_UINT32)(status)&DAT_SUBTYPE_MASK)

/** Not zero when the call did its work but has something to say. */
#define DAT_IS_WARNING(status) ((DAT_UINT32)(status)&DAT_CLASS_WARNING)

typedef enum dat_return_type {
	/** The call did what it says. */
	DAT_SUCCESS = 0x00000000,
	/** The wait ended because the Interface Adapter was closed. */
	DAT_ABORT = 0x00010000,
	/** Somebody listens on this connection qualifier already. */
	DAT_CONN_QUAL_IN_USE = 0x00020000,
	/** Memory, a queue slot or a device resource is missing. */
	DAT_INSUFFICIENT_RESOURCES = 0x00030000,
	/** The Provider found itself in a state that it cannot explain. */
	DAT_INTERNAL_ERROR = 0x00040000,
	/** A handle is null, stale, or of the wrong kind. */
	DAT_INVALID_HANDLE = 0x00050000,
	/** An argument, or a combination of arguments, is not allowed. */
	DAT_INVALID_PARAMETER = 0x00060000,
	/** The object is in a state in which this call is not allowed. */
	DAT_INVALID_STATE = 0x00070000,
	/** A length does not fit: the sizes of the two ends of a transfer, or a region of no bytes. */
	DAT_LENGTH_ERROR = 0x00080000,
	/** The Provider does not offer this optional feature. */
	DAT_MODEL_NOT_SUPPORTED = 0x00090000,
	/** No entry of the registry fits what was asked; the subtype says where the search ended. */
	DAT_PROVIDER_NOT_FOUND = 0x000a0000,
	/** The memory does not grant the access that was asked. */
	DAT_PRIVILEGES_VIOLATION = 0x000b0000,
	/** The memory belongs to another protection zone. */
	DAT_PROTECTION_VIOLATION = 0x000c0000,
	/** There is no event. */
	DAT_QUEUE_EMPTY = 0x000d0000,
	/** There is no room for another event. */
	DAT_QUEUE_FULL = 0x000e0000,
	/** The time is over. */
	DAT_TIMEOUT_EXPIRED = 0x000f0000,
	/** The name is registered already. */
	DAT_PROVIDER_ALREADY_REGISTERED = 0x00100000,
	/** An Interface Adapter of this Provider is still open. */
	DAT_PROVIDER_IN_USE = 0x00110000,
	/** The address is not of a supported family, malformed, or known to be unreachable. */
	DAT_INVALID_ADDRESS = 0x00120000,
	/** A signal ended the wait. */
	DAT_INTERRUPTED_CALL = 0x00130000,
	/** No connection qualifier is left to choose from. */
	DAT_CONN_QUAL_UNAVAILABLE = 0x00140000,
	/** The call exists in the interface but not in this Provider. */
	DAT_NOT_IMPLEMENTED = 0x0fff0000
} DAT_RETURN_TYPE;

/** The name under which DAT_PROVIDER_NOT_FOUND was known first. */
#define DAT_NAME_NOT_FOUND DAT_PROVIDER_NOT_FOUND

typedef enum dat_return_subtype {
	DAT_NO_SUBTYPE = 0,

	/* of DAT_ABORT: a signal was the reason */
	DAT_SUB_INTERRUPTED = 1,

	/* of DAT_INSUFFICIENT_RESOURCES: what ran out */
	DAT_RESOURCE_MEMORY = 2,
	DAT_RESOURCE_DEVICE = 3,
	DAT_RESOURCE_TEP = 4,  /**< transport endpoints */
	DAT_RESOURCE_TEVD = 5, /**< transport event queues */
	DAT_RESOURCE_PROTECTION_DOMAIN = 6,
	DAT_RESOURCE_MEMORY_REGION = 7,
	DAT_RESOURCE_ERROR_HANDLER = 8,
	DAT_RESOURCE_CREDITS = 9, /**< the queue is full */
	DAT_RESOURCE_SRQ = 10,

	/* of DAT_INVALID_HANDLE: the kind of handle, or its place among the arguments */
	DAT_INVALID_HANDLE_IA = 11,
	DAT_INVALID_HANDLE_EP = 12,
	DAT_INVALID_HANDLE_LMR = 13,
	DAT_INVALID_HANDLE_RMR = 14,
	DAT_INVALID_HANDLE_PZ = 15,
	DAT_INVALID_HANDLE_PSP = 16,
	DAT_INVALID_HANDLE_RSP = 17,
	DAT_INVALID_HANDLE_CR = 18,
	DAT_INVALID_HANDLE_CNO = 19,
	DAT_INVALID_HANDLE_EVD_CR = 20,
	DAT_INVALID_HANDLE_EVD_REQUEST = 21,
	DAT_INVALID_HANDLE_EVD_RECV = 22,
	DAT_INVALID_HANDLE_EVD_CONN = 23,
	DAT_INVALID_HANDLE_EVD_ASYNC = 24,
	DAT_INVALID_HANDLE_SRQ = 25,
	DAT_INVALID_HANDLE1 = 26,
	DAT_INVALID_HANDLE2 = 27,
	DAT_INVALID_HANDLE3 = 28,
	DAT_INVALID_HANDLE4 = 29,
	DAT_INVALID_HANDLE5 = 30,
	DAT_INVALID_HANDLE6 = 31,
	DAT_INVALID_HANDLE7 = 32,
	DAT_INVALID_HANDLE8 = 33,
	DAT_INVALID_HANDLE9 = 34,
	DAT_INVALID_HANDLE10 = 35,

	/* of DAT_INVALID_PARAMETER: the place of the argument, counted from one */
	DAT_INVALID_ARG1 = 36,
	DAT_INVALID_ARG2 = 37,
	DAT_INVALID_ARG3 = 38,
	DAT_INVALID_ARG4 = 39,
	DAT_INVALID_ARG5 = 40,
	DAT_INVALID_ARG6 = 41,
	DAT_INVALID_ARG7 = 42,
	DAT_INVALID_ARG8 = 43,
	DAT_INVALID_ARG9 = 44,
	DAT_INVALID_ARG10 = 45,

	/* of DAT_INVALID_STATE: the state, or what is missing */
	DAT_INVALID_STATE_EP_UNCONNECTED = 46,
	DAT_INVALID_STATE_EP_ACTCONNPENDING = 47,
	DAT_INVALID_STATE_EP_PASSCONNPENDING = 48,
	DAT_INVALID_STATE_EP_TENTCONNPENDING = 49,
	DAT_INVALID_STATE_EP_CONNECTED = 50,
	DAT_INVALID_STATE_EP_DISCONNECTED = 51,
	DAT_INVALID_STATE_EP_RESERVED = 52,
	DAT_INVALID_STATE_EP_COMPLPENDING = 53,
	DAT_INVALID_STATE_EP_DISCPENDING = 54,
	DAT_INVALID_STATE_EP_PROVIDERCONTROL = 55,
	DAT_INVALID_STATE_EP_NOTREADY = 56,
	DAT_INVALID_STATE_EP_RECV_WATERMARK = 57,
	DAT_INVALID_STATE_EP_PZ = 58,
	DAT_INVALID_STATE_EP_EVD_REQUEST = 59,
	DAT_INVALID_STATE_EP_EVD_RECV = 60,
	DAT_INVALID_STATE_EP_EVD_CONNECT = 61,
	DAT_INVALID_STATE_EP_UNCONFIGURED = 62,
	DAT_INVALID_STATE_EP_UNCONFRESERVED = 63,
	DAT_INVALID_STATE_EP_UNCONFPASSIVE = 64,
	DAT_INVALID_STATE_EP_UNCONFTENTATIVE = 65,
	DAT_INVALID_STATE_CNO_IN_USE = 66,
	DAT_INVALID_STATE_CNO_DEAD = 67,
	DAT_INVALID_STATE_EVD_OPEN = 68,
	DAT_INVALID_STATE_EVD_ENABLED = 69,
	DAT_INVALID_STATE_EVD_DISABLED = 70,
	DAT_INVALID_STATE_EVD_WAITABLE = 71,
	DAT_INVALID_STATE_EVD_UNWAITABLE = 72,
	DAT_INVALID_STATE_EVD_IN_USE = 73,
	DAT_INVALID_STATE_EVD_CONFIG_NOTIFY = 74,
	DAT_INVALID_STATE_EVD_CONFIG_SOLICITED = 75,
	DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD = 76,
	DAT_INVALID_STATE_EVD_WAITER = 77,
	DAT_INVALID_STATE_EVD_ASYNC = 78,
	DAT_INVALID_STATE_IA_IN_USE = 79,
	DAT_INVALID_STATE_LMR_IN_USE = 80,
	DAT_INVALID_STATE_LMR_FREE = 81,
	DAT_INVALID_STATE_PZ_IN_USE = 82,
	DAT_INVALID_STATE_PZ_FREE = 83,
	DAT_INVALID_STATE_SRQ_OPERATIONAL = 84,
	DAT_INVALID_STATE_SRQ_ERROR = 85,
	DAT_INVALID_STATE_SRQ_IN_USE = 86,

	/* of DAT_PRIVILEGES_VIOLATION: the right that is missing */
	DAT_PRIVILEGES_READ = 87,
	DAT_PRIVILEGES_WRITE = 88,
	DAT_PRIVILEGES_RDMA_READ = 89,
	DAT_PRIVILEGES_RDMA_WRITE = 90,

	/* of DAT_PROTECTION_VIOLATION: the access that met a foreign protection zone */
	DAT_PROTECTION_READ = 91,
	DAT_PROTECTION_WRITE = 92,
	DAT_PROTECTION_RDMA_READ = 93,
	DAT_PROTECTION_RDMA_WRITE = 94,

	/* of DAT_INVALID_ADDRESS */
	DAT_INVALID_ADDRESS_UNSUPPORTED = 95, /**< the address family is not known here */
	DAT_INVALID_ADDRESS_UNREACHABLE = 96, /**< no route leads there */
	DAT_INVALID_ADDRESS_MALFORMED = 97,   /**< no host can have this address */

	/* of DAT_PROVIDER_NOT_FOUND: how far the search came */
	DAT_NAME_NOT_REGISTERED = 98,
	DAT_MAJOR_NOT_FOUND = 99,
	DAT_MINOR_NOT_FOUND = 100,
	DAT_THREAD_SAFETY_NOT_FOUND = 101
} DAT_RETURN_SUBTYPE;

#ifdef __cplusplus
}
#endif

#endif /* DAT_ERROR_H */
