/* SPDX-License-Identifier: Apache-2.0 */
#include "text/file_names.h"

#include <string.h>

#include "check.h"

enum { MOST = 8 };

/* Gives names to URLs that are their own natural names, forwards or backwards. */
static void
give(const char *const *natural, size_t n, bool backwards, sn_arena *arena,
     sn_str out[MOST])
{
    static const char *const keys[MOST] = {"k0", "k1", "k2", "k3",
                                           "k4", "k5", "k6", "k7"};
    sn_file_claim c[MOST];

    for (size_t i = 0; i < n; i++) {
        size_t at = backwards ? n - 1 - i : i;

        c[i] = (sn_file_claim){.key = sn_str_of(keys[at]),
                               .natural = sn_str_of(natural[at])};
    }
    CHECK_EQ(sn_file_names_give(c, n, arena), SEINE_OK);
    for (size_t i = 0; i < n; i++)
        out[backwards ? n - 1 - i : i] = c[i].name;
}

TEST(file_names_are_the_natural_ones_unless_they_collide)
{
    static const struct {
        const char *natural[MOST];
        const char *mask; /* n: natural, o: another */
    } rows[] = {
        {{"h/a", "h/b", "h/c/d"}, "nnn"},
        {{"h/a", "h/a", "h/a"}, "noo"},     /* the first by its key */
        {{"h/A.html", "h/a.html"}, "no"},   /* case does not count */
        {{"h/x", "h/x/y", "h/x-z"}, "onn"}, /* x is a directory */
        {{"h/x", "h/X/y"}, "on"},           /* also in another case */
        {{"h/x", "h/x", "h/x/y/z"}, "oon"}, /* none of them is a file */
        {{"h/x", "h/x!/y", "h/x0"}, "nnn"},
    };

    EACH_ROW(i, rows) {
        sn_arena arena;
        sn_str got[MOST], other[MOST];
        size_t n = strlen(rows[i].mask);

        sn_arena_init(&arena, 4096, 1 << 20);
        give(rows[i].natural, n, false, &arena, got);
        give(rows[i].natural, n, true, &arena, other);
        for (size_t j = 0; j < n; j++) {
            CHECK_EQ(sn_str_eq(got[j], sn_str_of(rows[i].natural[j])),
                     rows[i].mask[j] == 'n');
            CHECK(sn_str_eq(got[j], other[j])); /* the order plays no part */
        }
        sn_arena_fini(&arena);
    }
}
