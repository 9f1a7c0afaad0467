/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/recipe.h"

#include "failing.h"
#include "recipe_page.h"

#define HEAD "seine: 1\nname: t\n"

static const char shop[] = HEAD
    "start: 'https://shop.example/list?page=1'\n"
    "next: {css: 'nav a[rel=next]', attr: href, max: 200}\n"
    "items:\n"
    "  kind: product\n"
    "  each: article\n"
    "  unique: sku\n"
    "  fields:\n"
    "    sku: {attr: data-sku, required: true}\n"
    "    name: h2\n"
    "    link: {css: h2 a, attr: href, type: url, required: true}\n"
    "    price: {css: .price, type: money, decimal: ','}\n"
    "    stars: {css: .stars, attr: class, regex: 'stars-(\\d)', type: int, max: 5}\n"
    "    tags: {css: li, all: true}\n"
    "    in_stock: {css: .stock, map: {In stock: true, Sold out: false}, type: bool,\n"
    "               default: false}\n"
    "  derive:\n"
    "    slug: slug(name)\n"
    "    cheap: price.amount < 10\n";

static const char shop_page[] =
    "<base href='/b/'>"
    "<article data-sku=A1><h2><a href='p/1'>Big  Pen</a></h2><p class=price>1.012,50 "
    "€</p>"
    "<i class='stars stars-4'></i><ul><li>a<li>b</ul><p class=stock>In stock</article>"
    "<article data-sku=A2><h2><a href=//x.example/2>Ink</a></h2><p class=price>EUR 9</p>"
    "<i class='stars stars-7'></i></article>"
    "<article data-sku=A1><h2><a href=3>Again</a></h2></article>"
    "<article><h2>No link</h2></article>"
    "<nav><a rel=next href='?page=2'>2</a></nav>";

TEST(recipe_of_a_shop_reads_its_rows)
{
    recipe_lines out = {0};

    recipe_rows(shop, shop_page, &out);
    CHECK_STR(
        out.text,
        "{\"sku\":\"A1\",\"name\":\"Big Pen\",\"link\":\"https://e.example/b/p/1\","
        "\"price\":{\"amount\":1012.5,\"currency\":\"EUR\"},\"stars\":4,\"tags\":[\"a\","
        "\"b\"],"
        "\"in_stock\":true,\"slug\":\"big-pen\",\"cheap\":false}\n"
        "{\"sku\":\"A2\",\"name\":\"Ink\",\"link\":\"https://x.example/2\","
        "\"price\":{\"amount\":9,\"currency\":\"EUR\"},\"stars\":null,\"tags\":null,"
        "\"in_stock\":false,\"slug\":\"ink\",\"cheap\":true}\n"
        "  [{\"field\":\"stars\",\"why\":\"range\",\"text\":\"7\",\"message\":\"'7' is "
        "above the maximum 5\"}]\n"
        "bad {\"sku\":\"A1\",\"name\":\"Again\",\"link\":\"https://e.example/b/3\","
        "\"price\":null,\"stars\":null,\"tags\":null,\"in_stock\":false,\"slug\":"
        "\"again\","
        "\"cheap\":false}\n"
        "  [{\"field\":\"sku\",\"why\":\"duplicate\",\"message\":\"duplicate\"}]\n"
        "bad {\"sku\":null,\"name\":\"No "
        "link\",\"link\":null,\"price\":null,\"stars\":null,"
        "\"tags\":null,\"in_stock\":false,\"slug\":\"no-link\",\"cheap\":false}\n"
        "  [{\"field\":\"sku\",\"why\":\"missing\",\"message\":\"is missing\"},"
        "{\"field\":\"link\",\"why\":\"missing\",\"message\":\"is missing\"}]\n"
        "next 2 https://e.example/b/?page=2\n");
}

