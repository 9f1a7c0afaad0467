/* SPDX-License-Identifier: Apache-2.0 */
/* Traps: pages of one host are asked for, read and judged by hand. */
#include "base/alloc.h"
#include "desk.h"
#include "engine/page.h"
#include "store/job_parts.h"

enum { PATTERN, EXCESS, FAMILY, WORDS }; /* as in frontier_traps.c */

enum { BUDGET = 10 };

typedef struct site {
    desk d;
    uint32_t host;
    sn_crawl_state *x;
} site;

/* The options of the crawl are a copy. */
static void
set_budget(site *s, uint32_t budget)
{
    ((seine_crawl_opts *)s->d.f->shared->opts.crawl)->pattern_budget = budget;
}

static void
open_site(site *s, uint32_t budget)
{
    char mem[64];
    seine_url url;
    sn_crawl_host *ch;

    open_desk(&s->d, UINT32_MAX);
    set_budget(s, budget);
    seine_url_init(&url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&url, "http://a.example/", 17, NULL), SEINE_OK);
    CHECK_EQ(sn_frontier_host(s->d.f, &url, false, 0, &s->host, &ch), SEINE_OK);
    s->x = sn_crawl_hosts_state(&s->d.f->hosts, s->host);
}

static void
close_site(site *s)
{
    close_desk(&s->d);
}

/* Words that no other number has; triples of them are new. */
static const char *
words_of(unsigned number)
{
    static char text[400];
    size_t n = 0;

    for (unsigned i = 0; i < 30; i++) {
        unsigned x = number * 30 + i;
        for (unsigned k = 0; k < 6; k++, x /= 20)
            text[n++] = (char)('a' + x % 20);
        text[n++] = ' ';
    }
    text[n] = '\0';
    return text;
}

/* The URL is asked for. */
static sn_visit *
ask(site *s, const char *path)
{
    char url[700];

    snprintf(url, sizeof url, "http://a.example%s", path);
    sn_visit *v = visit(&s->d.t, url);
    v->is_stored = true;
    v->home_host = s->host;
    sn_frontier_count_page(s->d.f, s->host, v);
    return v;
}

static void
feed(sn_page *p, const char *text)
{
    sn_page_feed(p, sn_str_of(text));
}

/* Its page has come: a title, a text and so many links. */
static void
come(sn_visit *v, const char *title, const char *text, unsigned n_links)
{
    v->page = sn_page_new();
    sn_page_begin(v->page, &(sn_page_wants){.kind = SN_KIND_PAGE,
                                            .links = true,
                                            .content_type = SN_STR("text/html"),
                                            .charset = SN_STR("utf-8"),
                                            .own = seine_url_target(&v->url)});
    feed(v->page, "<p>");
    feed(v->page, text);
    feed(v->page, "</p>");
    for (unsigned i = 0; i < n_links; i++)
        feed(v->page, "<a href=/x>x</a>");
    sn_page_end(v->page);
    v->title = sn_str_of(title);
}

static void
lead_to(site *s, const char *text)
{
    char mem[700];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&url, text, strlen(text), NULL), SEINE_OK);
    sn_frontier_lead(s->d.f, &url);
}

static void
leave(site *s, sn_visit *v)
{
    sn_page_free(v->page);
    v->page = NULL;
    sn_visits_give(s->d.t.shared.visits, v);
}

/* One page, from the question to the verdict. What its links are led by. */
static uint8_t
read_page(site *s, const char *path, const char *text, const char *link)
{
    sn_visit *v = ask(s, path);

    come(v, "", text, 0);
    uint8_t leader = sn_frontier_look(s->d.f, v);
    if (link)
        lead_to(s, link);
    sn_frontier_judge(s->d.f);
    leave(s, v);
    return leader;
}

/* Pages first … first + n - 1 of a pattern "/item/%u"; `is_new`: each with its own text.
 */
static void
read_pages(site *s, const char *pattern, unsigned first, unsigned n, bool is_new)
{
    char path[128];

    for (unsigned i = first; i < first + n; i++) {
        const char *at = strchr(pattern, '#');

        snprintf(path, sizeof path, "%.*s%u%s", (int)(at - pattern), pattern, i, at + 1);
        read_page(s, path, words_of(is_new ? 1000 + i : 0), NULL);
    }
}

