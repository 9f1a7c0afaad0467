/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/recipe_keys.h"

#include "recipe_page.h"

#define TOP    "seine: 1\nname: t\n"
#define PAGE   TOP "items: {fields: {a: b}}\n"
#define FIELD  TOP "items: {fields: {a: {css: b, "
#define ITEMS  TOP "items: {fields: {a: b}, "
#define DERIVE TOP "items: {fields: {a: b}, derive: {c: {expr: '1', "

/* Each key that takes words, with one letter too many, or two that changed places. */
static const struct {
    const char *path; /* as the schema calls it */
    const char *recipe, *word, *want;
} words[] = {
    {"seine", "seine: 11\nname: t\nitems: {fields: {a: b}}\n", "11",
     "the version of the language is 1; try seine: 1"},
    {"format", PAGE "format: htlm\n", "htlm", "format 'htlm' is unknown; try html"},
    {"pages.*.format", PAGE "pages: {p: {format: jsn}}\n", "jsn",
     "format 'jsn' is unknown; try json"},
    {"vars.*.type", PAGE "vars: {v: {type: strng}}\n", "strng",
     "type 'strng' is unknown; try string"},
    {"vars.*.decimal", PAGE "vars: {v: {type: int, decimal: ;}}\n", ";",
     "decimal ';' is unknown; try one of: . ,"},
    {"vars.*.secret", PAGE "vars: {v: {type: string, secret: ture}}\n", "ture",
     "secret must be true or false; try true"},
    {"request.method", PAGE "request: {method: PSOT}\n", "PSOT",
     "method 'PSOT' is unknown; try POST"},
    {"request.method", PAGE "request: {method: post}\n", "post",
     "method 'post' is unknown; try POST"},
    {"next.header", PAGE "next: {header: lnik}\n", "lnik",
     "the header with the next page is called link; try header: link"},
    {"next.until", PAGE "next: {css: a, until: emptyy}\n", "emptyy",
     "until 'emptyy' is unknown; try empty"},
    {"next.until", PAGE "next: {json: /next, until: emptyy}\n", "emptyy",
     "until 'emptyy' is unknown; try empty"},
    {"next.until", PAGE "next: {page: p, until: Empty}\n", "Empty",
     "until 'Empty' is unknown; try empty"},
    {"next.until", PAGE "next: {header: link, until: nonew}\n", "nonew",
     "until 'nonew' is unknown; try no-new"},
    {"next.until", PAGE "next: {offset: p, step: 9, until: no-nwe}\n", "no-nwe",
     "until 'no-nwe' is unknown; try no-new"},
    {"next.until", PAGE "next: {cursor: /c, param: c, until: 'empyt'}\n", "'empyt'",
     "until 'empyt' is unknown; try empty"},
    {"pages.*.next.until", PAGE "pages: {p: {next: {css: a, until: emtpy}}}\n", "emtpy",
     "until 'emtpy' is unknown; try empty"},
    {"items.on-error", ITEMS "on-error: repotr}\n", "repotr",
     "on-error 'repotr' is unknown; try report"},
    {"pages.*.items.on-error",
     PAGE "pages: {p: {items: {fields: {a: b}, on-error: dropp}}}\n", "dropp",
     "on-error 'dropp' is unknown; try drop"},
    {"items.fields.*.type", FIELD "type: monye}}}\n", "monye",
     "type 'monye' is unknown; try money"},
    {"items.fields.*.case", FIELD "case: lowre}}}\n", "lowre",
     "case 'lowre' is unknown; try lower"},
    {"items.fields.*.fill", FIELD "fill: dwon}}}\n", "dwon",
     "fill 'dwon' is unknown; try down"},
    {"items.fields.*.empty", FIELD "empty: kepe}}}\n", "kepe",
     "empty 'kepe' is unknown; try keep"},
    {"items.fields.*.decimal", FIELD "type: money, decimal: ;}}}\n", ";",
     "decimal ';' is unknown; try one of: . ,"},
    {"items.fields.*.required", FIELD "required: flase}}}\n", "flase",
     "required must be true or false; try false"},
    {"items.fields.*.all", FIELD "all: truee}}}\n", "truee",
     "all must be true or false; try true"},
    {"items.fields.*.page", TOP "items: {fields: {a: {page: titel}}}\n", "titel",
     "page has no 'titel'; try title"},
    {"items.derive.*.type", DERIVE "type: nubmer}}}\n", "nubmer",
     "type 'nubmer' is unknown; try number"},
    {"items.derive.*.decimal", DERIVE "type: number, decimal: ;}}}\n", ";",
     "decimal ';' is unknown; try one of: . ,"},
    {"expect.unique", PAGE "expect: {unique: fasle}\n", "fasle",
     "unique must be true or false; try false"},
    /* Names that the recipe itself gives. */
    {"start.to", PAGE "start: {url: 'http://e.example/', to: lsit}\npages: {list: {}}\n",
     "lsit", "there is no page 'lsit' under pages; try list"},
    {"follow.to", PAGE "follow: {css: a, to: lsit}\npages: {list: {}}\n", "lsit",
     "there is no page 'lsit' under pages; try list"},
    {"tests.kind",
     PAGE "pages: {list: {}}\ntests: [{page: x, kind: lsit, expect: {items: 1}}]\n",
     "lsit", "there is no page 'lsit' under pages; try list"},
    {"tests.expect.first", PAGE "tests: [{page: x, expect: {first: {aa: 1}}}]\n", "aa",
     "first names no field: 'aa'"},
    {"tests.expect.contains", PAGE "tests: [{page: x, expect: {contains: [{aa: 1}]}}]\n",
     "aa", "contains names no field: 'aa'"},
};

