/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/record_where.h"

#include <string.h>

#include "check.h"

static const char result[] =
    "{\"v\":1,\"type\":\"result\",\"url\":\"http://e.example/a\",\"host\":\"e.example\","
    "\"outcome\":\"timeout\",\"ok\":false,\"attempts\":3,\"error\":{\"kind\":\"header_"
    "timeout\"},\"time\":{\"total\":40.5},\"data\":{\"price\":{\"amount\":12}}}";
static const char skip[] = "{\"v\":1,\"type\":\"skip\",\"reason\":\"robots\"}";

TEST(record_where_asks_for_members_of_any_record)
{
    static const struct {
        const char *where;
        bool of_result, of_skip;
    } rows[] = {
        {"outcome = timeout", true, false},
        {"ok", false, false},
        {"not ok", true, true}, /* what is missing is null, and counts as false */
        {"attempts >= 3 and host ~ '\\.example$'", true, false},
        {"error.kind = header_timeout", true, false}, /* a member of a member … */
        {"data.price.amount > 11", true, false},      /* … and one deeper */
        {"data.price > 11", false, false},            /* an object is no number */
        {"time.total < 41", true, false},
        {"reason in [robots, trap]", false, true},
        {"status = 200", false, false}, /* neither has one */
    };

    EACH_ROW(i, rows) {
        seine_record_where *w = NULL;
        seine_diag diag;

        CHECK_EQ(seine_record_where_new(rows[i].where, &w, &diag), SEINE_OK);
        CHECK_EQ(seine_record_where_has(w, result, strlen(result)), rows[i].of_result);
        CHECK_EQ(seine_record_where_has(w, skip, strlen(skip)), rows[i].of_skip);
        CHECK(!seine_record_where_has(w, "no record", 9));
        seine_record_where_free(w);
    }
}

TEST(record_where_names_the_column_of_a_mistake)
{
    seine_record_where *w = NULL;
    seine_diag diag;

    CHECK_EQ(seine_record_where_new("status = = 4", &w, &diag), SEINE_E_CONFIG);
    CHECK_EQ(diag.column, 10);
    CHECK_EQ(seine_record_where_new("status = 'x'", &w, &diag), SEINE_E_CONFIG);
    CHECK(w == NULL);
    CHECK_EQ(seine_record_where_new(NULL, &w, &diag), SEINE_E_INVAL);
    CHECK(!seine_record_where_has(NULL, skip, strlen(skip)));
}