/* Fields of one row, and what comes out. */
static const struct {
    const char *fields, *page, *want;
} shapes[] = {
    /* source, then nth, attr, regex, replace, blanks, split, map, as, case, type */
    {"a: 'b@title'", "<b title=x>y</b>", "{\"a\":\"x\"}"},
    {"a: 'b\\@c'", "<b@c>y</b@c>", "{\"a\":\"y\"}"}, /* an escaped @ is of the name */
    {"a: 'b\\\\@c'", "<b\\ c=x>y</b\\>", "{\"a\":\"x\"}"},
    {"a: {css: b, attr: html}", "<b><i>y</i></b>", "{\"a\":\"<b><i>y</i></b>\"}"},
    {"a: {css: b, nth: 2}", "<b>1</b><b>2</b><b>3</b>", "{\"a\":\"2\"}"},
    {"a: {css: b, nth: -1}", "<b>1</b><b>2</b><b>3</b>", "{\"a\":\"3\"}"},
    {"a: {css: b, nth: 9}", "<b>1</b>", "{\"a\":null}"},
    {"a: {css: b, regex: '\\d+'}", "<b>no 12 of 34</b>", "{\"a\":\"12\"}"},
    {"a: {css: b, regex: 'x'}", "<b>no</b>", "{\"a\":null}"},
    {"a: {css: b, replace: [['\\.', ''], [',', '.']], type: number}", "<b>1.234,5</b>",
     "{\"a\":1234.5}"},
    {"a: {css: b, replace: [['x*', '-']]}", "<b>aéxb</b>", "{\"a\":\"-a-é--b-\"}"},
    {"a: {css: b, split: ',', type: int}", "<b>1, 2 ,3</b>", "{\"a\":[1,2,3]}"},
    {"a: {css: b, split: ';'}", "<b> ; </b>", "{\"a\":null}"},
    {"a: {css: b, map: {Y: 'true', N: 'false'}, type: bool}", "<b> Y </b>",
     "{\"a\":true}"},
    {"a: {css: b, as: '{value}-{n}', case: upper}", "<b>ab</b>", "{\"a\":\"AB-1\"}"},
    {"a: {css: b, empty: keep}", "<b> </b>", "{\"a\":\"\"}"},
    {"a: {css: b, default: 7}", "<b> </b>", "{\"a\":7}"},
    {"a: b\n    c: {const: 'x {a} y'}", "<b>1</b>", "{\"a\":\"1\",\"c\":\"x 1 y\"}"},
    {"a: {const: 5}", "<b>", "{\"a\":5}"},
    {"a: {page: url}", "<b>", "{\"a\":\"https://e.example/dir/list?page=1\"}"},
    {"a: {page: title}", "<title>T</title>", "{\"a\":\"T\"}"},
    {"a: {meta: description}", "<meta name=Description content=D>", "{\"a\":\"D\"}"},
    {"a: {jsonld: /offers/price, type: number}",
     "<script type=application/ld+json>{\"x\":1}</script>"
     "<script type=application/ld+json>{\"offers\":{\"price\":\"12.50\"}}</script>",
     "{\"a\":12.5}"},
    {"a: {css: b, type: date, format: '%d. %B %Y'}", "<b>3. November 2024</b>",
     "{\"a\":\"2024-11-03\"}"},
    {"a: {css: b, type: datetime, format: '%Y-%m-%d %H:%M', zone: '+02:00'}",
     "<b>2024-11-03 08:30</b>", "{\"a\":\"2024-11-03T08:30:00+02:00\"}"},
};

TEST(recipe_field_is_shaped_in_one_order)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && check_row(i); i++) {
        recipe_lines out = {0};
        char yaml[1024], want[256];

        snprintf(yaml, sizeof yaml, HEAD "items:\n  fields:\n    %s\n", shapes[i].fields);
        snprintf(want, sizeof want, "%s\n", shapes[i].want);
        recipe_rows(yaml, shapes[i].page, &out);
        CHECK_STR(out.text, want);
    }
}

