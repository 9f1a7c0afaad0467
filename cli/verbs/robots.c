/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <seine/time.h>

#include "options/option_names.h"
#include "options/request.h"
#include "options/request_rows.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"
#include "verbs/jsonl.h"
#include "verbs/robots_ask.h"
#include "verbs/verbs.h"

typedef struct settings {
    fetch_settings net; /* first: request.h looks there */
    const char *robots, *agent;
    bool jsonl, insecure, json;
} settings;

static int run_check(const args *a);
static int run_show(const args *a);

#define AT(member)  .at = offsetof(settings, member)
#define NET(member) .at = offsetof(settings, net.member)

/* clang-format off */
#define ASKING \
    {"timeout", "t", KIND_SPAN, "D", "30s", NET(timeout), .env = true, .rare = true, \
     .help = "one attempt, from the lookup to the last byte"}, \
    {"retries", NULL, KIND_COUNT, "N", "2", NET(retries), .max = 1000, .env = true, .rare = true, \
     .help = "tries after the first"}, \
    REQUEST_ROWS, \
    {"resolve", NULL, KIND_LIST, "HOST:PORT:ADDR", NET(resolve), .env = true, .rare = true, \
     .help = "the address of a host; may be repeated"}, \
    {"allow-net", NULL, KIND_LIST, "CIDR", NET(allow_net), .env = true, .rare = true, \
     .help = "addresses a redirect may lead to; may be repeated"}

static const option check_options[] = {
    {"robots", NULL, KIND_FILE, "FILE", AT(robots),
     .help = "a robots.txt to ask instead of the host; -: stdin"},
    {"agent", NULL, KIND_TEXT, "NAME", "seine", AT(agent),
     .help = "who asks: a product token, or a whole User-Agent header",
     .more = "If it is not given, whom --user-agent names."},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `robots` (or `robots_b64`, `robots_file`), `agent`, `url`. Out: what the command prints. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    ASKING,
    {.name = NULL},
};

static const option show_options[] = {
    {"agent", NULL, KIND_TEXT, "NAME", "seine", AT(agent),
     .help = "who asks: a product token, or a whole User-Agent header"},
    {"json", "j", KIND_FLAG, AT(json),
     .help = "one JSON object instead of lines"},
    ASKING,
    {.name = NULL},
};

static const example check_examples[] = {
    {"seine robots check http://127.0.0.1:8080/cgi/x", "May it be asked for?"},
    {"printf 'User-agent: *\\nDisallow: /x\\n' | seine robots check --robots - /a", "By a file at hand:"},
    {NULL, NULL},
};

static const example show_examples[] = {
    {"printf 'User-agent: *\\nDisallow: /x\\n' | seine robots show -", "The lines that count:"},
    {"seine robots show http://127.0.0.1:8080/ --agent other", "Those of a host, for somebody else:"},
    {NULL, NULL},
};

const command cmd_robots_check = {
    .name = "robots check",
    .is_small = true,
    .arguments = "[URL]…",
    .about = "say whether robots.txt allows URLs, and which line does",
    .text = "By RFC 9309. `rule` and `line` are what decides, null where nothing matches and all is allowed; `group` is the agent the file names. "
            "Without --robots each host is asked for its /robots.txt, once, with up to 5 redirects and 512 KiB. `state` is `parsed`; `absent` "
            "(4xx but 429, or more redirects), and all is allowed; or `unreachable` (5xx, 429, no answer), and nothing is, for now.\n\n"
            "The exit code is 0 if all are allowed and 1 if one is not.",
    .options = check_options,
    .examples = check_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_check,
};

const command cmd_robots_show = {
    .name = "robots show",
    .is_small = true,
    .arguments = "URL|FILE|-",
    .about = "print the lines of robots.txt that count for an agent",
    .text = "The groups that name the agent, or else those for everybody, with the numbers of their lines, and the sitemaps. The exit code is 0, also "
            "where there is no robots.txt and all is allowed; 1 if it cannot be had and nothing is, for now.",
    .options = show_options,
    .examples = show_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_show,
};
/* clang-format on */

/* Who asks: --agent, or else whoever is named to the hosts. */
static const char *
agent_of(const args *a)
{
    const settings *set = a->settings;

    return set->net.user_agent && !options_given(a, "agent") ? set->net.user_agent
                                                             : set->agent;
}

static seine_json *
json_text(seine_view v)
{
    if (!v.ptr)
        return seine_json_new_null();
    char *text = xalloc_copy(v.ptr, v.len);
    seine_json *json = jsonl_string(text);
    free(text);
    return json;
}

static void
put_sitemaps(const seine_robots *r, seine_json *out)
{
    seine_json *sitemaps = xalloc_json(seine_json_new_array());
    seine_view map;

    for (size_t i = 0; r && seine_robots_sitemap(r, i, &map); i++)
        jsonl_add(sitemaps, json_text(map));
    jsonl_set(out, "sitemaps", sitemaps);
}