static bool
refuses_by(site *s, const char *path, uint8_t flags, sn_skip_why *why)
{
    sn_waiting_url u = {.target = sn_str_of(path), .kind = SN_KIND_PAGE, .flags = flags};

    return sn_frontier_repeats(s->d.f, s->host, &u, why);
}

static bool
refuses(site *s, const char *path)
{
    sn_skip_why why;

    return refuses_by(s, path, SN_LEADER_UNKNOWN, &why);
}

static sn_pattern *
row_of(site *s, uint64_t key)
{
    return sn_pattern_table_find(&s->x->patterns, key);
}

/* The row of a URL on one level; NULL: none. */
static sn_pattern *
row_at(site *s, const char *path, unsigned level)
{
    sn_visit *v = ask(s, path);
    uint64_t key = v->traps[level];

    leave(s, v);
    return key ? row_of(s, key) : NULL;
}

/* Levels. */

static const char deep[] =
    "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/aa/bb/cc/"
    "dd/ee/ff/gg";

TEST(frontier_traps_count_a_url_by_its_pattern_its_family_and_its_host)
{
    static const struct {
        const char *path;
        bool pattern, excess, family;
    } rows[] = {
        {"/about", false, false, false},
        {"/item/1", true, false, false},
        {"/about?page=1", true, false, true},
        {"/about?a=1&b=2", true, false, true},
        {"/a/b/a/b/a/b", false, false, true}, /* it goes round */
        {"/s/9f86d081884c7d65/x", true, false, true},
        {deep, true, true, false}, /* its end is cut off */
    };
    site s;

    open_site(&s, BUDGET);
    EACH_ROW(i, rows) {
        sn_visit *v = ask(&s, rows[i].path);

        CHECK_EQ(v->traps[PATTERN] != 0, rows[i].pattern);
        CHECK_EQ(v->traps[EXCESS] != 0, rows[i].excess);
        CHECK_EQ(v->traps[FAMILY] != 0, rows[i].family);
        CHECK(v->traps[WORDS] != 0);
        for (unsigned k = 0; k < SN_TRAP_LEVELS; k++) {
            const sn_pattern *row = v->traps[k] ? row_of(&s, v->traps[k]) : NULL;
            if (v->traps[k])
                CHECK_EQ(row->count, k == WORDS ? i + 1 : 1);
            for (unsigned other = 0; other < k; other++)
                CHECK(v->traps[k] == 0 || v->traps[k] != v->traps[other]);
        }
        leave(&s, v);
    }
    close_site(&s);
}

TEST(frontier_traps_know_urls_that_look_alike)
{
    static const struct {
        const char *a, *b;
        unsigned level;
        bool same;
    } rows[] = {
        {"/item/1", "/item/22", PATTERN, true},
        {"/item/1", "/thing/1", PATTERN, false},
        {"/item?id=1", "/thing?id=2", FAMILY, true},
        {"/item?id=1", "/thing?id=2", PATTERN, false},
        {"/item?id=1", "/item?no=1", FAMILY, false},
        {"/item?id=1", "/thing", WORDS, true},
        {"/a?", "/a", WORDS, true},
    };
    site s;

    open_site(&s, BUDGET);
    EACH_ROW(i, rows) {
        sn_visit *a = ask(&s, rows[i].a), *b = ask(&s, rows[i].b);

        CHECK_EQ(a->traps[rows[i].level] == b->traps[rows[i].level], rows[i].same);
        leave(&s, a);
        leave(&s, b);
    }
    close_site(&s);
}

/* Budgets. */

TEST(frontier_traps_look_at_no_page_within_the_budget)
{
    static const struct {
        const char *path;
        unsigned level, first; /* page that is looked at */
    } rows[] = {
        {"/item/1", PATTERN, BUDGET + 1},
        {"/x?id=1", FAMILY, BUDGET + 1},
        {"/x", WORDS, BUDGET + 1},
        {deep, EXCESS, 1},
    };

    EACH_ROW(i, rows) {
        site s;

        open_site(&s, BUDGET);
        for (unsigned n = 1; n < BUDGET + 4; n++) {
            sn_visit *v = ask(&s, rows[i].path);

            CHECK_EQ(v->looks >> rows[i].level & 1, n >= rows[i].first);
            CHECK_EQ(row_of(&s, v->traps[rows[i].level])->novelty != NULL,
                     n >= rows[i].first);
            CHECK_EQ(row_of(&s, v->traps[rows[i].level])->count, n);
            leave(&s, v);
        }
        close_site(&s);
    }
}

