/* SPDX-License-Identifier: Apache-2.0 */
/* seine_recipe_draft: what a page repeats becomes a recipe. */
#include "failing.h"
#include "recipe_page.h"
#include "seine/recipe.h"

static seine_err
draft(const char *body, size_t len, seine_text *out)
{
    seine_page page = SEINE_PAGE;
    seine_draft_opts o = SEINE_DRAFT_OPTS;

    page.url = "https://e.example/dir/list?page=1";
    page.body = body;
    page.len = len;
    page.content_type =
        body[0] == '{' || body[0] == '[' ? "application/json" : "text/html";
    o.name = "t";
    o.page = "pages/t.html";
    o.golden = "pages/t.jsonl";
    return seine_recipe_draft(&page, &o, out);
}

/* Drafts a recipe and compares its items with these lines. */
static void
check_items(const char *body, const char *want)
{
    seine_text yaml = {NULL, 0};

    CHECK_EQ(draft(body, strlen(body), &yaml), SEINE_OK);
    const char *from = yaml.bytes ? strstr(yaml.bytes, "items:\n") : NULL;
    const char *to = from ? strstr(from, "expect: {items: '>= 1'") : NULL;
    CHECK(to != NULL);
    if (to) {
        char items[4096];
        snprintf(items, sizeof items, "%.*s", (int)(to - from - 7), from + 7);
        CHECK_STR(items, want);
    }
    seine_text_free(&yaml);
}

static void
check_has(const char *body, const char *line)
{
    seine_text yaml = {NULL, 0};

    CHECK_EQ(draft(body, strlen(body), &yaml), SEINE_OK);
    if (!yaml.bytes || !strstr(yaml.bytes, line))
        check_fail(__FILE__, __LINE__, "no '%s' in\n%s", line,
                   yaml.bytes ? yaml.bytes : "");
    seine_text_free(&yaml);
}

TEST(draft_of_cards_names_fields_after_classes_and_types_them_by_values)
{
    check_items("<div class=product><h3 class=product-title><a href=/1>Pen</a></h3>"
                "<span class=price>1,50 €</span></div>"
                "<div class=product><h3 class=product-title><a href=/2>Ink</a></h3>"
                "<span class=price>12,00 €</span></div>"
                "<div class=product><h3 class=product-title><a href=/3>Nib</a></h3>"
                "<span class=price>0,75 €</span></div>",
                "  - kind: product\n"
                "    each: .product\n"
                "    unique: link\n"
                "    fields:\n"
                "      title: .product-title a\n"
                "      price: {css: .price, type: money, decimal: ','}\n"
                "      link: {css: .product-title a, attr: href, type: url, required: "
                "true}\n");
}

TEST(draft_of_a_table_takes_columns_by_their_headings)
{
    check_items("<table id=t><tr><th>Day<th>Level (m)<th>Note</tr>"
                "<tr><td>2026-01-02<td>3.5<td>low</tr>"
                "<tr><td>2026-01-03<td>4.25<td>low</tr></table>",
                "  - kind: row\n"
                "    each: {table: '#t', header: 1}\n"
                "    fields:\n"
                "      day: {col: Day, type: date}\n"
                "      level_m: {col: Level (m), type: number}\n"
                "      note: {col: Note}\n");
}

