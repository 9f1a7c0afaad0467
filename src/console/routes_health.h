/* SPDX-License-Identifier: Apache-2.0 */
/* routes_health.h - rows of the routes table (route.h): health checks and metrics. */
#ifndef SN_ROUTES_HEALTH_H
#define SN_ROUTES_HEALTH_H

/* clang-format off */
#define SN_ROUTES_HEALTH(X)                                  \
    X(GET, "/livez", NONE, sn_api_livez, 0)                  \
    X(GET, "/readyz", NONE, sn_api_readyz, 0)                \
    X(GET, "/readyz/{check}", VIEWER, sn_api_readyz_check, 0) \
    X(GET, "/healthz", NONE, sn_api_readyz, 0)               \
    X(GET, "/metrics", VIEWER, sn_api_metrics, 0)
/* clang-format on */

#endif
