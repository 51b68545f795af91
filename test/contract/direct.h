/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_DIRECT_H
#define TEST_CONTRACT_DIRECT_H

/**
 * @file
 * The calls of DAT 2.0 without the registry between: each name stands for the provider's function. An adapter is the
 * object here, not its number (provider_handle()).
 */

#include <stdarg.h>

#include "../vdev/dat_abi20.h"

/** Of the provider under test; to be set. */
static const DAT_PROVIDER *table;

static inline DAT_RETURN
direct_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP operation, ...)
{
	DAT_RETURN rc;
	va_list args;

	va_start(args, operation);
	rc = table->handle_extendedop_func(handle, operation, args);
	va_end(args);
	return rc;
}

/* The registry wants to know the version, too. */
#define dat_ia_openv(name, min_qlen, async, ia, major, minor, threadsafe) \
	(table->ia_open_func(name, min_qlen, async, ia))
#define dat_extension_op direct_extension_op

#define dat_ia_query                     (table->ia_query_func)
#define dat_ia_close                     (table->ia_close_func)
#define dat_set_consumer_context         (table->set_consumer_context_func)
#define dat_get_consumer_context         (table->get_consumer_context_func)
#define dat_get_handle_type              (table->get_handle_type_func)
#define dat_cno_create                   (table->cno_create_func)
#define dat_cno_modify_agent             (table->cno_modify_agent_func)
#define dat_cno_query                    (table->cno_query_func)
#define dat_cno_free                     (table->cno_free_func)
#define dat_cno_wait                     (table->cno_wait_func)
#define dat_cr_query                     (table->cr_query_func)
#define dat_cr_accept                    (table->cr_accept_func)
#define dat_cr_reject                    (table->cr_reject_func)
#define dat_cr_handoff                   (table->cr_handoff_func)
#define dat_evd_create                   (table->evd_create_func)
#define dat_evd_query                    (table->evd_query_func)
#define dat_evd_modify_cno               (table->evd_modify_cno_func)
#define dat_evd_enable                   (table->evd_enable_func)
#define dat_evd_disable                  (table->evd_disable_func)
#define dat_evd_wait                     (table->evd_wait_func)
#define dat_evd_resize                   (table->evd_resize_func)
#define dat_evd_post_se                  (table->evd_post_se_func)
#define dat_evd_dequeue                  (table->evd_dequeue_func)
#define dat_evd_free                     (table->evd_free_func)
#define dat_evd_set_unwaitable           (table->evd_set_unwaitable_func)
#define dat_evd_clear_unwaitable         (table->evd_clear_unwaitable_func)
#define dat_ep_create                    (table->ep_create_func)
#define dat_ep_create_with_srq           (table->ep_create_with_srq_func)
#define dat_ep_query                     (table->ep_query_func)
#define dat_ep_modify                    (table->ep_modify_func)
#define dat_ep_connect                   (table->ep_connect_func)
#define dat_ep_dup_connect               (table->ep_dup_connect_func)
#define dat_ep_disconnect                (table->ep_disconnect_func)
#define dat_ep_post_send                 (table->ep_post_send_func)
#define dat_ep_post_recv                 (table->ep_post_recv_func)
#define dat_ep_post_rdma_read            (table->ep_post_rdma_read_func)
#define dat_ep_post_rdma_write           (table->ep_post_rdma_write_func)
#define dat_ep_get_status                (table->ep_get_status_func)
#define dat_ep_free                      (table->ep_free_func)
#define dat_ep_reset                     (table->ep_reset_func)
#define dat_ep_recv_query                (table->ep_recv_query_func)
#define dat_ep_set_watermark             (table->ep_set_watermark_func)
#define dat_lmr_create                   (table->lmr_create_func)
#define dat_lmr_query                    (table->lmr_query_func)
#define dat_lmr_free                     (table->lmr_free_func)
#define dat_lmr_sync_rdma_read           (table->lmr_sync_rdma_read_func)
#define dat_lmr_sync_rdma_write          (table->lmr_sync_rdma_write_func)
#define dat_rmr_create                   (table->rmr_create_func)
#define dat_rmr_query                    (table->rmr_query_func)
#define dat_rmr_bind                     (table->rmr_bind_func)
#define dat_rmr_free                     (table->rmr_free_func)
#define dat_psp_create                   (table->psp_create_func)
#define dat_psp_create_any               (table->psp_create_any_func)
#define dat_psp_query                    (table->psp_query_func)
#define dat_psp_free                     (table->psp_free_func)
#define dat_rsp_create                   (table->rsp_create_func)
#define dat_rsp_query                    (table->rsp_query_func)
#define dat_rsp_free                     (table->rsp_free_func)
#define dat_pz_create                    (table->pz_create_func)
#define dat_pz_query                     (table->pz_query_func)
#define dat_pz_free                      (table->pz_free_func)
#define dat_srq_create                   (table->srq_create_func)
#define dat_srq_free                     (table->srq_free_func)
#define dat_srq_post_recv                (table->srq_post_recv_func)
#define dat_srq_query                    (table->srq_query_func)
#define dat_srq_resize                   (table->srq_resize_func)
#define dat_srq_set_lw                   (table->srq_set_lw_func)
#define dat_csp_create                   (table->csp_create_func)
#define dat_csp_query                    (table->csp_query_func)
#define dat_csp_free                     (table->csp_free_func)
#define dat_ep_common_connect            (table->ep_common_connect_func)
#define dat_rmr_create_for_ep            (table->rmr_create_for_ep_func)
#define dat_ep_post_send_with_invalidate (table->ep_post_send_with_invalidate_func)
#define dat_ep_post_rdma_read_to_rmr     (table->ep_post_rdma_read_to_rmr_func)
#define dat_cno_fd_create                (table->cno_fd_create_func)
#define dat_cno_trigger                  (table->cno_trigger_func)
#define dat_ia_ha_related                (table->ia_ha_related_func)

#endif
