/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/template.h"

#include <string.h>

#include <seine/fetch.h>

#include "check.h"

static const char *
print_by(template *t, const char *pattern, bool on_terminal)
{
    static const seine_fault none = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT,
                      .url = {"http://e.test/", 14},
                      .fate = SEINE_FATE_OK,
                      .fault = &none,
                      .status = 200,
                      .attempts = 1,
                      .content_length = -1,
                      .title = {"a\x1b[2Jb", 6}};

    if (template_init(t, pattern, on_terminal))
        return "refused";
    template_make(t, &r, 7);
    return t->out.text ? t->out.text : "";
}

TEST(template_replaces_names_by_members_of_the_record)
{
    template t;

    CHECK_STR(print_by(&t, "%{status} %{url}\\n", false), "200 http://e.test/\n");
    template_fini(&t);
    CHECK_STR(print_by(&t, "[%{nosuch}]%{time.nosuch}", false), "[]");
    template_fini(&t);
    CHECK_STR(print_by(&t, "100%% \\t\\ \\x", false), "100% \t\\ \\x");
    template_fini(&t);
}

TEST(template_escapes_control_characters_for_a_terminal_alone)
{
    template t;

    CHECK_STR(print_by(&t, "%{title}", true), "a\\x1b[2Jb");
    template_fini(&t);
    CHECK_STR(print_by(&t, "%{title}", false), "a\x1b[2Jb");
    template_fini(&t);
}

TEST(template_refuses_a_percent_sign_that_stands_alone)
{
    static const char *const bad[] = {"%", "%x", "100%", "%{url", "%{}"};
    template t;

    EACH_ROW(i, bad)
        CHECK(template_init(&t, bad[i], false) != NULL);
}
