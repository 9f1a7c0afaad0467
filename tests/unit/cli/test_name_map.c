/* SPDX-License-Identifier: Apache-2.0 */
#include "check/name_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

TEST(name_map_finds_what_was_set)
{
    enum { MANY = 5000 };
    static char names[MANY][16];
    name_map m = {.room = 0};

    CHECK_EQ(name_map_get(&m, "a"), NAME_MAP_NONE);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "name %u", i);
        name_map_set(&m, names[i], i);
    }
    for (uint32_t i = 0; i < MANY; i++)
        CHECK_EQ(name_map_get(&m, names[i]), i);
    CHECK_EQ(name_map_get(&m, "name 5000"), NAME_MAP_NONE);
    CHECK_EQ(m.count, MANY);
    name_map_set(&m, names[7], 70);
    CHECK_EQ(name_map_get(&m, "name 7"), 70);
    CHECK_EQ(m.count, MANY);
    name_map_free(&m);
    CHECK_EQ(name_map_get(&m, "name 7"), NAME_MAP_NONE);
}

/* The longest row of slots that are taken. */
static size_t
longest_run(const name_map *m)
{
    size_t most = 0, run = 0;

    for (size_t i = 0; i < m->room; i++) {
        run = m->names[i] ? run + 1 : 0;
        most = run > most ? run : most;
    }
    return most;
}

TEST(name_map_spreads_names_that_were_chosen_to_meet)
{
    enum { MANY = 500, ALIKE = 1023 };
    static char names[MANY][24];
    name_map m = {.room = 0};
    uint32_t found = 0;

    /* names whose hashes without a secret end alike */
    for (uint32_t i = 0; found < MANY; i++) {
        snprintf(names[found], sizeof names[found], "/page/%u", i);
        CHECK(i < 10000000);
        if ((name_hash(names[found], strlen(names[found])) & ALIKE) != 0)
            continue;
        name_map_set(&m, names[found], found);
        found++;
    }
    CHECK_EQ(m.count, MANY);
    CHECK(longest_run(&m) < MANY / 2);
    name_map_free(&m);
}

TEST(name_hash_is_that_of_the_bytes)
{
    CHECK(name_hash("ab", 2) == name_hash("abc", 2));
    CHECK(name_hash("ab", 2) != name_hash("ba", 2));
    CHECK(name_hash("", 0) != name_hash("a", 1));
}