/* Tables whose cells reach into the rows below: all rows are kept, by columns. */
TEST(draft_of_a_table_keeps_rows_below_deep_cells)
{
    static const struct {
        const char *page, *want;
    } rows[] = {
        {"<table id=t><tr><th>Line<th>Stop<th>Time</tr>"
         "<tr><td rowspan=3>North<td>Alpha<td>08:00</tr><tr><td>Beta<td>08:10</tr>"
         "<tr><td>Gamma<td>08:20</tr><tr><td rowspan=2>South<td>Delta<td>09:00</tr>"
         "<tr><td>Epsilon<td>09:10</tr><tr><td>East<td>Zeta<td>10:10</tr></table>",
         "  - kind: row\n"
         "    each: {table: '#t', header: 1}\n"
         "    fields:\n"
         "      line: {col: Line}\n"
         "      stop: {col: Stop}\n"
         "      time: {col: Time, type: time}\n"},
        /* The last column reaches down, rowspan=0 to the end of its group. */
        {"<table id=t><thead><tr><th>Stop<th>Time<th>Line</thead><tbody>"
         "<tr><td>Alpha<td>08:00<td rowspan=0>North</tr><tr><td>Beta<td>08:10</tr>"
         "<tr><td>Gamma<td>08:20</tr><tbody><tr><td>Delta<td>09:00<td>South</tr></table>",
         "  - kind: row\n"
         "    each: {table: '#t', header: 1}\n"
         "    fields:\n"
         "      stop: {col: Stop}\n"
         "      time: {col: Time, type: time}\n"
         "      line: {col: Line}\n"},
        /* Headings in two rows. */
        {"<table id=t><tr><th rowspan=2>Tower<th colspan=2>Height</tr>"
         "<tr><th>Metres<th>Feet</tr>"
         "<tr><td>Roter Sand<td>30.7<td>101</tr><tr><td>Cordouan<td>67.5<td>221</tr>"
         "<tr><td>Hook<td>35<td>115</tr></table>",
         "  - kind: row\n"
         "    each: {table: '#t', header: 2}\n"
         "    fields:\n"
         "      tower: {col: Tower}\n"
         "      metres: {col: Metres, type: number}\n"
         "      feet: {col: Feet, type: int}\n"},
        /* A link is in no column; where cells are missing its place says nothing. */
        {"<table id=t><tr><th>Line<th>Stop</tr>"
         "<tr><td rowspan=2><a href=/n>North</a><td><a href=/1>Alpha</a></tr>"
         "<tr><td><a href=/2>Beta</a></tr><tr><td><a href=/s>South</a><td>"
         "<a href=/3>Gamma</a></tr></table>",
         "  - kind: row\n"
         "    each: {table: '#t', header: 1}\n"
         "    fields:\n"
         "      line: {col: Line}\n"
         "      stop: {col: Stop}\n"},
    };

    EACH_ROW(i, rows)
        check_items(rows[i].page, rows[i].want);
}

TEST(draft_of_a_table_without_headings_keeps_rows_below_deep_cells)
{
    static const char page[] =
        "<table id=t><tr><td rowspan=2>North<td>Alpha<td>08:00</tr>"
        "<tr><td>Beta<td>08:10</tr><tr><td rowspan=2>South<td>Gamma<td>09:20</tr>"
        "<tr><td>Delta<td>09:30</tr></table>";

    check_has(page, "each: {table: '#t', header: 0}\n");
    check_has(page, "{col: '1'}\n");
    check_has(page, "{col: '2'}\n");
    check_has(page, "{col: '3', type: time}\n");
}

TEST(draft_takes_no_class_that_a_program_made)
{
    check_items("<main><div class='css-1x9k2f kYxjLr'><b class=sc-bdVaJa>Anna</b> "
                "<i class=role>cook</i></div>"
                "<div class='css-1x9k2f kYxjLr'><b class=sc-bdVaJa>Berta</b> "
                "<i class=role>baker</i></div>"
                "<div class='css-1x9k2f kYxjLr'><b class=sc-bdVaJa>Clara</b> "
                "<i class=role>smith</i></div></main>",
                "  - kind: item\n"
                "    each: div\n"
                "    fields:\n"
                "      text: b\n"
                "      role: .role\n");
}

/* Elements that only such classes tell apart are taken by their place. */
TEST(draft_takes_places_where_a_program_made_the_classes)
{
    check_items("<div class=css-1x9ab3>"
                "<div class=css-9k2jd1><a class=css-aa12f0 href=/1><h3>Hut</h3></a>"
                "<p class=css-x0x0x1>40 m2</p><p class=css-y1y1y2>90000 EUR</p></div>"
                "<div class=css-9k2jd1><a class=css-aa12f0 href=/2><h3>Tower</h3></a>"
                "<p class=css-x0x0x1>50 m2</p><p class=css-y1y1y2>70000 EUR</p></div>"
                "<div class=css-9k2jd1><a class=css-aa12f0 href=/3><h3>Barn</h3></a>"
                "<p class=css-x0x0x1>60 m2</p><p class=css-y1y1y2>80000 EUR</p></div>"
                "</div>",
                "  - kind: item\n"
                "    each: div div\n"
                "    unique: link\n"
                "    fields:\n"
                "      title: h3\n"
                "      text: 'p:nth-of-type(1)'\n"
                "      price: {css: 'p:nth-of-type(2)', type: money}\n"
                "      link: {css: a, attr: href, type: url, required: true}\n");
}