TEST(frontier_traps_count_nothing_without_a_budget)
{
    site s;

    open_site(&s, 0);
    for (unsigned i = 0; i < 30; i++) {
        sn_visit *v = ask(&s, deep);

        CHECK_EQ(v->looks, 0);
        for (unsigned k = 0; k < SN_TRAP_LEVELS; k++)
            CHECK_EQ(v->traps[k], 0);
        leave(&s, v);
    }
    CHECK_EQ(s.x->patterns.n, 0);
    CHECK(!refuses(&s, deep));
    close_site(&s);
}

/* Refusing. */

TEST(frontier_traps_refuse_a_pattern_whose_last_200_pages_repeat)
{
    sn_skip_why why;
    site s;

    open_site(&s, BUDGET);
    read_pages(&s, "/item/#", 0, BUDGET + 199, false);
    CHECK(!refuses(&s, "/item/7000"));
    CHECK(!s.d.event.name);
    read_pages(&s, "/item/#", 500, 1, false);
    CHECK(refuses_by(&s, "/item/7000", SN_LEADER_NEW, &why));
    CHECK_EQ(why.reason, SEINE_SKIP_TRAP);
    CHECK_EQ(why.rule.len, strlen(why.mem));
    CHECK_STR(why.mem, "pattern_budget 10: pattern /item/#, 199 of its last 200 pages "
                       "brought nothing new");
    CHECK_STR(s.d.event.name, "trap");
    CHECK_EQ(s.d.event.until, SEINE_NEVER);
    CHECK(sn_str_eq(s.d.event.detail, SN_STR("/item/#")));
    CHECK(sn_str_eq(s.d.event.host, SN_STR("http://a.example:80")));
    s.d.event = (seine_event){0};
    CHECK(refuses_by(&s, "/item/7001", SN_LEADER_NEW, &why));
    CHECK(!s.d.event.name); /* it is told once */
    CHECK(!refuses(&s, "/thing/1"));
    CHECK(!refuses(&s, "/item"));
    sn_waiting_url map = {.target = SN_STR("/item/7002"), .kind = SN_KIND_SITEMAP};
    CHECK(!sn_frontier_repeats(s.d.f, s.host, &map, &why));
    set_budget(&s, 0);
    CHECK(!refuses(&s, "/item/7000"));
    close_site(&s);
}

/* Each path is a pattern of its own, and few of them. */
TEST(frontier_traps_refuse_no_page_that_an_earlier_round_had)
{
    static const seine_revisit_opts revisit = SEINE_REVISIT_OPTS;
    seine_durable_job job = {0};
    sn_waiting_url u = {
        .target = SN_STR("/item/7000"), .kind = SN_KIND_PAGE, .number = 7};
    sn_skip_why why;
    site s;

    open_site(&s, BUDGET);
    read_pages(&s, "/item/#", 0, BUDGET + 200, false);
    CHECK(sn_frontier_repeats(s.d.f, s.host, &u, &why));
    CHECK_EQ(sn_job_bit_set(&job.has_page, 7), SEINE_OK);
    s.d.t.shared.job = &job;
    CHECK(sn_frontier_repeats(s.d.f, s.host, &u, &why)); /* no round, no page of one */
    s.d.t.shared.opts.revisit = &revisit;
    CHECK(!sn_frontier_repeats(s.d.f, s.host, &u, &why));
    u.number = 8;
    CHECK(sn_frontier_repeats(s.d.f, s.host, &u, &why));
    s.d.t.shared.opts.revisit = NULL;
    s.d.t.shared.job = NULL;
    sn_free(job.has_page.words);
    close_site(&s);
}

TEST(frontier_traps_refuse_a_family_by_its_name)
{
    sn_skip_why why;
    char path[64];
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < BUDGET + 200; i++) {
        snprintf(path, sizeof path, "/p%c%c?sid=%u", 'a' + i % 20, 'a' + i / 20, i);
        read_page(&s, path, words_of(0), NULL);
    }
    CHECK(!refuses(&s, "/paa?sid=3")); /* nobody looked at that page */
    CHECK(refuses_by(&s, "/pfk?sid=3", SN_LEADER_NEW, &why));
    CHECK_STR(why.mem,
              "pattern_budget 10: pattern /pfk?sid, 199 of the last 200 pages of "
              "/**?sid brought nothing new");
    CHECK(sn_str_eq(s.d.event.detail, SN_STR("/**?sid")));
    CHECK(!refuses_by(&s, "/paa?page=3", SN_LEADER_NEW, &why));
    close_site(&s);
}