TEST(recipe_fill_takes_the_last_good_value_above)
{
    recipe_lines out = {0};

    recipe_rows(
        HEAD
        "items:\n  each: tr\n  fields:\n"
        "    d: {css: .d, fill: down, type: int}\n    p: {css: .p, required: true}\n",
        "<table><tr><td class=d>1<td class=p>a<tr><td class=p>b"
        "<tr><td class=d>x<td class=p>c<tr><td class=p>d",
        &out);
    CHECK_STR(out.text,
              "{\"d\":1,\"p\":\"a\"}\n{\"d\":1,\"p\":\"b\"}\n"
              "{\"d\":null,\"p\":\"c\"}\n"
              "  [{\"field\":\"d\",\"why\":\"type\",\"text\":\"x\",\"message\":\"\'x\' "
              "is not a whole number\"}]\n"
              "{\"d\":1,\"p\":\"d\"}\n");
}

TEST(recipe_rows_of_a_table_have_their_spans)
{
    recipe_lines out = {0};

    recipe_rows(HEAD "items:\n  each: {table: table.t}\n  fields:\n"
                     "    day: {col: Day}\n    who: {col: who}\n    last: {col: 3}\n",
                "<table class=t><tr><th>Day<th> Who <th>X<tr><td rowspan=2>Mo<td>a<td>1"
                "<tr><td>b<td>2<tr><td colspan=3>Closed</table>"
                "<table><tr><th>Day<tr><td>not this</table>",
                &out);
    CHECK_STR(out.text, "{\"day\":\"Mo\",\"who\":\"a\",\"last\":\"1\"}\n"
                        "{\"day\":\"Mo\",\"who\":\"b\",\"last\":\"2\"}\n"
                        "{\"day\":\"Closed\",\"who\":\"Closed\",\"last\":\"Closed\"}\n");
}

TEST(recipe_where_drops_rows_but_not_those_it_cannot_judge)
{
    recipe_lines out = {0};

    recipe_rows(HEAD "items:\n  each: p\n  where: n1 > 1\n  fields:\n"
                     "    n1: {css: b, type: int, required: true}\n",
                "<p><b>1</b><p><b>2</b><p><b>x</b>", &out);
    CHECK_STR(out.text,
              "{\"n1\":2}\nbad {\"n1\":null}\n"
              "  [{\"field\":\"n1\",\"why\":\"type\",\"text\":\"x\",\"message\":\"\'x\' "
              "is not a whole number\"}]\n");
}

TEST(recipe_error_collector_reports_drops_or_stops)
{
    static const struct {
        const char *how, *want;
        seine_err err;
    } rows[] = {
        {"report",
         "{\"a\":1}\nbad {\"a\":null}\n"
         "  [{\"field\":\"a\",\"why\":\"type\",\"text\":\"x\",\"message\":\"\'x\' is not "
         "a whole number\"}]\n{\"a\":3}\n",
         SEINE_OK},
        {"drop", "{\"a\":1}\n{\"a\":3}\n", SEINE_OK},
        {"stop",
         "{\"a\":1}\nbad {\"a\":null}\n"
         "  [{\"field\":\"a\",\"why\":\"type\",\"text\":\"x\",\"message\":\"\'x\' is not "
         "a whole number\"}]\n",
         SEINE_E_PARSE},
    };

    for (size_t i = 0; i < 3 && check_row(i); i++) {
        recipe_lines out = {0};
        seine_page page = SEINE_PAGE;
        char yaml[512];

        snprintf(yaml, sizeof yaml,
                 HEAD "items:\n  each: b\n  on-error: %s\n  fields:\n"
                      "    a: {type: int, required: true}\n",
                 rows[i].how);
        seine_recipe *r = recipe_of(yaml);
        page.body = "<b>1</b><b>x</b><b>3</b>";
        page.len = strlen(page.body);
        seine_applied got = recipe_apply(r, &page, &out);
        CHECK_STR(out.text, rows[i].want);
        CHECK_EQ(got.err, rows[i].err);
        CHECK_EQ(got.bad, 1);
        seine_recipe_free(r);
    }
}