TEST(draft_reads_a_dot_before_three_digits_of_money_as_thousands)
{
    static const char page[] = "<ul><li class=j><b>A</b><i class=pay>€30.000</i>"
                               "<li class=j><b>B</b><i class=pay>€41.500</i>"
                               "<li class=j><b>C</b><i class=pay>€900</i></ul>";

    check_has(page, "pay: {css: .pay, type: money, decimal: ','}\n");
    check_has("<ul><li class=j><b>A</b><i class=pay>€30.000</i>"
              "<li class=j><b>B</b><i class=pay>€41.50</i></ul>",
              "pay: {css: .pay, type: money}\n");
}

TEST(draft_calls_one_of_the_news_news)
{
    check_has("<div class=news><article><h2>A</h2><p>one</p></article>"
              "<article><h2>B</h2><p>two</p></article></div>",
              "kind: news\n");
}

TEST(draft_finds_two_lists_of_a_page)
{
    static const char page[] =
        "<article class=story><h2><a href=/a>First</a></h2><p class=by>Ann</p></article>"
        "<article class=story><h2><a href=/b>Second</a></h2><p class=by>Bob</p></article>"
        "<article class=story><h2><a href=/c>Third</a></h2><p class=by>Cid</p></article>"
        "<ul><li class=event><b class=day>2026-12-01</b> <i class=place>Hall</i> <a "
        "href=/x>Song</a><li class=event><b class=day>2026-12-02</b> <i "
        "class=place>Barn</i> <a href=/y>Play</a></ul>";

    check_has(page, "each: article.story\n");
    check_has(page, "each: li.event\n");
    check_has(page, "day: {css: .day, type: date}\n");
}

TEST(draft_of_json_takes_the_array_with_most_to_say)
{
    check_items("{\"tags\":[1,2,3],\"meta\":{\"next\":\"/p2\"},\"data\":["
                "{\"id\":7,\"user\":{\"login\":\"a\"},\"labels\":[{\"name\":\"x\"}]},"
                "{\"id\":8,\"user\":{\"login\":\"b\"},\"labels\":[]}]}",
                "  - kind: item\n"
                "    each: /data\n"
                "    unique: id\n"
                "    fields:\n"
                "      id: {json: /id, type: int, required: true}\n"
                "      user: /user/login\n"
                "      labels: {json: /labels/-/name, all: true}\n");
    check_has("[{\"a\":1,\"b\":\"x\"},{\"a\":2,\"b\":\"y\"}]", "each: /-\n");
    check_has(
        "{\"meta\":{\"next\":\"/p2\"},\"data\":[{\"a\":1,\"b\":2},{\"a\":2,\"b\":3}]}",
        "next: {json: /meta/next}\n");
    check_has("{\"next_cursor\":\"q\",\"data\":[{\"a\":1,\"b\":2},{\"a\":2,\"b\":3}]}",
              "next: {cursor: /next_cursor, param: cursor}\n");
}

TEST(draft_reads_what_json_ld_describes)
{
    check_items(
        "<script type=application/ld+json>{\"@type\":\"WebSite\",\"name\":\"S\"}"
        "</script><script type=application/ld+json>{\"@type\":\"ItemList\","
        "\"itemListElement\":[{\"@type\":\"ListItem\",\"item\":{\"@type\":\"Book\","
        "\"name\":\"A\",\"url\":\"/a\",\"author\":{\"name\":\"Ann\"}}},"
        "{\"@type\":\"ListItem\",\"item\":{\"@type\":\"Book\",\"name\":\"B\","
        "\"url\":\"/b\",\"author\":{\"name\":\"Bob\"}}}]}</script>",
        "  - kind: book\n"
        "    each: {jsonld: /itemListElement/-/item, type: Book}\n"
        "    unique: link\n"
        "    fields:\n"
        "      name: /name\n"
        "      link: {json: /url, type: url, required: true}\n"
        "      author: /author/name\n");
}

TEST(draft_of_rss_finds_the_address_behind_its_link)
{
    check_has("<?xml version='1.0'?><rss><channel><title>T</title>"
              "<item><title>One</title><link>https://r.example/1?a&amp;b</link></item>"
              "<item><title>Two</title><link>https://r.example/2</link></item>"
              "</channel></rss>",
              "link: {attr: html, regex: '<link>\\s*([^<\\s]+)', replace: [['&amp;', "
              "'&']], type: url");
}

