/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/version.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

TEST(version_is_three_numbers)
{
    int dots = 0;

    for (const char *p = seine_version(); *p; p++) {
        CHECK(isdigit((unsigned char)*p) || *p == '.');
        dots += *p == '.';
    }
    CHECK_EQ(dots, 2);
}

TEST(version_of_the_library_is_the_text_and_the_numbers_of_the_header)
{
    char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", SEINE_VERSION_MAJOR, SEINE_VERSION_MINOR,
             SEINE_VERSION_PATCH);
    CHECK_STR(seine_version(), text);
    CHECK_STR(SEINE_VERSION_TEXT, text);
    CHECK(SEINE_VERSION_OF(0, 1, 999) < SEINE_VERSION_OF(0, 2, 0));
    CHECK(SEINE_VERSION_OF(0, 999, 999) < SEINE_VERSION_OF(1, 0, 0));
    CHECK(SEINE_VERSION_NUMBER >= SEINE_VERSION_OF(0, 1, 0));
}

TEST(version_names_each_library_once_and_then_ends)
{
    const char *name = "untouched", *version = "untouched";
    size_t n = 0;

    for (; seine_version_library_get(n, &name, &version); n++) {
        CHECK(name[0] && version[0]);
        CHECK(isdigit((unsigned char)version[0]));
    }
    CHECK(n > 0);

    name = version = "untouched";
    CHECK(!seine_version_library_get(n, &name, &version));
    CHECK_STR(name, "untouched");
    CHECK_STR(version, "untouched");
}