static void
put_delay(const seine_robots *r, const char *agent, seine_json *out)
{
    int64_t delay = r ? seine_robots_delay(r, agent) : -1;

    jsonl_set(out, "crawl_delay",
              delay < 0 ? seine_json_new_null() : jsonl_in(delay, SEINE_SECS(1)));
}

/* Adds the ruling about a URL. Without rules everything is allowed where there is no
 * robots.txt, and nothing where robots.txt is unreachable. False: it is no URL. */
static bool
put_ruling(const seine_robots *r, seine_robots_state state, const char *agent,
           seine_view url, seine_json *out, bool *out_allowed)
{
    seine_robots_verdict v = {.allowed = state == SEINE_ROBOTS_ABSENT};

    if (r && seine_robots_check(r, agent, url.ptr, url.len, &v) != SEINE_OK)
        return false;
    jsonl_set(out, "allowed", seine_json_new_bool(v.allowed));
    jsonl_set(out, "rule", json_text(v.rule));
    jsonl_set(out, "line",
              v.line > 0 ? seine_json_new_int(v.line) : seine_json_new_null());
    jsonl_set(out, "group", json_text(v.group));
    if (v.is_over)
        jsonl_set(out, "over_budget", seine_json_new_bool(true));
    jsonl_set(out, "state", jsonl_string(seine_robots_state_name(state)));
    put_delay(r, agent, out);
    put_sitemaps(r, out);
    *out_allowed = v.allowed;
    return true;
}

/* Answers one case of --jsonl. A recorded case may hold the expected results as well; an
 * empty URL in one is the root. */
static bool
answer_robots_case(const seine_json *in, seine_json *out, reason *why)
{
    bytes robots = {0}, url = {0};
    const char *agent = "seine";
    seine_robots *r = NULL;
    bool good = false, allowed;

    if (!jsonl_known(in,
                     "id robots robots_b64 robots_file agent url url_b64 url_file "
                     "google_specific google_agrees allowed file note",
                     why) ||
        !bytes_read(in, "robots", &robots, why) || !bytes_read(in, "url", &url, why) ||
        !jsonl_text(in, "agent", &agent, why))
        goto out;
    if (!robots.ptr || !url.ptr) {
        reason_set(why, "no member '%s'", robots.ptr ? "url" : "robots");
        goto out;
    }
    seine_err e = seine_robots_new(robots.ptr, robots.len, &r);
    if (e != SEINE_OK) {
        reason_set(why, "%s", seine_err_text(e));
        goto out;
    }
    jsonl_set(out, "ok", seine_json_new_bool(true));
    seine_view asked = {url.len > 0 ? url.ptr : "/", url.len > 0 ? url.len : 1};
    good = put_ruling(r, SEINE_ROBOTS_PARSED, agent, asked, out, &allowed);
    if (!good)
        reason_set(why, "not an http or https URL, and no path");
out:
    seine_robots_free(r);
    bytes_free(&robots);
    bytes_free(&url);
    return good;
}

/* Asks the hosts of the words for robots.txt. */
static int
ask_hosts(const args *a, seine_robots_book **out_book)
{
    const settings *set = a->settings;
    seine_fetch_opts o;
    request r;

    if (set->net.timeout == 0)
        return say_fail(SAY_USAGE, "--timeout 5s",
                        "--timeout '0': a timeout must be above 0");
    int code = request_make(a, &r);
    if (code != SAY_DONE)
        return code;
    seine_diag_name *names = option_names_new(a->command);
    o = request_fetch_opts(&r, &set->net, set->insecure);
    o.names = names;
    code = robots_ask(&o, a->words, a->count, out_book);
    option_names_free(names);
    request_free(&r);
    return code;
}

/* Adds what is known of a robots.txt that was fetched. */
static void
put_answer(const seine_robots_answer *got, seine_json *out)
{
    if (got->wall == 0)
        return;
    if (got->source)
        jsonl_set(out, "source", jsonl_string(got->source));
    if (got->status)
        jsonl_set(out, "status", seine_json_new_int(got->status));
    if (got->state != SEINE_ROBOTS_PARSED)
        jsonl_set(out, "error", jsonl_string(seine_err_name(got->err)));
}

/* Refuses words that are no URLs, before anything is printed. */
static int
check_words(const args *a, const seine_robots_book *book)
{
    seine_robots_verdict v;

    for (size_t i = 0; i < a->count; i++) {
        const char *word = a->words[i];
        const seine_robots_answer *got = seine_robots_book_of(book, word);

        if (!got || (got->robots && seine_robots_check(got->robots, NULL, word,
                                                       strlen(word), &v) != SEINE_OK))
            return say_fail(SAY_USAGE, "https://e.example/page, or /page",
                            "'%s' is no http or https URL, and no path", show(word).text);
    }
    return SAY_DONE;
}