TEST(frontier_traps_refuse_urls_in_excess_after_eight_pages)
{
    char path[256];
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "%s/%c", deep, 'a' + i);
        CHECK(!refuses(&s, path));
        read_page(&s, path, words_of(i == 0 ? 0 : 1), NULL);
    }
    read_page(&s, "/" /* of no excess */, words_of(0), NULL);
    snprintf(path, sizeof path, "%s/other", deep);
    CHECK(!refuses(&s, path)); /* two of eight were new */
    for (unsigned i = 0; i < 12; i++) {
        snprintf(path, sizeof path, "%s/x%c", deep, 'a' + i);
        read_page(&s, path, words_of(1), NULL);
    }
    snprintf(path, sizeof path, "%s/other", deep);
    CHECK(refuses(&s, path));
    /* 25 of 32 segments are near: looked at, and not refused */
    sn_visit *v = ask(&s, "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z");
    CHECK(v->traps[EXCESS] != 0 && v->looks >> EXCESS & 1);
    leave(&s, v);
    CHECK(!refuses(&s, "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z"));
    close_site(&s);
}

TEST(frontier_traps_judge_no_page_that_did_not_come)
{
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < BUDGET + 300; i++) {
        sn_visit *v = ask(&s, "/item/1");

        CHECK_EQ(SN_LEADER_OF(sn_frontier_look(s.d.f, v)), SN_LEADER_UNKNOWN);
        CHECK(!s.d.f->looking.visit);
        sn_frontier_judge(s.d.f);
        leave(&s, v);
    }
    CHECK(!refuses(&s, "/item/1"));
    CHECK_EQ(row_at(&s, "/item/1", PATTERN)->novelty->last.n, 0);
    close_site(&s);
}

/* What a page leads to. */

/* Does a page of a pattern that is looked at bring something, if it leads there? */
static unsigned
news_by(site *s, const char *link, unsigned pages)
{
    sn_pattern *row = row_at(s, "/item/1", PATTERN);
    unsigned before = row->novelty->last.n_new;
    char path[64];

    for (unsigned i = 0; i < pages; i++) {
        snprintf(path, sizeof path, "/item/%u", 2000 + i);
        read_page(s, path, words_of(0), link);
    }
    return row_at(s, "/item/1", PATTERN)->novelty->last.n_new - before;
}

static void
open_items(site *s)
{
    open_site(s, BUDGET);
    read_pages(s, "/item/#", 0, BUDGET + 20, false);
}

TEST(frontier_traps_a_page_that_leads_to_other_pages_brings_something)
{
    static const struct {
        const char *link;
        unsigned news; /* of 15 pages that lead there */
    } rows[] = {
        {NULL, 0},
        {"http://a.example/item/99999", 0},    /* of its own pattern */
        {"http://a.example/about", 15},        /* of none */
        {"http://a.example/thing/1", BUDGET},  /* of another one: a budget of them */
        {"http://a.example/item?x=1", BUDGET}, /* of a family: likewise */
        {"http://b.example/", BUDGET},         /* of another host */
        {"http://a.example:81/", BUDGET},
    };

    EACH_ROW(i, rows) {
        site s;

        open_items(&s);
        CHECK_EQ(news_by(&s, rows[i].link, 15), rows[i].news);
        close_site(&s);
    }
}

TEST(frontier_traps_a_page_that_leads_to_a_trap_brings_nothing)
{
    site s;

    open_items(&s);
    for (unsigned i = 0; i < BUDGET + 200; i++) {
        char path[64];

        snprintf(path, sizeof path, "/cal?day=%u", i);
        read_page(&s, path, words_of(7), NULL);
    }
    CHECK(refuses(&s, "/cal?day=5555"));
    CHECK_EQ(news_by(&s, "http://a.example/cal?day=5555", 5), 0);
    close_site(&s);
}

/* The second pattern is over its budget, too, and has no verdict yet. */
TEST(frontier_traps_of_a_pattern_over_its_budget_texts_tell)
{
    for (int is_new = 0; is_new < 2; is_new++) {
        site s;

        open_items(&s);
        for (unsigned i = 0; i < BUDGET + SN_FEW; i++) {
            char path[64];

            snprintf(path, sizeof path, "/list?day=%u", i);
            read_page(&s, path, words_of(is_new ? 100 + i : 7), NULL);
        }
        CHECK_EQ(news_by(&s, "http://a.example/list?day=5555", 5), is_new ? 5 : 0);
        close_site(&s);
    }
}

