/* SPDX-License-Identifier: Apache-2.0 */
/* routes_system.h - rows of the routes table (route.h): pages, session, tokens, system.
 */
#ifndef SN_ROUTES_SYSTEM_H
#define SN_ROUTES_SYSTEM(X)                                          \
    X(GET, "/", NONE, sn_api_page, 0)                                \
    X(GET, "/assets/{file}", NONE, sn_api_asset, 0)                  \
    X(GET, "/favicon.svg", NONE, sn_api_icon, 0)                     \
    X(GET, "/ws", NONE, sn_api_ws, 0)                                \
    X(GET, "/ws/echo", NONE, sn_api_ws_echo, 0)                      \
    X(GET, "/dl/{ticket}", NONE, sn_api_download, 0)                 \
    X(POST, "/api/once", NONE, sn_api_once, 1024)                    \
    X(GET, "/api/session", VIEWER, sn_api_session, 0)                \
    X(GET, "/api/system", VIEWER, sn_api_system, 0)                  \
    X(GET, "/api/logs", VIEWER, sn_api_logs, 0)                      \
    X(GET, "/api/tokens", ADMIN, sn_api_tokens, 0)                   \
    X(POST, "/api/tokens", ADMIN, sn_api_token_new, 65536)           \
    X(DELETE, "/api/tokens/{id}", ADMIN, sn_api_token_revoke, 65536) \
    X(GET, "/api/audit", ADMIN, sn_api_audit, 0)
/* clang-format on */

#endif