TEST(draft_of_rss_reads_prefixed_elements_and_marks_of_xml)
{
    static const char page[] =
        "<?xml version='1.0'?><rss><channel><item><title><![CDATA[One & all]]></title>"
        "<dc:creator>Ann</dc:creator></item><item><title><![CDATA[Two]]></title>"
        "<dc:creator>Bob</dc:creator></item></channel></rss>";

    check_has(page, "dc_creator: 'dc\\:creator'\n");
    check_has(page, "title: {css: title, regex: "
                    "'(?s)^(?:<!\\[CDATA\\[)?(.*?)(?:\\]\\]>)?$'}\n");
}

TEST(draft_writes_names_that_yaml_has_no_characters_for)
{
    check_has("<table><tr><th>A\xc2\x8d\"b<th>C'd<tr><td>1<td>x<tr><td>2<td>y</table>",
              "a_b: {col: \"A\\u008d\\\"b\", type: int}\n      c_d: {col: 'C''d'}\n");
}

/* CSS Syntax, 4.3.7: a backslash takes the meaning of a sign, or stands before the number
 * of one. */
TEST(draft_writes_tags_that_selectors_need_escapes_for)
{
    static const struct {
        const char *tag, *want;
    } rows[] = {
        {"category@ember", "category_ember: 'category\\@ember'\n"}, /* no attribute */
        {"dc:date", "dc_date: 'dc\\:date'\n"},
        {"a.b#c", "a_b_c: 'a\\.b\\#c'\n"},
        {"x'y", "x_y: 'x\\''y'\n"},
        {"x\"y", "x_y: 'x\\\"y'\n"},
        {"x\\y", "x_y: 'x\\\\y'\n"},
        {"x\\@y", "x_y: 'x\\\\\\@y'\n"},
        {"x{y}", "x_y: 'x\\{y\\}'\n"},
        {"x\1y", "x_y: 'x\\1 y'\n"},
        {"x\xc2\x85y", "x_y: \"x\\u0085y\"\n"},
        {"x\xf0\x9f\x9a\x80y", "x_y: 'x\xf0\x9f\x9a\x80y'\n"},
    };

    EACH_ROW(i, rows) {
        const char *t = rows[i].tag;
        char page[512];
        snprintf(page, sizeof page,
                 "<?xml version='1.0' encoding='utf-8'?><rss><channel>"
                 "<item><title>One</title><%s>Ann</%s></item>"
                 "<item><title>Two</title><%s>Bob</%s></item></channel></rss>",
                 t, t, t, t);
        check_has(page, rows[i].want);
    }
}

/* A class is matched as it is written, also inside of a regular expression. */
TEST(draft_of_a_rating_takes_any_class_for_its_name)
{
    static const char *const classes[] = {"star-rating", "star(", "star+",
                                          "star*",       "a\\",   "st\xc3\xa4rn"};

    EACH_ROW(i, classes) {
        char page[512];
        const char *c = classes[i];
        snprintf(page, sizeof page,
                 "<meta charset=utf-8>"
                 "<ul><li><b>One</b><p class='%s Three'></p><i>aa</i>"
                 "<li><b>Two</b><p class='%s Four'></p><i>bb</i></ul>",
                 c, c);
        check_has(page, "attr: class");
        check_has(page, "expect: {items: 2, bad: 0");
    }
}

TEST(draft_of_json_ld_takes_any_type_for_its_kind)
{
    static const struct {
        const char *type, *want;
    } rows[] = {
        {"!!!", "kind: item\n    each: {jsonld: '', type: '!!!'}\n"},
        {"3", "kind: item\n"},
        {"\xe6\x9c\xac", "kind: item\n"},
        {"3D Model", "kind: _3d_model\n"},
        {"null", "kind: null\n"},
    };

    EACH_ROW(i, rows) {
        char page[512];
        snprintf(page, sizeof page,
                 "<meta charset=utf-8><script type=application/ld+json>"
                 "[{\"@type\":\"%s\",\"name\":\"A\",\"b\":1},"
                 "{\"@type\":\"%s\",\"name\":\"B\",\"b\":2}]</script>",
                 rows[i].type, rows[i].type);
        check_has(page, rows[i].want);
    }
}

