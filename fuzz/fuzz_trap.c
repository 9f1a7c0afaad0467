/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and queries, one pair a line: their patterns, families and residues. */
#include <stdlib.h>
#include <string.h>

#include "text/trap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
look(sn_str path, sn_str query)
{
    char out[SN_TRAP_ROOM], wide[SN_TRAP_ROOM];
    sn_trap_kind kind;
    size_t len = sn_trap_pattern(path, query, out, &kind), n;
    const char *rule = sn_trap_shape(path);

    REQUIRE(len <= SN_TRAP_ROOM && (!rule || *rule));
    REQUIRE(kind.varies || (kind.params == 0 && query.len == 0));
    sn_trap_family family = sn_trap_family_of(path, (sn_str){out, len}, &kind, wide, &n);
    REQUIRE(n > 0 && n <= SN_TRAP_ROOM);
    REQUIRE((family == SN_TRAP_SHAPE) == (rule != NULL));
    REQUIRE(sn_trap_excess_of(path, query, &kind) <= SN_TRAP_OVER);
    sn_trap_residue residues[SN_TRAP_RESIDUES];
    sn_trap_child child;
    REQUIRE(sn_trap_residues(path, query, &kind, residues) <= SN_TRAP_RESIDUES);
    REQUIRE(!sn_trap_segment(path, 1, &child) || sn_trap_segment(path, 0, &child));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str rest = {(const char *)bytes, n}, line, path, query;

    while (sn_str_next(&rest, '\n', &line)) {
        size_t at = sn_str_find(line, '?');
        path = sn_str_slice(line, 0, at);
        query = sn_str_slice(line, at + (at < line.len), line.len);
        if (path.len > 0 && path.ptr[0] == '/')
            look(path, query);
    }
    return 0;
}