/* The links of the page are read in slices, and meanwhile others are judged. */
TEST(frontier_traps_nobody_leads_anywhere_while_no_page_is_looked_at)
{
    site s;

    open_items(&s);
    lead_to(&s, "http://a.example/about");
    CHECK_EQ(news_by(&s, NULL, 1), 0);
    close_site(&s);
}

/* Leaders. */

TEST(frontier_traps_a_page_that_is_looked_at_says_what_leads_its_links)
{
    static const struct {
        bool is_new;
        sn_leader own, want;
    } rows[] = {
        {true, SN_LEADER_UNKNOWN, SN_LEADER_NEW},
        {true, SN_LEADER_REPEAT, SN_LEADER_NEW},
        {false, SN_LEADER_NEW, SN_LEADER_UNKNOWN}, /* a list of links of an honest page */
        {false, SN_LEADER_UNKNOWN, SN_LEADER_REPEAT},
        {false, SN_LEADER_REPEAT, SN_LEADER_REPEAT},
    };

    EACH_ROW(i, rows) {
        site s;

        open_site(&s, BUDGET);
        read_pages(&s, "/item/#", 0, BUDGET + 100, false);
        sn_visit *v = ask(&s, "/item/5");
        v->leader = (uint8_t)rows[i].own;
        come(v, "", words_of(rows[i].is_new ? 77 : 0), 0);
        CHECK_EQ(SN_LEADER_OF(sn_frontier_look(s.d.f, v)), rows[i].want);
        sn_frontier_judge(s.d.f);
        leave(&s, v);
        close_site(&s);
    }
}

static unsigned
look_of(site *s, const char *path, const char *title, unsigned n_links)
{
    sn_visit *v = ask(s, path);

    come(v, title, words_of(0), n_links);
    unsigned look = SN_LOOK_OF(sn_frontier_look(s->d.f, v));
    sn_frontier_judge(s->d.f);
    leave(s, v);
    return look;
}

TEST(frontier_traps_pages_look_alike_by_title_and_number_of_links)
{
    unsigned others = 0;
    site s;

    open_site(&s, BUDGET);
    unsigned look = look_of(&s, "/a", "Nothing was found here", 3);
    CHECK_EQ(look_of(&s, "/b", "Nothing was found here", 3), look);
    CHECK_EQ(look_of(&s, "/blue", "Nothing blue was found here 17", 3), look);
    for (unsigned i = 4; i < 14; i++)
        others += look_of(&s, "/a", "Nothing was found here", i) != look;
    CHECK(others >= 9); /* 64 looks there are */
    others = look_of(&s, "/a", "Another page altogether", 3) != look;
    others += look_of(&s, "/a", "Something was found there", 3) != look;
    others += look_of(&s, "/a", "", 3) != look;
    CHECK(others >= 2);
    close_site(&s);
}

/* Room. */

/* So many patterns with one page over their budget of one. */
static void
read_patterns(site *s, unsigned n)
{
    char path[64];

    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "/p%c%c/#", 'a' + i % 20, 'a' + i / 20);
        read_pages(s, path, 0, 2, true);
    }
}

TEST(frontier_traps_look_at_as_many_patterns_as_memory_allows)
{
    static const struct {
        uint64_t memory;
        uint32_t shards, most;
    } rows[] = {
        {1 << 20, 1, 8},
        {UINT64_C(16) * 8 << 20, 1, 8},
        {UINT64_C(16) * 9 << 20, 1, 9},
        {UINT64_C(16) * 20 << 20, 1, 20},
        {UINT64_C(16) * 40 << 20, 2, 20},
        {UINT64_C(1) << 40, 1, SN_LOOKED},
    };

    EACH_ROW(i, rows) {
        site s;

        open_site(&s, 1);
        s.d.t.shared.opts.max_memory = rows[i].memory;
        s.d.f->n = rows[i].shards;
        read_patterns(&s, SN_LOOKED + 6);
        CHECK_EQ(s.x->patterns.n_looked, rows[i].most);
        s.d.f->n = 1;
        close_site(&s);
    }
}

