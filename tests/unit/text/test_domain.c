/* SPDX-License-Identifier: Apache-2.0 */
#include "text/domain.h"

#include "check.h"

TEST(domain_has_itself_and_what_is_below_it)
{
    static const struct {
        const char *domain, *host;
        bool want;
    } rows[] = {
        {"e.example", "e.example", true},
        {"e.example", "www.e.example", true},
        {"e.example", "a.b.e.example", true},
        {"e.example", "xe.example", false}, /* ends alike, is another domain */
        {"e.example", "example", false},    /* above it */
        {"www.e.example", "e.example", false},
        {"e.example", "e.example.org", false},
        {"e.example", "", false},
        {"localhost", "app.localhost", true},
        {"localhost", "notlocalhost", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_domain_has(sn_str_of(rows[i].domain), sn_str_of(rows[i].host)),
                 rows[i].want);
}
