/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "recipe_page.h"

#define HEAD  "seine: 1\nname: t\n"
#define ITEMS "items: {each: li, fields: {a: b}}\n"

static bool
on_lead(const seine_lead *lead, void *arg)
{
    recipe_line(arg, lead->is_sitemap ? "sitemap " : lead->kind, lead->url);
    return true;
}

static bool
give_lines(const char *path, seine_view *out, void *arg)
{
    static const char text[] = "a b\n# not this\n\n  c/d\n";

    (void)arg;
    *out = (seine_view){text, sizeof text - 1};
    return strcmp(path, "list.txt") == 0;
}

static void
starts(const char *yaml, const char *given, recipe_lines *out)
{
    seine_recipe *r = recipe_of(yaml);
    seine_text vars = {NULL, 0};
    seine_diag diag = SEINE_DIAG;

    seine_err e = seine_recipe_vars(r, given, &vars, &diag);
    if (e == SEINE_OK)
        e = seine_recipe_start(r, vars.bytes, give_lines, on_lead, out, &diag);
    if (e != SEINE_OK)
        recipe_line(out, diag.member, diag.text);
    seine_text_free(&vars);
    seine_recipe_free(r);
}

static const struct {
    const char *start, *given, *want;
} rows[] = {
    {"start: https://e.example/", NULL, "https://e.example/\n"},
    {"start: ['https://a.example/', '{base}/x']", NULL,
     "https://a.example/\nhttps://b.example/p/x\n"},
    /* the URL of a host has a slash at its end, and the recipe writes one, too */
    {"start: '{base}/x'", "{\"base\":\"https://c.example\"}", "https://c.example/x\n"},
    {"start: '{base}'", "{\"base\":\"https://c.example\"}", "https://c.example/\n"},
    /* a value is escaped, but not a whole URL, nor what the format writes */
    {"start: 'https://e.example/{q}'", "{\"q\":\"a/b c&é\"}",
     "https://e.example/a%2Fb%20c%26%C3%A9\n"},
    {"start: {url: '{base}/{m:%Y/%m}', over: {m: {months: '{from}', count: 3}}}", NULL,
     "https://b.example/p/2024/11\nhttps://b.example/p/2024/12\nhttps://b.example/p/2025/"
     "01\n"},
    {"start: {url: '{base}/{d}', over: {d: {days: 2024-02-28, count: 3}}}", NULL,
     "https://b.example/p/2024-02-28\nhttps://b.example/p/2024-02-29\nhttps://b.example/"
     "p/2024-03-01\n"},
    {"start: {url: 'http://e.example/{a}-{n:%03d}', over: {a: {list: [x, y]}, n: {range: "
     "[8, 12, 2]}}}",
     NULL,
     "http://e.example/x-008\nhttp://e.example/x-010\nhttp://e.example/x-012\n"
     "http://e.example/y-008\nhttp://e.example/y-010\nhttp://e.example/y-012\n"},
    {"start: {url: 'http://e.example/{n}', over: {n: {range: [3, 1, -1]}}}", NULL,
     "http://e.example/3\nhttp://e.example/2\nhttp://e.example/1\n"},
    {"start: {url: 'http://e.example/{l}', over: {l: {file: list.txt}}}", NULL,
     "http://e.example/a%20b\nhttp://e.example/c%2Fd\n"},
    {"start: {file: list.txt}", NULL, "a b\nc/d\n"},
    {"start: {sitemap: 'https://e.example/sitemap.xml'}", NULL,
     "sitemap https://e.example/sitemap.xml\n"},
    {"start: {url: 'https://e.example/?a=1', query: {state: open, q: '{q}'}}",
     "{\"q\":\"x y\"}", "https://e.example/?a=1&state=open&q=x%20y\n"},
    {"start: 'https://e.example/{q}'", NULL, "qhas no value; the recipe needs one\n"},
    {"start: 'https://e.example/{count}'", "{\"count\":\"many\"}",
     "count'many' is not a whole number\n"},
    {"start: 'https://e.example/{count}'", "{\"count\":\"121\"}",
     "count'121' is above the maximum 120\n"},
    {"start: {url: 'http://e.example/{n}', over: {n: {range: [1, 5, '{q}']}}}",
     "{\"q\":\"0\"}", "nneeds numbers below 10^12, and a step that is not 0\n"},
    {"start: {url: 'http://e.example/{n}', over: {n: {range: ['{q}', 1]}}}",
     "{\"q\":\"3\"}", ""},
    {"start: {url: 'http://e.example/{m}', over: {m: {months: '{q}', count: 1}}}",
     "{\"q\":\"soon\"}", "mis not a month; try 2024-11\n"},
    {"start: {file: other.txt}", NULL, "startnames a file that cannot be read\n"},
};

TEST(start_makes_urls_of_templates)
{
    EACH_ROW(i, rows) {
        recipe_lines out = {0};
        char yaml[1024];

        snprintf(yaml, sizeof yaml,
                 HEAD "vars:\n  base: {type: url, default: 'https://b.example/p'}\n"
                      "  from: {type: month, default: 2024-11}\n"
                      "  count: {type: int, default: 3, min: 1, max: 120}\n"
                      "  q: {type: string}\n%s\n" ITEMS,
                 rows[i].start);
        starts(yaml, rows[i].given, &out);
        CHECK_STR(out.text, rows[i].want);
    }
}

TEST(start_request_has_its_headers_and_no_line_ends)
{
    seine_recipe *r = recipe_of(
        HEAD "vars: {token: {secret: true}}\n"
             "request: {method: POST, headers: {Authorization: 'Bearer {token}'},\n"
             "          json: {a: [1, x]}}\n" ITEMS);
    seine_text got = {NULL, 0};
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_recipe_request(r, "{\"token\":\"s3\"}", &got, &diag), SEINE_OK);
    CHECK_STR(got.bytes,
              "{\"headers\":{\"Authorization\":\"Bearer s3\"},\"method\":\"POST\","
              "\"body\":\"{\\\"a\\\":[1,\\\"x\\\"]}\"}");
    seine_text_free(&got);
    CHECK_EQ(seine_recipe_request(r, "{\"token\":\"a\\nb\"}", &got, &diag),
             SEINE_E_CONFIG);
    CHECK_EQ(seine_recipe_request(r, "{}", &got, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "token");
    seine_recipe_free(r);
}