/* Seven patterns repeat, and the plain words of the host have the eighth place. */
TEST(frontier_traps_a_pattern_that_repeats_makes_room_and_stays_refused)
{
    char path[64];
    sn_skip_why why;
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "/p%c/#", 'a' + i);
        read_pages(&s, path, 0, BUDGET + 200, false);
    }
    CHECK_EQ(s.x->patterns.n_looked, 8);
    CHECK_EQ(s.x->patterns.n_left, 0);
    read_pages(&s, "/q/#", 0, BUDGET + 1, false);
    CHECK_EQ(s.x->patterns.n_looked, 8);
    CHECK_EQ(s.x->patterns.n_left, 1);
    CHECK(row_at(&s, "/q/1", PATTERN)->novelty != NULL);
    unsigned left = 0;
    for (unsigned i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "/p%c/7", 'a' + i);
        const sn_pattern *row = row_at(&s, path, PATTERN);
        CHECK(refuses_by(&s, path, SN_LEADER_NEW, &why));
        CHECK_EQ(row->is_left, row->novelty == NULL);
        if (!row->is_left)
            continue;
        left++;
        CHECK_STR(path, "/pa/7"); /* the oldest one */
        CHECK_STR(why.mem, "pattern_budget 10: pattern /pa/#, the pages of /pa/# brought "
                           "nothing new");
        CHECK_EQ(why.rule.len, strlen(why.mem));
        CHECK_EQ(why.reason, SEINE_SKIP_TRAP);
    }
    CHECK_EQ(left, 1);
    close_site(&s);
}

/* One that is good is looked at anew when it has the next page. */
TEST(frontier_traps_a_pattern_that_brings_something_makes_room_first)
{
    char path[64];
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "/p%c/#", 'a' + i);
        read_pages(&s, path, 0, BUDGET + 200, i == 3);
    }
    read_pages(&s, "/q/#", 0, BUDGET + 1, false);
    CHECK_EQ(s.x->patterns.n_left, 0);
    CHECK(row_at(&s, "/pa/1", PATTERN)->novelty != NULL);
    CHECK(!refuses(&s, "/pd/1"));
    const sn_pattern *good = row_at(&s, "/pd/1", PATTERN);
    CHECK(!good->is_left);
    CHECK_EQ(good->novelty->last.n, 0); /* by the question just now */
    CHECK_EQ(s.x->patterns.n_left, 1);  /* for which another one made room */
    close_site(&s);
}

/* Before there is a verdict nobody goes who had one of the last 600 pages. */
TEST(frontier_traps_a_pattern_without_pages_makes_room_in_the_end)
{
    char path[64];
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "/p%c/#", 'a' + i);
        read_pages(&s, path, 0, BUDGET + 10, false);
    }
    read_pages(&s, "/q/#", 0, BUDGET + 10, false);
    CHECK_EQ(s.x->patterns.n_looked, 8);
    CHECK(!row_at(&s, "/q/1", PATTERN)->novelty);
    CHECK_EQ(s.x->patterns.n_left, 0);
    s.d.f->looks += SN_IDLE;
    CHECK(row_at(&s, "/q/1", PATTERN)->novelty != NULL);
    CHECK_EQ(s.x->patterns.n_looked, 8);
    CHECK_EQ(s.x->patterns.n_left, 0); /* it has no verdict, and may come back */
    CHECK_EQ(row_at(&s, "/pb/1", PATTERN)->novelty != NULL, true);
    close_site(&s);
}

/* Devices, names that recur, plain words. */

/* So many directories of the root; the pages of each have the same two names. */
static void
read_directories(site *s, unsigned first, unsigned n, bool is_new)
{
    char path[64];

    for (unsigned i = first; i < first + n; i++) {
        snprintf(path, sizeof path, "/u%c%c%c/page", 'a' + i % 20, 'a' + i / 20 % 20,
                 'a' + i / 400);
        read_page(s, path, words_of(is_new ? 5000 + i : 0), NULL);
    }
}

TEST(frontier_traps_a_directory_of_very_many_is_a_device)
{
    sn_skip_why why;
    site s;

    open_site(&s, 2 * BUDGET);
    read_directories(&s, 0, 2 * SN_CHILDREN - 1, true);
    CHECK(!row_at(&s, "/other/page", FAMILY)); /* 127 were counted; that was the next */
    sn_visit *v = ask(&s, "/another/page");
    CHECK(v->traps[FAMILY] != 0);
    leave(&s, v);
    v = ask(&s, "/again/page");
    CHECK_EQ(v->traps[FAMILY], row_at(&s, "/and-again/page", FAMILY)->key);
    leave(&s, v);
    CHECK(!row_at(&s, "/file", FAMILY)); /* no directory */
    read_directories(&s, 1000, 2 * BUDGET + 250, false);
    CHECK(refuses_by(&s, "/uaad/page", SN_LEADER_NEW, &why));
    CHECK(strstr(why.mem, " pages of /*/** brought nothing new") != NULL);
    CHECK(!refuses(&s, "/uaad/else")); /* without its directory nobody knows it */
    close_site(&s);
}

