/* SPDX-License-Identifier: Apache-2.0 */
/* routes_runs.h - rows of the routes table (route.h): runs, records and exports. */
#ifndef SN_ROUTES_RUNS_H
#define SN_ROUTES_RUNS_H

/* clang-format off */
#define SN_ROUTES_RUNS(X)                                                             \
    X(GET, "/api/runs", VIEWER, sn_api_runs, 0)                                       \
    X(POST, "/api/runs", EDITOR, sn_api_run_start, 65536)                             \
    X(GET, "/api/runs/{id}", VIEWER, sn_api_run, 0)                                   \
    X(DELETE, "/api/runs/{id}", ADMIN, sn_api_run_delete, 0)                          \
    X(POST, "/api/runs/{id}/pause", EDITOR, sn_api_run_pause, 1024)                   \
    X(POST, "/api/runs/{id}/resume", EDITOR, sn_api_run_resume, 1024)                 \
    X(POST, "/api/runs/{id}/cancel", EDITOR, sn_api_run_cancel, 1024)                 \
    X(PATCH, "/api/runs/{id}/limits", EDITOR, sn_api_run_limits, 4096)                \
    X(POST, "/api/runs/{id}/retry", EDITOR, sn_api_run_retry, 4096)                   \
    X(GET, "/api/runs/{id}/series", VIEWER, sn_api_run_series, 0)                     \
    X(GET, "/api/runs/{id}/hosts", VIEWER, sn_api_run_hosts, 0)                       \
    X(GET, "/api/runs/{id}/hosts/{host}", VIEWER, sn_api_run_host, 0)                 \
    X(POST, "/api/runs/{id}/hosts/{host}/reset", EDITOR, sn_api_run_host_reset, 1024) \
    X(GET, "/api/runs/{id}/errors", VIEWER, sn_api_run_errors, 0)                     \
    X(GET, "/api/runs/{id}/skips", VIEWER, sn_api_run_skips, 0)                       \
    X(GET, "/api/runs/{id}/log", VIEWER, sn_api_run_log, 0)                           \
    X(GET, "/api/runs/{id}/explain", VIEWER, sn_api_run_explain, 0)                   \
    X(GET, "/api/runs/{id}/records", VIEWER, sn_api_records, 0)                       \
    X(GET, "/api/runs/{id}/records/{seq}", VIEWER, sn_api_record, 0)                  \
    X(GET, "/api/runs/{id}/records/{seq}/source", VIEWER, sn_api_record_source, 0)    \
    X(POST, "/api/runs/{id}/export", VIEWER, sn_api_export, 8192)
/* clang-format on */

#endif