static bool
print_check(const seine_robots_answer *got, const char *agent, const char *url)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    bool allowed = false;

    jsonl_set(out, "url", jsonl_string(url));
    jsonl_set(out, "agent", jsonl_string(agent));
    put_ruling(got->robots, got->state, agent, (seine_view){url, strlen(url)}, out,
               &allowed);
    put_answer(got, out);
    out_json(out);
    return allowed;
}

static int
run_check(const args *a)
{
    const settings *set = a->settings;
    seine_robots_book *book = NULL;
    bool all = true;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, answer_robots_case) : SAY_USAGE;
    if (a->count == 0)
        return say_fail(SAY_USAGE, "seine robots check https://e.example/page",
                        "robots check needs a URL");
    int code = set->robots ? robots_load(set->robots, &book) : ask_hosts(a, &book);
    if (code == SAY_DONE)
        code = check_words(a, book);
    for (size_t i = 0; code == SAY_DONE && i < a->count; i++) {
        const seine_robots_answer *got = seine_robots_book_of(book, a->words[i]);

        all = print_check(got, agent_of(a), a->words[i]) && all;
    }
    seine_robots_book_free(book);
    return code == SAY_DONE && !all ? SAY_FAILED : code;
}

/* robots show */

typedef struct listing {
    seine_json *lines; /* NULL: they are printed */
    size_t n;          /* of groups, not of sitemaps */
} listing;

/* Prints foreign bytes; a byte that is no character becomes \x1b. */
static void
print_safe(const char *at, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = show_char(at + i, n - i, NULL);

        if (len > 0)
            out_bytes(at + i, len);
        else
            out_print("\\x%02x", (unsigned char)at[i]);
        i += len > 0 ? len : 1;
    }
}

static void
on_line(const seine_robots_line *line, void *arg)
{
    listing *l = arg;
    bool is_map = line->kind == SEINE_ROBOTS_SITEMAP;
    char *text = xalloc_copy(line->text.ptr, line->text.len);

    l->n += !is_map;
    if (!l->lines) {
        out_print("%6u  %s", line->line, is_map ? "Sitemap: " : "");
        print_safe(text, line->text.len);
        out_text("\n");
    } else if (!is_map) {
        seine_json *one = xalloc_json(seine_json_new_object());

        jsonl_set(one, "line", seine_json_new_int(line->line));
        jsonl_set(one, "text", jsonl_string(text));
        jsonl_add(l->lines, one);
    }
    free(text);
}

static void
show_json(const seine_robots_answer *got, const char *agent)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    listing l = {.lines = xalloc_json(seine_json_new_array())};

    jsonl_set(out, "agent", jsonl_string(agent));
    jsonl_set(out, "state", jsonl_string(seine_robots_state_name(got->state)));
    if (got->robots)
        seine_robots_each(got->robots, agent, on_line, &l);
    jsonl_set(out, "lines", l.lines);
    put_delay(got->robots, agent, out);
    put_sitemaps(got->robots, out);
    put_answer(got, out);
    out_json(out);
}

static void
show_text(const args *a, const seine_robots_answer *got, const char *agent)
{
    listing l = {.lines = NULL};

    if (got->robots)
        seine_robots_each(got->robots, agent, on_line, &l);
    out_flush();
    if (a->quiet)
        return;
    if (got->state == SEINE_ROBOTS_ABSENT)
        say_note("no robots.txt (%s): everything is allowed", robots_why_of(got).text);
    else if (l.n == 0 && got->robots)
        say_note("no group is for '%s': everything is allowed", show(agent).text);
}

static bool
is_url(const char *word)
{
    return strncasecmp(word, "http://", 7) == 0 || strncasecmp(word, "https://", 8) == 0;
}

static int
run_show(const args *a)
{
    const settings *set = a->settings;
    seine_robots_book *book = NULL;
    int code =
        is_url(a->words[0]) ? ask_hosts(a, &book) : robots_load(a->words[0], &book);

    if (code != SAY_DONE)
        return code;
    const seine_robots_answer *got = seine_robots_book_of(book, a->words[0]);
    if (set->json)
        show_json(got, agent_of(a));
    else
        show_text(a, got, agent_of(a));
    if (got->state == SEINE_ROBOTS_UNREACHABLE) {
        out_flush();
        code =
            say_fail(SAY_FAILED, "later", "%s/robots.txt: %s: nothing is allowed for now",
                     show_host(got->authority, strlen(got->authority)).text,
                     robots_why_of(got).text);
    }
    seine_robots_book_free(book);
    return code;
}