/* The first mistake of a recipe is told at the line and column of a word. */
static void
check_mistake(const char *recipe, const char *word, const char *want)
{
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    seine_recipe *r = NULL;
    const char *at = strstr(recipe, word), *line = recipe;
    unsigned n = 1;

    for (const char *c = recipe; c < at; c++)
        if (*c == '\n') {
            line = c + 1;
            n++;
        }
    CHECK_EQ(seine_recipe_parse(recipe, strlen(recipe), &o, &r, wrong), SEINE_E_CONFIG);
    seine_recipe_free(r);
    CHECK_STR(wrong[0].text, want);
    CHECK_EQ(wrong[0].line, n);
    CHECK_EQ(wrong[0].column, at - line + 1);
    CHECK_STR(wrong[1].text, "");
}

TEST(recipe_keys_refuse_misspelt_words_and_name_the_right_one)
{
    EACH_ROW(i, words)
        check_mistake(words[i].recipe, words[i].word, words[i].want);
}

/* The schema lists what is an enumeration: each has a row above, where the key is and
 * where it is below `pages`. */
TEST(recipe_keys_that_take_words_are_all_misspelt_above)
{
    sn_buf schema;
    unsigned found = 0;

    sn_buf_init(&schema, 64 << 10);
    sn_recipe_schema(&schema);
    for (const char *at = schema.ptr; (at = strstr(at, "\"type\":\"enum\"")); at++) {
        const char *path = at;
        bool is_known = false;

        while (strncmp(path, "{\"path\":\"", 9) != 0)
            path--;
        path += 9;
        size_t n = (size_t)(at - path) - 2;
        bool is_below = strncmp(path, "pages.*.", 8) == 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            for (size_t cut = 0; cut <= (is_below ? 8 : 0); cut += 8)
                is_known |= strlen(words[i].path) == n - cut &&
                            strncmp(words[i].path, path + cut, n - cut) == 0;
        if (!is_known)
            check_fail(__FILE__, __LINE__, "%.*s is not misspelt", (int)n, path);
        found++;
    }
    CHECK(found >= 20);
    sn_buf_fini(&schema);
}

/* A word that is near to no other is a member of the page, if that is JSON. */
TEST(recipe_until_takes_words_and_expressions)
{
    static const char *const good[] = {
        PAGE "next: {css: a, until: empty}\n",
        PAGE "next: {css: a, until: items < 2 or status = 404}\n",
        PAGE "next: {css: a, until: page > 3}\n",
        PAGE "vars: {empti: {type: bool, default: true}}\n"
             "next: {css: a, until: empti}\n",
        TOP "items: {each: /rows, fields: {a: /b}}\nnext: {page: p, until: done}\n",
        TOP "items: {each: /rows, fields: {a: /b}}\n"
            "next: {json: /next, until: meta.next = null}\n",
        ITEMS "unique: a}\nnext: {css: a, until: no-new}\n",
        ITEMS "unique: a}\nnext: {css: a, until: no_new}\n",
    };

    EACH_ROW(i, good)
        seine_recipe_free(recipe_of(good[i]));
}

/* An HTML page has no members, so that a name that nobody knows is a slip. */
TEST(recipe_until_of_html_pages_knows_all_names)
{
    static const struct {
        const char *recipe, *word, *want;
    } rows[] = {
        {PAGE "next: {css: a, until: itmes < 2}\n", "itmes",
         "no member 'itmes'; try items"},
        {PAGE "format: html\nnext: {page: p, until: statsu = 404}\n", "statsu",
         "no member 'statsu'; try status"},
        {TOP "items: {each: li, fields: {a: b}}\nnext: {page: p, until: never}\n",
         "never", "no member 'never'"},
    };

    EACH_ROW(i, rows)
        check_mistake(rows[i].recipe, rows[i].word, rows[i].want);
}
