/* SPDX-License-Identifier: Apache-2.0 */
#include "options/suggest.h"

#include "check.h"
#include "verbs/verbs.h"

TEST(suggest_knows_four_kinds_of_slips)
{
    static const struct {
        const char *word, *want;
    } rows[] = {
        {"timeouts", "timeout"}, /* one too many */
        {"timout", "timeout"},   /* one missing */
        {"tomeout", "timeout"},  /* one wrong */
        {"tiemout", "timeout"},  /* two swapped */
        {"tiemouts", "timeout"}, /* two slips */
        {"colour", "color"},     /* of all commands */
    };

    EACH_ROW(i, rows) {
        const char *near = suggest_option(&cmd_fetch, rows[i].word);

        CHECK_STR(near ? near : "nothing", rows[i].want);
    }
}

TEST(suggest_is_silent_where_nothing_is_near)
{
    CHECK(suggest_option(&cmd_fetch, "xyzzy-plugh") == NULL);
    CHECK(suggest_option(&cmd_fetch, "z") == NULL); /* half of a letter is no hint */
    CHECK(suggest_command("frobnicate") == NULL);
}

TEST(suggest_finds_commands_by_their_first_word)
{
    const char *near = suggest_command("fetc");

    CHECK_STR(near ? near : "nothing", "fetch");
    near = suggest_command("robot");
    CHECK_STR(near ? near : "nothing", "robots check");
    near = suggest_command("url");
    CHECK_STR(near ? near : "nothing", "url parse");
}