static const char tickets[] = HEAD
    "start: {url: 'https://api.example/v2/tickets', query: {state: open}}\n"
    "format: json\n"
    "next: {cursor: /meta/next_cursor, param: cursor, until: meta.next_cursor = null}\n"
    "follow: [{json: /links/detail, to: detail, carry: [id]}]\n"
    "items:\n"
    "  kind: ticket\n"
    "  each: /data\n"
    "  fields:\n"
    "    id: {json: /id, type: int, required: true}\n"
    "    opened: {json: /created_at, type: datetime, required: true}\n"
    "    owner: {json: /assignee/login, default: nobody}\n"
    "    labels: {json: /labels/-/name, all: true}\n"
    "  derive: {age_days: 'days(opened, run_date)', urgent: \"'urgent' in labels\"}\n"
    "pages:\n"
    "  detail: {format: json, items: {kind: comment, each: /comments,\n"
    "           fields: {ticket: {const: '{id}', type: int}, by: /author}}}\n";

TEST(recipe_of_an_api_reads_json_and_its_cursor)
{
    recipe_lines out = {0};

    recipe_rows(
        tickets,
        "{\"data\":[{\"id\":7,\"created_at\":\"2026-11-15T00:00:00Z\",\"labels\":"
        "[{\"name\":\"urgent\"},{\"name\":\"x\"}],\"links\":{\"detail\":\"/t/7\"}},"
        "{\"id\":\"8\",\"created_at\":\"2026-11-16T12:00:00+01:00\",\"assignee\":"
        "{\"login\":\"ann\"}},{\"id\":null}],\"meta\":{\"next_cursor\":\"a/b\"}}",
        &out);
    CHECK_STR(out.text,
              "{\"id\":7,\"opened\":\"2026-11-15T00:00:00Z\",\"owner\":\"nobody\","
              "\"labels\":[\"urgent\",\"x\"],\"age_days\":2,\"urgent\":true}\n"
              "to detail 1 https://e.example/t/7\n  carry {\"id\":7}\n"
              "{\"id\":8,\"opened\":\"2026-11-16T12:00:00+01:00\",\"owner\":\"ann\","
              "\"labels\":null,\"age_days\":0.5416666666666666,\"urgent\":false}\n"
              "bad {\"id\":null,\"opened\":null,\"owner\":\"nobody\",\"labels\":null,"
              "\"age_days\":null,\"urgent\":false}\n"
              "  [{\"field\":\"id\",\"why\":\"missing\",\"message\":\"is missing\"},"
              "{\"field\":\"opened\",\"why\":\"missing\",\"message\":\"is missing\"}]\n"
              "next 2 https://e.example/dir/list?page=1&cursor=a%2Fb\n");
}

TEST(recipe_carried_fields_are_names_on_the_page_they_lead_to)
{
    seine_recipe *r = recipe_of(tickets);
    seine_page page = SEINE_PAGE;
    recipe_lines out = {0};

    page.kind = "detail";
    page.vars = "{\"id\":7}";
    page.body = "{\"comments\":[{\"author\":\"ann\"}]}";
    page.len = strlen(page.body);
    recipe_apply(r, &page, &out);
    CHECK_STR(out.text, "{\"ticket\":7,\"by\":\"ann\"}\n");
    seine_recipe_free(r);
}

/* The six ways on, and their ends. */
static const struct {
    const char *next, *page, *want;
} nexts[] = {
    {"{css: a}", "<a href='?page=2'>", "next 2 https://e.example/dir/list?page=2\n"},
    {"{css: a}", "<p>", ""},
    {"{css: a, max: 1}", "<a href='?page=2'>", ""},
    {"{css: a}", "<a href='?page=1'>", ""}, /* leads to itself */
    {"{page: page}", "<b>1</b>",
     "{\"a\":\"1\"}\nnext 2 https://e.example/dir/list?page=2\n"},
    {"{page: page, step: 5}", "<b>1</b>",
     "{\"a\":\"1\"}\nnext 2 https://e.example/dir/list?page=6\n"},
    {"{page: page}", "<p>", ""}, /* an empty page is the last */
    {"{page: p, first: 0}", "<b>1</b>",
     "{\"a\":\"1\"}\nnext 2 https://e.example/dir/list?page=1&p=1\n"},
    {"{offset: from, step: 20}", "<b>1</b>",
     "{\"a\":\"1\"}\nnext 2 https://e.example/dir/list?page=1&from=20\n"},
    {"{css: a, until: items < 2}", "<b>1</b><a href=x>", "{\"a\":\"1\"}\n"},
    {"{css: a, until: items > 2}", "<b>1</b><a href=x>",
     "{\"a\":\"1\"}\nnext 2 https://e.example/dir/x\n"},
};

