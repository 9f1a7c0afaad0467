/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "crate/crate.h"
#include "crate/crate_spec.h"
#include "screen/say.h"

TEST(crate_judge_says_caution_below_a_quality_of_one_half)
{
    static const struct {
        uint64_t downloads, recent;
        const char *text;
        unsigned quality;
        crate_verdict verdict;
    } rows[] = {
        /* Downloads, then 45 for documentation, repository and licence, or nothing. */
        {2000000, 0, "x", 75, VERDICT_USE},           {1001, 0, "x", 55, VERDICT_USE},
        {1000, 0, "x", 45, VERDICT_CAUTION},          {1000, 101, "x", 60, VERDICT_USE},
        {2000000, 200001, NULL, 45, VERDICT_CAUTION}, {0, 0, NULL, 0, VERDICT_CAUTION},
    };

    EACH_ROW(i, rows) {
        advisory_list none = {.is_answered = true};
        crate_judgement j = {0};
        crate_facts f = {.downloads = rows[i].downloads,
                         .recent = rows[i].recent,
                         .documentation = rows[i].text,
                         .repository = rows[i].text,
                         .license = rows[i].text,
                         .released = 86400};

        crate_judge(&f, &none, 2 * 86400, &j);
        CHECK_EQ(j.quality, rows[i].quality);
        CHECK_EQ(j.verdict, rows[i].verdict);
        CHECK_STR(j.status_reason, "last release 1 day ago");
        crate_judgement_fini(&j);
    }
}

TEST(crate_exit_codes_outrank_each_other_in_their_order)
{
    static const int order[] = {SAY_USAGE,    SAY_MACHINE, SAY_SIGNAL + 2, SAY_PARKED,
                                SAY_EXPECTED, SAY_EARLY,   SAY_FAILED,     SAY_DONE};
    enum { N = sizeof order / sizeof *order };

    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            CHECK_EQ(crate_worse(order[i], order[k]), order[i < k ? i : k]);
}

TEST(crate_names_are_those_of_crates_io)
{
    static const struct {
        const char *name;
        bool is_valid;
    } rows[] = {{"a", true},         {"A-b_9", true}, {"", false},    {".", false},
                {"..", false},       {"a/b", false},  {"a.b", false}, {"a b", false},
                {"\xc3\xa9", false}, {"a\n", false},  {"-", true}};

    EACH_ROW(i, rows)
        CHECK_EQ(crate_name_is_valid(rows[i].name, strlen(rows[i].name)),
                 rows[i].is_valid);
    CHECK(crate_name_is_same("Serde-JSON", "serde_json"));
    CHECK(!crate_name_is_same("serde_json", "serde_json2"));
    CHECK(!crate_name_is_same("serde_json2", "serde_json"));
}
