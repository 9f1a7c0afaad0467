/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and queries, one pair a line, counted in one tree. */
#include <stdlib.h>
#include <string.h>

#include "text/trap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
count(sn_trap_tree *t, sn_str path, sn_str query, uint32_t all)
{
    char out[SN_TRAP_ROOM];
    sn_trap_kind kind;
    uint32_t times;
    size_t len = sn_trap_pattern(path, query, out, &kind);
    const char *rule = sn_trap_shape(path, query);

    REQUIRE(len <= SN_TRAP_ROOM && (!rule || *rule));
    REQUIRE(kind.varies || (kind.params == 0 && query.len == 0));
    REQUIRE(sn_trap_count(t, (sn_str){out, len}, &times) == SEINE_OK);
    REQUIRE(times >= 1 && times <= all);
    REQUIRE(sn_trap_counted(t, (sn_str){out, len}) == times);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str rest = {(const char *)bytes, n}, line, path, query;
    sn_trap_tree *t = sn_trap_tree_new();
    uint32_t all = 0;

    REQUIRE(t);
    while (sn_str_next(&rest, '\n', &line)) {
        size_t at = sn_str_find(line, '?');
        path = sn_str_slice(line, 0, at);
        query = sn_str_slice(line, at + (at < line.len), line.len);
        if (path.len > 0 && path.ptr[0] == '/')
            count(t, path, query, ++all);
    }
    sn_trap_tree_free(t);
    return 0;
}