TEST(draft_finds_the_next_page)
{
    static const struct {
        const char *html, *want;
    } rows[] = {
        {"<a rel='nofollow next' href='?page=2'>x</a>",
         "{css: 'a[rel~=next]', attr: href}"},
        {"<a class=next-page href='?page=2'>x</a>", "{css: a.next-page, attr: href}"},
        {"<span class=next><a href='?page=2'>x</a></span>", "{css: .next a, attr: href}"},
        {"<a aria-label='Next page' href='?page=2'>x</a>",
         "{css: 'a[aria-label=\"Next page\"]', attr: href}"},
        {"<a href='?page=2'>Next »</a>", "{page: page}"}, /* by its text */
        /* Names and values that a selector, or YAML, has no place for as they are. */
        {"<a class=2-next href='?page=2'>x</a>", "{css: 'a.\\32 -next', attr: href}"},
        {"<p class=-2-next><a href='?page=2'>x</a></p>",
         "{css: '.-\\32 -next a', attr: href}"},
        {"<a aria-label='Next \"a\\' href='?page=2'>x</a>",
         "{css: 'a[aria-label=\"Next \\\"a\\\\\"]', attr: href}"},
        {"<a aria-label=\"Next '\" href='?page=2'>x</a>",
         "{css: 'a[aria-label=\"Next ''\"]', attr: href}"},
        {"<a aria-label='Next \n\1' href='?page=2'>x</a>",
         "{css: 'a[aria-label=\"Next \\a \\1 \"]', attr: href}"},
        {"<a aria-label='Next &#x2028;' href='?page=2'>x</a>",
         "{css: \"a[aria-label=\\\"Next \\u2028\\\"]\", attr: href}"},
    };

    EACH_ROW(i, rows) {
        char page[512], line[128];
        snprintf(
            page, sizeof page,
            "<ul><li><a href=/1>One</a> for all<li><a href=/2>Two</a> for tea</ul>%s",
            rows[i].html);
        snprintf(line, sizeof line, "next: %s\n", rows[i].want);
        check_has(page, line);
        check_has(page, "next: 'https://e.example/dir/list?page=2'}");
    }
}

TEST(draft_gives_a_type_only_if_all_values_are_of_it)
{
    static const struct {
        const char *a, *b, *c, *want;
    } rows[] = {
        {"12", "7", "1,200", "figure: {css: .figure, type: int}\n"},
        {"12", "seven", "3", "figure: .figure\n"},
        {"007", "008", "123", "figure: .figure\n"},   /* zeros are lost */
        {"3.9", "3.10", "3.11", "figure: .figure\n"}, /* versions */
        {"3.90", "3.10", "3.11", "figure: {css: .figure, type: number}\n"},
        {"1,5", "2,25", "3,0", "figure: {css: .figure, type: number, decimal: ','}\n"},
        {"$5", "$1,000.50", "$2", "figure: {css: .figure, type: money}\n"},
        {"2026-01-02", "2026-01-03", "2026-01-04",
         "figure: {css: .figure, type: date}\n"},
        {"3 May 2026", "14 June 2026", "1 July 2026",
         "figure: {css: .figure, type: date, format: '%d %B %Y'}\n"},
        {"13/02/2026", "01/02/2026", "02/02/2026",
         "figure: {css: .figure, type: date, format: '%d/%m/%Y'}\n"},
        {"03/02/2026", "01/02/2026", "02/02/2026",
         "figure: .figure\n"},                         /* which is the month? */
        {"NEW1", "NEW0", "NEW2", "figure: .figure\n"}, /* three letters are no currency */
        {"yes", "no", "yes", "figure: {css: .figure, type: bool}\n"},
        {"2026-01-02T10:00Z", "2026-01-02T11:00Z", "2026-01-03T10:00Z",
         "figure: {css: .figure, type: datetime}\n"},
    };

    EACH_ROW(i, rows) {
        char page[600];
        snprintf(
            page, sizeof page,
            "<ul><li class=thing><a href=/1>Aa</a><i class=figure>%s</i><li "
            "class=thing><a "
            "href=/2>Bb</a><i class=figure>%s</i><li class=thing><a href=/3>Cc</a><i "
            "class=figure>%s</i></ul>",
            rows[i].a, rows[i].b, rows[i].c);
        check_has(page, rows[i].want);
    }
}

TEST(draft_drops_what_is_the_same_in_all_rows)
{
    check_items("<ul><li><a href=/1>One</a><button>Buy</button><b class=x>New</b>"
                "<li><a href=/2>Two</a><button>Buy</button><b class=x>New</b>"
                "<li><a href=/3>Six</a><button>Buy</button><b class=x>New</b></ul>",
                "  - kind: item\n"
                "    each: li\n"
                "    unique: link\n"
                "    fields:\n"
                "      title: a\n"
                "      link: {css: a, attr: href, type: url, required: true}\n");
}

