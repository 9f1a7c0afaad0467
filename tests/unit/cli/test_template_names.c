/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/template_names.h"

#include <string.h>

#include <seine/record.h>

#include "check.h"

static bool
has(const char *name)
{
    return template_names_has(name, strlen(name));
}

TEST(template_names_are_the_members_of_records_and_paths_into_them)
{
    static const char *const members[] = {"v",
                                          "type",
                                          "seq",
                                          "ts",
                                          "input",
                                          "line",
                                          "id",
                                          "tags",
                                          "url",
                                          "key",
                                          "final_url",
                                          "redirects",
                                          "method",
                                          "host",
                                          "ip",
                                          "http",
                                          "depth",
                                          "parent",
                                          "via",
                                          "outcome",
                                          "ok",
                                          "change",
                                          "status",
                                          "error",
                                          "attempts",
                                          "tries",
                                          "headers",
                                          "content_type",
                                          "charset",
                                          "charset_from",
                                          "bytes_in",
                                          "partial",
                                          "notes",
                                          "time",
                                          "tls",
                                          "title",
                                          "lang",
                                          "canonical",
                                          "meta_robots",
                                          "links",
                                          "extract",
                                          "sha256",
                                          "body",
                                          "body_b64",
                                          "body_file",
                                          "bytes_body",
                                          "warc",
                                          "job",
                                          "charset_errors",
                                          "content_length"};
    seine_members fields;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        CHECK_EQ(seine_members_parse(members[i], &fields, NULL), SEINE_OK);
        CHECK(has(members[i]));
    }
    CHECK(has("time.total") && has("error.kind") && has("tags.team") &&
          has("headers.server"));
    CHECK(!has("tim") && !has("time.") && !has("time.totl"));
    CHECK(!has("") && !has("http_code"));
}

TEST(template_names_find_the_first_that_no_record_has)
{
    static const struct {
        const char *text, *bad;
    } rows[] = {
        {"%{status} %{url}\n", NULL},
        {"%% %%{x}", NULL}, /* a percent sign, then text */
        {"%{status} %{stauts} %{x}", "stauts"},
        {"%{time.total}%{time.totl}", "time.totl"},
    };

    EACH_ROW(i, rows) {
        size_t n = 0;
        const char *bad = template_names_check(rows[i].text, strlen(rows[i].text), &n);

        CHECK((bad == NULL) == (rows[i].bad == NULL));
        if (bad && rows[i].bad)
            CHECK(n == strlen(rows[i].bad) && strncmp(bad, rows[i].bad, n) == 0);
    }
}

TEST(template_names_know_what_was_meant)
{
    static const struct {
        const char *name, *near;
    } rows[] = {
        {"http_code", "status"}, {"time_total", "time.total"},
        {"stauts", "status"},    {"titel", "title"},
        {"xyzzy", NULL},
    };

    EACH_ROW(i, rows) {
        const char *near = template_names_near(rows[i].name, strlen(rows[i].name));

        CHECK_STR(near ? near : "-", rows[i].near ? rows[i].near : "-");
    }
}
