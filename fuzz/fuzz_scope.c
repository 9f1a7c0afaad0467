/* SPDX-License-Identifier: Apache-2.0 */
/* Lines: an include, an exclude, a named host, a seed, where it redirects, and URLs that
 * are judged in all four scopes. A narrower scope is inside a wider one. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/scope.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { LINES = 3, TEXT = 300 };

typedef struct parsed {
    char mem[SEINE_URL_ROOM];
    seine_url url;
    bool is_there;
} parsed;

/* http and https only, as the engine asks. */
static void
parse(parsed *p, sn_str text)
{
    seine_url_init(&p->url, p->mem, sizeof p->mem);
    p->is_there =
        text.len > 0 && seine_url_parse(&p->url, text.ptr, text.len, NULL) == SEINE_OK;
    seine_view scheme = seine_url_scheme(&p->url);
    p->is_there = p->is_there && scheme.len >= 4 && memcmp(scheme.ptr, "http", 4) == 0 &&
                  scheme.len <= 5;
}

static sn_scope *
make(seine_scope kind, char texts[LINES][TEXT])
{
    const char *lists[LINES][2];
    seine_diag diag = SEINE_DIAG;
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_crawl_opts c = SEINE_CRAWL_OPTS;
    sn_scope *s = NULL;

    for (int i = 0; i < LINES; i++) {
        lists[i][0] = texts[i][0] ? texts[i] : NULL;
        lists[i][1] = NULL;
    }
    o.include = lists[0];
    o.exclude = lists[1];
    c.domains = lists[2];
    c.scope = kind;
    o.crawl = &c;
    seine_err e = sn_scope_new(&o, &s, &diag);
    REQUIRE(e == SEINE_OK || (e == SEINE_E_CONFIG && diag.text[0]));
    return s;
}

static bool
judge(const sn_scope *s, const seine_url *url, bool is_given)
{
    sn_scope_verdict first, again;

    sn_scope_judge(s, url, is_given, &first);
    sn_scope_judge(s, url, is_given, &again);
    REQUIRE(first.in == again.in && first.len == again.len);
    REQUIRE(first.in == (first.len == 0) && first.len < sizeof first.rule);
    REQUIRE(strlen(first.rule) == first.len && strcmp(first.rule, again.rule) == 0);
    REQUIRE(first.in || first.reason == SEINE_SKIP_OFFSITE ||
            first.reason == SEINE_SKIP_PATTERN);
    return first.in;
}

static void
judge_all(sn_scope *const s[4], const seine_url *url)
{
    bool prefix = judge(s[SEINE_SCOPE_PREFIX], url, false);
    bool host = judge(s[SEINE_SCOPE_HOST], url, false);
    bool domain = judge(s[SEINE_SCOPE_DOMAIN], url, false);
    bool any = judge(s[SEINE_SCOPE_ANY], url, false);

    REQUIRE(!prefix || host);
    REQUIRE(!host || domain);
    REQUIRE(!domain || any);
    REQUIRE(!any || judge(s[SEINE_SCOPE_HOST], url, true)); /* asked about less */
}

static void
play(sn_scope *const s[4], sn_str rest)
{
    static parsed seed, to, link;
    sn_str line;

    line = rest.len > 0 && sn_str_next(&rest, '\n', &line) ? line : (sn_str){"", 0};
    parse(&seed, line);
    line = rest.len > 0 && sn_str_next(&rest, '\n', &line) ? line : (sn_str){"", 0};
    parse(&to, line);
    for (int k = 0; k < 4 && seed.is_there; k++) {
        REQUIRE(sn_scope_seed(s[k], &seed.url) == SEINE_OK);
        if (to.is_there)
            REQUIRE(sn_scope_widen(s[k], &seed.url, &to.url) == SEINE_OK);
    }
    if (seed.is_there)
        judge_all(s, &seed.url);
    for (int i = 0; i < 20 && sn_str_next(&rest, '\n', &line); i++) {
        parse(&link, line);
        if (link.is_there)
            judge_all(s, &link.url);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str rest = {(const char *)bytes, n}, line;
    char texts[LINES][TEXT] = {{0}};
    sn_scope *s[4] = {NULL, NULL, NULL, NULL};

    for (int i = 0; i < LINES && sn_str_next(&rest, '\n', &line); i++)
        if (line.len > 0 && line.len < TEXT)
            memcpy(texts[i], line.ptr, line.len);
    for (int k = 0; k < 4; k++)
        s[k] = make((seine_scope)k, texts);
    if (s[0] && s[1] && s[2] && s[3])
        play(s, rest);
    for (int k = 0; k < 4; k++)
        sn_scope_free(s[k]);
    return 0;
}
