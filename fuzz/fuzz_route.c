/* SPDX-License-Identifier: Apache-2.0 */
/* A target and a body, separated by a newline: a path leads to a route or nowhere, its
 * parameters hold nothing that a file system would obey, and any query and any body are
 * read or refused with one answer. */
#include <stdlib.h>
#include <string.h>

#include "console/api_call.h"
#include "console/request_rules.h"
#include "console/traceparent.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_param(sn_str p)
{
    REQUIRE(p.len > 0 && p.len <= 256);
    REQUIRE(!memchr(p.ptr, '/', p.len) && !memchr(p.ptr, '\\', p.len) &&
            !memchr(p.ptr, 0, p.len));
    REQUIRE(!sn_str_eq(p, SN_STR("..")) && !sn_str_eq(p, SN_STR(".")));
    REQUIRE(sn_utf8_valid(p));
}

static void
read_all(sn_call *call)
{
    sn_str text = {NULL, 0};
    uint64_t number = 0;

    if (sn_call_query(call, "after", &text))
        REQUIRE(sn_utf8_valid(text));
    bool is_read = sn_call_query_u64(call, "limit", 1, 200, 50, &number);
    REQUIRE(is_read ? number >= 1 && number <= 200 : call->reply.status == 400);
    if (!is_read)
        return;
    const seine_json *body = sn_call_object(call);
    REQUIRE(body || call->reply.status == 400);
    if (!body)
        return;
    text = (sn_str){NULL, 0};
    is_read = sn_call_member_text(call, body, "name", false, 40, &text) &&
              sn_call_member_u64(call, body, "version", false, 1000, &number);
    REQUIRE(is_read || call->reply.status == 400);
    REQUIRE(text.len <= 40);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_request_rules rules;
    sn_route_match m = {.route = NULL};
    sn_call call;
    sn_str all = {(const char *)bytes, n}, target;

    sn_call_init(&call);
    sn_str_cut(all, '\n', &target, &call.body);
    sn_str_cut(target, '?', &call.path, &call.query);
    if (sn_request_rules_init(&rules, "127.0.0.1:1", NULL) == SEINE_OK) {
        int status = sn_request_rules_host(&rules, target);

        REQUIRE(status == 421 || sn_str_eq_nocase(target, SN_STR("127.0.0.1:1")) ||
                sn_str_eq_nocase(target, SN_STR("localhost:1")));
        (void)sn_request_rules_unsafe(target, call.body);
    }
    for (sn_method method = SN_GET; method <= SN_METHODS; method++)
        if (sn_route_find(method, call.path, &call.arena, &m) == SN_ROUTE_FOUND) {
            REQUIRE(m.route && m.route->role >= SN_ROLE_NONE);
            for (size_t i = 0; i < SN_ROUTE_PARAMS && m.param[i].ptr; i++)
                check_param(m.param[i]);
        }
    uint8_t trace[16], parent[8];
    REQUIRE(!sn_traceparent_read(target, trace, parent) || target.len >= 55);
    read_all(&call);
    sn_call_fini(&call);
    return 0;
}