TEST(frontier_traps_directories_are_counted_on_two_levels)
{
    static const struct {
        const char *before;
        bool is_device;
        const char *name;
    } rows[] = {
        {"", true, "/*/**"}, {"/in", true, "/**/*/**"}, {"/in/side", false, NULL}};

    EACH_ROW(i, rows) {
        char path[64];
        sn_skip_why why;
        site s;

        open_site(&s, 2 * BUDGET);
        read_directories(&s, 0, SN_CHILDREN, true); /* from here on they are counted */
        for (unsigned k = 0; k < 500; k++) {
            snprintf(path, sizeof path, "%s/x%c%c%c/page", rows[i].before, 'a' + k % 20,
                     'a' + k / 20 % 20, 'a' + k / 400);
            read_page(&s, path, words_of(0), NULL);
        }
        snprintf(path, sizeof path, "%s/xaaa/page", rows[i].before);
        CHECK_EQ(row_at(&s, path, FAMILY) != NULL, rows[i].is_device);
        snprintf(path, sizeof path, "%s/xaab/page", rows[i].before);
        if (rows[i].name) {
            CHECK(refuses_by(&s, path, SN_LEADER_REPEAT, &why));
            CHECK(strstr(why.mem, rows[i].name) != NULL);
        }
        close_site(&s);
    }
}

/* Colours and sizes in any order: no path is like another. */
TEST(frontier_traps_paths_of_names_that_recur_are_one_family)
{
    static const char *const names[] = {"red", "blue", "tiny", "huge", "old", "new"};
    char path[64];
    sn_skip_why why;
    site s;

    open_site(&s, 2 * BUDGET);
    for (unsigned i = 0; i < 600; i++) {
        snprintf(path, sizeof path, "/shop/%s/%s/%s", names[i % 6], names[i / 6 % 6],
                 names[i / 36 % 6]);
        read_page(&s, path, words_of(0), NULL);
    }
    sn_pattern *row = row_at(&s, "/shop/red/tiny/old", FAMILY);
    CHECK(row != NULL);
    CHECK_EQ(row_at(&s, "/shop/new/old/huge", FAMILY), row);
    CHECK_EQ(row->novelty->kind, SN_NOVELTY_NAMES);
    CHECK(!row_at(&s, "/shop/unheard/of/red", FAMILY));
    CHECK(refuses_by(&s, "/shop/tiny/old/red", SN_LEADER_NEW, &why));
    CHECK(strstr(why.mem, " pages of /** of names that recur brought nothing") != NULL);
    close_site(&s);
}

/* Half a budget is over when the names are known, and half a budget is looked away. */
TEST(frontier_traps_names_that_recur_are_looked_at_after_half_a_budget)
{
    enum { ODD = 61 };
    unsigned counted = 0;
    site s;

    open_site(&s, ODD);
    for (unsigned i = 0; i < 4 * ODD; i++) {
        sn_visit *v = ask(&s, i % 2 ? "/red/tiny" : "/tiny/red");

        if (v->traps[FAMILY]) {
            counted++;
            CHECK_EQ(v->looks >> FAMILY & 1, counted > ODD - ODD / 2);
        }
        leave(&s, v);
    }
    /* Names are counted from page 31 on, and recur after 16. */
    CHECK_EQ(counted, 4 * ODD - ODD / 2 - 16);
    close_site(&s);
}

