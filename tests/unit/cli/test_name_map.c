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
    name_map m = {NULL, NULL, 0, 0};

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

TEST(name_hash_is_that_of_the_bytes)
{
    CHECK(name_hash("ab", 2) == name_hash("abc", 2));
    CHECK(name_hash("ab", 2) != name_hash("ba", 2));
    CHECK(name_hash("", 0) != name_hash("a", 1));
}
