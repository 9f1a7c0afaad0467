/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/cookie_jar.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    texts url, to;
    uint64_t now;
    bool jsonl;
} settings;

static int run_cookie(const args *a);

#define SOME_DAY INT64_C(1301616000) /* in April 2011, when RFC 6265 was published */
#define LAST_DAY INT64_C(9000000000) /* in 2255; more nanoseconds do not fit */

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"url", NULL, KIND_LIST, "URL", AT(url),
     .help = "where the cookies were set",
     .more = "Of several each has a jar of its own."},
    {"to", NULL, KIND_LIST, "URL", AT(to),
     .help = "where the next request goes; the same URL if not given",
     .more = "It may be relative to --url. Of several each has a line."},
    {"now", NULL, KIND_COUNT, "N", AT(now), .max = LAST_DAY,
     .help = "the time of both, in Unix seconds",
     .more = "Without it, a day in April 2011."},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `received`, an array of values, `url`, `sent-to`, `now`. Out: `sent`, `not_sent`. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine http cookie --url http://a.example.com/ --to / 'k=v; Path=/'",
     "What is sent back:"},
    {NULL, NULL},
};

const command cmd_http_cookie = {
    .name = "http cookie",
    .is_small = true,
    .arguments = "[SET-COOKIE]…",
    .about = "say which cookies a request would carry",
    .text = "The values of Set-Cookie fields go into an empty jar, in order; `sent` is what a request then carries, in its order: RFC 6265bis and the "
            "public suffix list. `not_sent` has every other value, with the rule, `why`, and its `text`. The exit code is 1 if a request carries none.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_cookie,
};
/* clang-format on */

typedef struct place {
    char mem[SEINE_URL_ROOM];
    seine_url url;
} place;

static bool
read_url(place *p, const seine_url *base, const char *what, const char *text, reason *why)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    seine_err e;

    seine_url_init(&p->url, p->mem, sizeof p->mem);
    e = base ? seine_url_resolve(&p->url, base, text, strlen(text), &flaw)
             : seine_url_parse(&p->url, text, strlen(text), &flaw);
    if (e == SEINE_OK)
        return true;
    return reason_set(why, "%s: %s", what,
                      e == SEINE_E_BAD_URL ? seine_url_flaw_text(flaw.kind)
                                           : seine_err_text(e));
}

static seine_json *
cookie_text(const char *bytes, size_t n)
{
    char text[SEINE_COOKIE_JAR_SENT + 1];

    snprintf(text, sizeof text, "%.*s", (int)n, bytes);
    return jsonl_string(text);
}

/* Splits "a=b; c=d": a name has no "=", a value no ";". */
static void
put_sent(const char *cookies, size_t len, seine_json *out)
{
    seine_json *sent = xalloc_json(seine_json_new_array());

    for (const char *at = cookies, *end = cookies + len; at < end;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        const char *mark = memchr(at, '=', (size_t)(end - at));
        seine_json *one = xalloc_json(seine_json_new_object());

        stop = stop ? stop : end;
        jsonl_set(one, "name", cookie_text(at, (size_t)(mark - at)));
        jsonl_set(one, "value", cookie_text(mark + 1, (size_t)(stop - mark - 1)));
        jsonl_add(sent, one);
        at = stop + 2;
    }
    jsonl_set(out, "sent", sent);
}

typedef struct jar_case {
    place from, to;
    seine_cookie_jar *jar;
    seine_view *values; /* what was received, in order; the bytes are borrowed */
    size_t count;
    int64_t wall;
} jar_case;

static bool
open_jar(jar_case *k, const char *url, int64_t now, size_t most, reason *why)
{
    k->wall = SEINE_SECS(now);
    k->jar = NULL;
    k->values = xalloc_zeroed(most + 1, sizeof *k->values);
    k->count = 0;
    if (!read_url(&k->from, NULL, "url", url, why))
        return false;
    seine_err e = seine_cookie_jar_new(&k->jar);
    return e == SEINE_OK || reason_set(why, "%s", seine_err_text(e));
}

static void
close_jar(jar_case *k)
{
    seine_cookie_jar_free(k->jar);
    free(k->values);
}

static bool
take_cookie(jar_case *k, const char *bytes, size_t len, reason *why)
{
    seine_err e = seine_cookie_jar_take(k->jar, &k->from.url, bytes, len, k->wall);

    k->values[k->count++] = (seine_view){bytes, len};
    return e == SEINE_OK || e == SEINE_E_INVAL ||
           reason_set(why, "%s", seine_err_text(e));
}

/* Chooses the URL of the request; NULL: where the cookies were set. */
static bool
aim(jar_case *k, const char *to, reason *why)
{
    return to ? read_url(&k->to, &k->from.url, "sent-to", to, why)
              : read_url(&k->to, NULL, "url", seine_url_href(&k->from.url).ptr, why);
}