TEST(frontier_traps_soft_404s_are_refused_by_what_leads_there)
{
    char path[64];
    sn_skip_why why;
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < 500; i++) {
        snprintf(path, sizeof path, "/w%c%c%c", 'a' + i % 20, 'a' + i / 20 % 20,
                 'a' + i / 400);
        sn_visit *v = ask(&s, path);
        CHECK_EQ(v->looks >> WORDS & 1, i >= BUDGET);
        come(v, "Not found", words_of(0), 3);
        sn_frontier_look(s.d.f, v);
        sn_frontier_judge(s.d.f);
        leave(&s, v);
    }
    CHECK(refuses_by(&s, "/other", SN_LEADER_REPEAT, &why));
    CHECK_STR(why.mem, "pattern_budget 10: pattern /other, 200 of the last 200 pages of "
                       "/** brought nothing new");
    CHECK(!refuses_by(&s, "/other", SN_LEADER_NEW, &why));
    CHECK(!refuses_by(&s, "/other", SN_LEADER_UNKNOWN, &why));
    /* of a leader that nobody looked at: those that look alike tell */
    unsigned look = look_of(&s, "/x", "Not found", 3);
    CHECK(refuses_by(&s, "/other", (uint8_t)(SN_LEADER_UNKNOWN | look << 2), &why));
    unsigned other = look_of(&s, "/x", "A good page", 9);
    CHECK(other == look ||
          !refuses_by(&s, "/other", (uint8_t)(SN_LEADER_UNKNOWN | other << 2), &why));
    close_site(&s);
}

/* The host repeats as a whole; one pattern of it does not. */
TEST(frontier_traps_a_pattern_of_new_texts_is_fetched_whatever_its_host_does)
{
    static const struct {
        unsigned news, repeats;
        bool passes;
    } rows[] = {
        {10, 0, true}, {9, 0, false}, {2, 18, false}, {2, 17, true}, {0, 12, false}};

    EACH_ROW(i, rows) {
        char path[64];
        sn_skip_why why;
        site s;

        open_site(&s, 100);
        for (unsigned k = 0; k < 400; k++) {
            snprintf(path, sizeof path, "/w%c%c", 'a' + k % 20, 'a' + k / 20);
            read_page(&s, path, words_of(0), NULL);
        }
        for (unsigned k = 0; k < rows[i].news; k++) {
            snprintf(path, sizeof path, "/good/%u", k);
            read_page(&s, path, words_of(300 + k), NULL);
        }
        for (unsigned k = 0; k < rows[i].repeats; k++) {
            snprintf(path, sizeof path, "/good/%u", 500 + k);
            read_page(&s, path, words_of(0), NULL);
        }
        CHECK(refuses_by(&s, "/wbbb", SN_LEADER_REPEAT, &why));
        CHECK_EQ(!refuses_by(&s, "/good/9999", SN_LEADER_REPEAT, &why), rows[i].passes);
        close_site(&s);
    }
}

/* A byte counts them: the older ones count half. */
TEST(frontier_traps_remember_what_a_pattern_brought_of_late)
{
    char path[64];
    site s;

    open_site(&s, 5);
    for (unsigned k = 0; k < 5; k++)
        read_page(&s, "/x", words_of(0), NULL); /* from here on the host is looked at */
    for (unsigned k = 0; k < 255; k++) {
        snprintf(path, sizeof path, "/good/%u", k);
        sn_visit *v = ask(&s, path);
        v->looks |= 1 << WORDS; /* no sample */
        come(v, "", words_of(0), 0);
        sn_frontier_look(s.d.f, v);
        s.d.f->looking.text[WORDS] = k % 5 ? SN_TEXT_NEW : SN_TEXT_KNOWN;
        sn_frontier_judge(s.d.f);
        leave(&s, v);
    }
    const sn_pattern *row = row_at(&s, "/good/1", PATTERN);
    CHECK_EQ(row->news, 204);
    CHECK_EQ(row->repeats, 51);
    read_page(&s, "/good/777", words_of(0), NULL);
    row = row_at(&s, "/good/1", PATTERN);
    CHECK_EQ(row->news + row->repeats, 102 + 25 + 1);
    close_site(&s);
}

/* While nearly all pages of a host bring something one in eight is looked at. */
TEST(frontier_traps_take_a_sample_of_good_plain_words)
{
    unsigned looked = 0;
    char path[64];
    site s;

    open_site(&s, BUDGET);
    for (unsigned i = 0; i < 400; i++) {
        snprintf(path, sizeof path, "/w%c%c", 'a' + i % 20, 'a' + i / 20);
        if (i == BUDGET + 200)
            CHECK(sn_novelty_is_good(row_at(&s, "/w", WORDS)->novelty));
        read_page(&s, path, words_of(i), NULL);
    }
    for (unsigned i = 0; i < 80; i++) {
        sn_visit *v = ask(&s, "/w");
        looked += v->looks >> WORDS & 1;
        leave(&s, v);
    }
    CHECK_EQ(looked, 10);
    close_site(&s);
}