TEST(recipe_next_goes_on_until_there_is_no_more)
{
    for (size_t i = 0; i < sizeof nexts / sizeof *nexts && check_row(i); i++) {
        recipe_lines out = {0};
        char yaml[512];

        snprintf(yaml, sizeof yaml, HEAD "next: %s\nitems: {each: b, fields: {a: {}}}\n",
                 nexts[i].next);
        recipe_rows(yaml, nexts[i].page, &out);
        CHECK_STR(out.text, nexts[i].want);
    }
}

TEST(recipe_next_reads_json_and_the_link_header)
{
    static const char value[] =
        "</p?x=1,2>; rel=\"prev\", <?page=3>; title=\"a, b\"; rel=\"last next\"";
    static const seine_field fields[] = {{{"Link", 4}, {value, sizeof value - 1}}};
    recipe_lines out = {0};
    seine_page page = SEINE_PAGE;

    recipe_rows(HEAD "next: {json: /next}\nitems: {each: /a, fields: {a: ''}}\n",
                "{\"a\":[1],\"next\":\"/more\"}", &out);
    CHECK_STR(out.text, "{\"a\":\"1\"}\nnext 2 https://e.example/more\n");
    seine_recipe *r = recipe_of(HEAD "next: {header: link}\nitems: {fields: {a: b}}\n");
    page.url = "https://e.example/p";
    page.body = "<b>1</b>";
    page.len = strlen(page.body);
    page.fields = fields;
    page.n_fields = 1;
    out.len = 0;
    recipe_apply(r, &page, &out);
    CHECK_STR(out.text, "{\"a\":\"1\"}\nnext 2 https://e.example/p?page=3\n");
    seine_recipe_free(r);
}

TEST(recipe_follow_finds_links_of_the_page_and_of_rows)
{
    recipe_lines out = {0};

    recipe_rows(
        HEAD "follow:\n  - {css: a, to: detail, carry: [t]}\n  - {css: nav a, limit: 1}\n"
             "items: {each: li, fields: {t: b}}\n"
             "pages: {detail: {items: {fields: {x: {const: '{t}'}}}},\n"
             "        cat: {match: /cat/, items: {fields: {x: b}}}}\n",
        "<ul><li><b>A</b><a href=1></a><li><b>B</b><a href=mailto:x></a></ul>"
        "<nav><a href=/no>0</a><a href=/cat/1>1</a><a href=/cat/2>2</a></nav>",
        &out);
    CHECK_STR(out.text, "{\"t\":\"A\"}\nto detail 1 https://e.example/dir/1\n"
                        "  carry {\"t\":\"A\"}\n{\"t\":\"B\"}\n"
                        "to cat 1 https://e.example/cat/1\n");
}

static bool
only_first(const char *kind, const char *key, void *arg)
{
    (void)kind;
    (void)arg;
    return strcmp(key, "[\"1\"]") == 0;
}

TEST(recipe_asks_its_caller_whether_a_row_is_new)
{
    seine_recipe *r = recipe_of(HEAD "next: {css: a, until: no-new}\n"
                                     "items: {each: b, unique: a, fields: {a: {}}}\n");
    seine_page page = SEINE_PAGE;
    recipe_lines out = {0};

    page.url = "https://e.example/";
    page.body = "<b>2</b><a href=x>";
    page.len = strlen(page.body);
    page.is_new = only_first;
    recipe_apply(r, &page, &out);
    CHECK_STR(out.text,
              "bad {\"a\":\"2\"}\n  "
              "[{\"field\":\"a\",\"why\":\"duplicate\",\"message\":\"duplicate\"}]\n");
    seine_recipe_free(r);
}

static bool
keep_place(const seine_row *row, void *arg)
{
    char line[64];

    snprintf(line, sizeof line, "%s %u %u:%u ", row->kind, row->n, row->line, row->col);
    recipe_line(arg, line, row->selector);
    return true;
}