/* Adds the values that the request does not carry, and why. */
static void
put_not_sent(const jar_case *k, seine_json *out)
{
    seine_json *list = xalloc_json(seine_json_new_array());

    for (size_t i = 0; i < k->count; i++) {
        seine_view v = k->values[i];
        seine_cookie_why why =
            seine_cookie_jar_why(k->jar, &k->from.url, v.ptr, v.len, &k->to.url, k->wall);
        if (why == SEINE_COOKIE_SENT)
            continue;
        seine_json *one = xalloc_json(seine_json_new_object());
        char *text = xalloc_copy(v.ptr, v.len);

        jsonl_set(one, "cookie", jsonl_string(text));
        jsonl_set(one, "why", jsonl_string(seine_cookie_why_name(why)));
        jsonl_set(one, "text", jsonl_string(seine_cookie_why_text(why)));
        jsonl_add(list, one);
        free(text);
    }
    jsonl_set(out, "not_sent", list);
}

/* Adds what the request carries and what not, and returns the length of the header. */
static size_t
put_cookies(jar_case *k, seine_json *out)
{
    char cookies[SEINE_COOKIE_JAR_SENT];
    size_t len =
        seine_cookie_jar_field(k->jar, &k->to.url, k->wall, cookies, sizeof cookies);

    put_sent(cookies, len, out);
    put_not_sent(k, out);
    return len;
}

/* Answers one case of --jsonl. A recorded case may hold the expected results as well. */
static bool
answer_cookie_case(const seine_json *in, seine_json *out, reason *why)
{
    static jar_case k;
    const char *url = NULL, *to = NULL;
    int64_t now = SOME_DAY;

    if (!jsonl_known(in, "id test received url sent-to sent_to now sent note", why) ||
        !jsonl_text(in, "url", &url, why) || !jsonl_text(in, "sent-to", &to, why) ||
        !jsonl_text(in, "sent_to", &to, why) ||
        !jsonl_int(in, "now", 0, LAST_DAY, &now, why))
        return false;
    const seine_json *received = jsonl_array(in, "received", why);
    if (!received)
        return false;
    if (!url)
        return reason_set(why, "no member 'url'");
    bool good =
        open_jar(&k, url, now, seine_json_size(received), why) && aim(&k, to, why);
    for (size_t i = 0; good && i < seine_json_size(received); i++) {
        const char *bytes;
        size_t len;

        good = seine_json_string(seine_json_at(received, i), &bytes, &len)
                   ? take_cookie(&k, bytes, len, why)
                   : reason_set(why, "received[%zu] is no string", i);
    }
    if (good) {
        jsonl_set(out, "ok", seine_json_new_bool(true));
        put_cookies(&k, out);
    }
    close_jar(&k);
    return good;
}

/* Prints the line of one request; false: it carries no cookie. */
static bool
print_request(jar_case *k)
{
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "url", jsonl_string(seine_url_href(&k->from.url).ptr));
    jsonl_set(out, "to", jsonl_string(seine_url_href(&k->to.url).ptr));
    jsonl_set(out, "ok", seine_json_new_bool(true));
    size_t len = put_cookies(k, out);
    out_json(out);
    return len > 0;
}

/* The jar of one --url, and a line for each --to. */
static bool
print_origin(const args *a, const char *url, bool *out_none, reason *why)
{
    static jar_case k;
    const settings *set = a->settings;
    int64_t now = options_given(a, "now") ? (int64_t)set->now : SOME_DAY;
    bool good = open_jar(&k, url, now, a->count, why);

    for (size_t i = 0; good && i < a->count; i++)
        good = take_cookie(&k, a->words[i], strlen(a->words[i]), why);
    for (size_t i = 0; good && i < (set->to.count > 0 ? set->to.count : 1); i++) {
        good = aim(&k, set->to.count > 0 ? set->to.items[i] : NULL, why);
        if (good && !print_request(&k))
            *out_none = true;
    }
    close_jar(&k);
    return good;
}

static int
run_once(const args *a)
{
    const settings *set = a->settings;
    reason why = {""};
    bool none = false, good = true;

    if (set->url.count == 0)
        return say_fail(SAY_USAGE, "--url https://e.example/", "http cookie needs --url");
    for (size_t i = 0; good && i < set->url.count; i++)
        good = print_origin(a, set->url.items[i], &none, &why);
    if (!good)
        return say_fail(SAY_USAGE, "--url https://e.example/", "%s", why.text);
    return none ? SAY_FAILED : SAY_DONE;
}

static int
run_cookie(const args *a)
{
    const settings *set = a->settings;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, answer_cookie_case) : SAY_USAGE;
    return run_once(a);
}
