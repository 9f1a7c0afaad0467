/* SPDX-License-Identifier: Apache-2.0 */
#include "options/foreign.h"

#include <string.h>

#include "check.h"

TEST(foreign_names_are_there_once_and_lead_to_an_option_or_a_hint)
{
    for (const foreign *f = foreign_rows; f->name; f++) {
        CHECK((f->ours == NULL) != (f->hint == NULL));
        CHECK(foreign_find(f->name, strlen(f->name)) == f);
    }
}

TEST(foreign_name_that_nobody_uses_is_none)
{
    CHECK(foreign_find("retr", 4) == NULL);
    CHECK(foreign_find("", 0) == NULL);
}