TEST(recipe_row_knows_where_it_was_found)
{
    seine_recipe *r = recipe_of(HEAD "items: {kind: k, each: li, fields: {a: {}}}\n");
    seine_page page = SEINE_PAGE;
    recipe_lines out = {0};
    seine_applied got;

    page.body = "<ul>\n <li>1\n\n<b><li>2";
    page.len = strlen(page.body);
    CHECK_EQ(seine_recipe_apply(r, &page, keep_place, &out, &got), SEINE_OK);
    CHECK_STR(out.text, "k 1 2:2 li\nk 2 4:4 li\n");
    seine_recipe_free(r);
}

TEST(recipe_page_that_cannot_be_read_is_an_error_of_the_page)
{
    seine_recipe *r =
        recipe_of(HEAD "format: json\nitems: {each: /a, fields: {a: /b}}\n");
    seine_page page = SEINE_PAGE;
    recipe_lines out = {0};

    page.body = "<html>";
    page.len = 6;
    CHECK_EQ(recipe_apply(r, &page, &out).err, SEINE_E_BAD_JSON);
    page.kind = "other";
    CHECK_EQ(recipe_apply(r, &page, &out).err, SEINE_E_UNKNOWN);
    seine_recipe_free(r);
}

TEST(recipe_tells_its_parts_and_fields)
{
    seine_recipe *r = recipe_of(shop);
    const char *type = NULL;

    CHECK_STR(seine_recipe_name(r), "t");
    CHECK_STR(seine_recipe_part(r, "next"),
              "{\"css\":\"nav a[rel=next]\",\"attr\":\"href\",\"max\":200}");
    CHECK(!seine_recipe_part(r, "expect"));
    CHECK_STR(seine_recipe_kind(r, 0), "product");
    CHECK(!seine_recipe_kind(r, 1));
    CHECK_STR(seine_recipe_field(r, "product", 3, &type), "price");
    CHECK_STR(type, "money");
    CHECK_STR(seine_recipe_field(r, "product", 8, &type), "cheap");
    CHECK(!seine_recipe_field(r, "product", 9, &type));
    seine_recipe_free(r);
}

TEST(recipe_frees_what_it_has_when_memory_runs_out)
{
    FAIL_EACH(round)
    {
        seine_recipe_opts o = SEINE_RECIPE_OPTS;
        seine_diag wrong[SEINE_DIAG_MAX];
        seine_recipe *r = NULL;
        seine_page page = SEINE_PAGE;
        recipe_lines out = {0};
        seine_applied got;
        seine_err e = seine_recipe_parse(shop, strlen(shop), &o, &r, wrong);

        page.url = "https://e.example/";
        page.body = shop_page;
        page.len = strlen(shop_page);
        page.on_lead = recipe_on_lead;
        if (e == SEINE_OK)
            e = seine_recipe_apply(r, &page, recipe_on_row, &out, &got);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_recipe_free(r);
    }
}

TEST(recipe_reads_the_things_of_json_ld)
{
    static const char page[] =
        "<script type=application/ld+json>[{\"@type\":\"Book\",\"name\":\"A\"},"
        "{\"@type\":[\"Thing\",\"Book\"],\"name\":\"B\"},{\"@type\":\"Person\","
        "\"name\":\"C\"},4]</script>"
        "<script type=application/ld+json>{\"@type\":\"Book\",\"name\":\"D\"}</script>";
    recipe_lines out;

    recipe_rows(HEAD "items: {each: {jsonld: '', type: Book}, fields: {name: /name}}\n",
                page, &out);
    CHECK_STR(out.text, "{\"name\":\"A\"}\n{\"name\":\"B\"}\n{\"name\":\"D\"}\n");
    recipe_rows(HEAD "items: {each: {jsonld: ''}, fields: {name: /name}}\n", page, &out);
    CHECK_STR(out.text, "{\"name\":\"A\"}\n{\"name\":\"B\"}\n{\"name\":\"C\"}\n"
                        "{\"name\":\"D\"}\n");
}