TEST(draft_takes_labels_for_names_and_leaves_them_out_of_values)
{
    check_items("<article><h2>A</h2><ul><li><b>Starts:</b> 3 May 2027<li>Teacher: Ann"
                "</ul></article><article><h2>B</h2><ul><li><b>Starts:</b> 4 May 2027<li>"
                "Teacher: Bob</ul></article>",
                "  - kind: article\n"
                "    each: article\n"
                "    fields:\n"
                "      title: h2\n"
                "      starts: {css: 'li:nth-of-type(1)', regex: '^Starts\\s*:\\s*(.+)', "
                "type: date, format: '%d %B %Y'}\n"
                "      teacher: {css: 'li:nth-of-type(2)', regex: "
                "'^Teacher\\s*:\\s*(.+)'}\n");
}

TEST(draft_takes_the_link_with_a_text_before_one_without)
{
    check_has("<ul><li class=story><a href=/up/1><i></i></a><a class=headline "
              "href=/1>One</a><li class=story><a href=/up/2><i></i></a><a class=headline "
              "href=/2>Two</a></ul>",
              "link: {css: .headline, attr: href, type: url, required: true}\n");
}

TEST(draft_keeps_a_link_that_is_written_like_its_text)
{
    check_has("<ul><li><a href=ab>ab</a> 1.0<li><a href=cd>cd</a> 1.1</ul>",
              "link: {css: a, attr: href, type: url, required: true}\n");
}

TEST(draft_finds_one_itemprop_of_several)
{
    check_has("<div itemscope><a itemprop='name url' href=/1>One</a> <i "
              "itemprop=size>3</i></div><div itemscope><a itemprop='name url' "
              "href=/2>Two</a> <i itemprop=size>4</i></div>",
              "name: '[itemprop~=name]'\n");
}

TEST(draft_leaves_out_rows_that_are_headings_of_others)
{
    check_has(
        "<table class=index><tr class=cap><td><td>A<tr><td><td><a href=/1>Aa</a>"
        "<tr class=x1><td><td><a href=/2>Ab</a><tr class=cap><td><td>B<tr><td><td><a "
        "href=/3>Ba</a><tr><td><td><a href=/4>Bb</a></table>",
        "tr:has(a)");
}

TEST(draft_says_that_nothing_repeats)
{
    static const char *const pages[] = {"",   "<p>Hello",         "{\"a\":1}",   "[]",
                                        "{}", "<ul><li>One</ul>", "\xff\xfe\0\1"};

    EACH_ROW(i, pages) {
        seine_text yaml = {NULL, 0};
        seine_err e = draft(pages[i], strlen(pages[i]), &yaml);
        CHECK_EQ(e, SEINE_E_UNKNOWN);
        seine_text_free(&yaml);
    }
}

TEST(draft_tells_why_a_page_cannot_be_read)
{
    char deep[2001];
    seine_text yaml = {NULL, 0};

    for (size_t i = 0; i + 5 <= 2000; i += 5)
        memcpy(deep + i, "<div>", 6);
    CHECK_EQ(draft(deep, 2000, &yaml), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(draft("{\"a\":", 5, &yaml), SEINE_E_BAD_JSON);
    seine_text_free(&yaml);
}

TEST(draft_refuses_a_name_that_is_none)
{
    static const char *const names[] = {"", "a b", "1st", "a/b", NULL};
    seine_page page = SEINE_PAGE;
    seine_text yaml = {NULL, 0};

    page.url = "https://e.example/";
    page.body = "";
    EACH_ROW(i, names) {
        seine_draft_opts o = SEINE_DRAFT_OPTS;
        o.name = names[i];
        o.page = o.golden = "p";
        CHECK_EQ(seine_recipe_draft(&page, &o, &yaml), SEINE_E_INVAL);
    }
}

TEST(draft_survives_each_allocation_that_fails)
{
    static const char *const pages[] = {
        "<table><tr><th>A<th>B<tr><td>1<td>x<tr><td>2<td>y</table>",
        "[{\"a\":1,\"b\":\"x\"},{\"a\":2,\"b\":\"y\"}]"};

    for (size_t i = 0; i < 2; i++)
        FAIL_EACH(r)
        {
            seine_text yaml = {NULL, 0};
            seine_err e = draft(pages[i], strlen(pages[i]), &yaml);
            if (e != SEINE_OK)
                CHECK_EQ(e, SEINE_E_NOMEM);
            seine_text_free(&yaml);
        }
}
