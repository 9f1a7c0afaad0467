/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/advisory.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "crate/advisory_db.h"

static const char critical[] = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";

static advisory *
entry(const char *id, const char *alias, unsigned kinds)
{
    advisory *a = advisory_new(id);

    a->kinds = kinds;
    if (alias)
        advisory_add_id(a, alias);
    return a;
}

TEST(advisory_entries_that_share_an_id_are_one)
{
    advisory_list list = {0};

    advisory_list_give(&list, entry("GHSA-1", "CVE-1", ADVISORY_VULNERABILITY));
    advisory_list_give(&list, entry("RUSTSEC-2", "CVE-2", ADVISORY_UNSOUND));
    CHECK_EQ(list.count, 2);
    /* One that knows both makes them one; RustSec's name comes first. */
    advisory *both = entry("CVE-1", "RUSTSEC-2", ADVISORY_NOTICE);
    advisory_rate(both, critical, strlen(critical));
    advisory_list_give(&list, both);
    CHECK_EQ(list.count, 1);
    CHECK_STR(list.items[0]->ids[0], "RUSTSEC-2");
    CHECK_EQ(list.items[0]->n_ids, 4);
    CHECK_EQ(list.items[0]->tenths, 98);
    CHECK_STR(advisory_kind(list.items[0]), "vulnerability");
    CHECK_EQ(advisory_score(&list).vulnerabilities, 1);
    CHECK_EQ(advisory_score(&list).hundredths, 50);
    advisory_list_fini(&list);
}

TEST(advisory_score_never_falls_below_zero)
{
    advisory_list list = {0};
    char id[8];

    for (int i = 0; i < 50; i++) {
        snprintf(id, sizeof id, "X-%d", i);
        advisory_list_give(&list, entry(id, NULL, ADVISORY_VULNERABILITY));
    }
    CHECK_EQ(advisory_score(&list).vulnerabilities, 50);
    CHECK_EQ(advisory_score(&list).hundredths, 0);
    advisory_list_fini(&list);
}

TEST(advisory_unmaintained_alone_is_not_listed)
{
    advisory_list list = {0};

    advisory_list_give(&list, entry("X-1", NULL, ADVISORY_UNMAINTAINED));
    CHECK(!advisory_is_listed(list.items[0]));
    CHECK(advisory_unmaintained(&list) == list.items[0]);
    CHECK_EQ(advisory_score(&list).hundredths, 100);
    advisory_list_give(&list, entry("X-1", NULL, ADVISORY_UNSOUND));
    CHECK(advisory_is_listed(list.items[0]));
    CHECK_EQ(advisory_score(&list).hundredths, 95);
    advisory_list_fini(&list);
}

TEST(advisory_files_are_read_up_to_their_last_byte_and_no_further)
{
    static const char text[] = "\n```toml\n[advisory]\nid = 'X'\npackage = 'a-b'\n"
                               "[versions]\npatched = ['>= 2']\n```\n\n# Title  \nx";

    for (size_t n = 0; n < sizeof text; n++) {
        advisory *a = NULL;
        reason why;
        bool is_read = advisory_read(text, n, "a_b", "1.0.0", &a, &why);

        CHECK_EQ(is_read, n >= strlen(text) - strlen("\n\n# Title  \nx"));
        CHECK_EQ(is_read, a != NULL);
        CHECK_EQ(why.text[0] == '\0', is_read);
        advisory_free(a);
    }
    advisory *a = NULL;
    reason why;
    CHECK(advisory_read(text, sizeof text - 1, "a-b", "1.9.9", &a, &why));
    CHECK_STR(a->title, "Title");
    advisory_free(a);
}
