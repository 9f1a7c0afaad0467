/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/script.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "chaos/arg.h"
#include "chaos/url_words.h"
#include "seine/plumbing.h"

#define TEXT ((size_t)1 << 20)

void
snc_script_init(snc_script *s)
{
    *s = (snc_script){.rules = NULL};
    sn_arena_init(&s->arena, 4096, 2 * TEXT);
}

void
snc_script_fini(snc_script *s)
{
    sn_free(s->rules);
    sn_arena_fini(&s->arena);
    *s = (snc_script){.rules = NULL};
}

void
snc_script_cut(snc_script *s, size_t count)
{
    s->count = count < s->count ? count : s->count;
    for (size_t i = 0; i < s->count; i++)
        s->rules[i].used = 0;
}

/* A line that is being read. */
typedef struct reading {
    const seine_json *line;
    sn_arena *arena;
    bool starved; /* the line failed for lack of memory */
} reading;

/* Copies a JSON string to the arena; false: the value is no string. */
static bool
keep_text(reading *in, const seine_json *value, sn_str *out)
{
    const char *bytes;
    size_t len;

    if (!seine_json_string(value, &bytes, &len))
        return false;
    *out = (sn_str){sn_arena_text(in->arena, (sn_str){bytes, len}), len};
    in->starved |= !out->ptr;
    return out->ptr;
}

/* The string of a member; false: the member exists and is no string. */
static bool
text_of(reading *in, const char *name, sn_str *out)
{
    const seine_json *value = seine_json_get(in->line, name);

    return !value || keep_text(in, value, out);
}

static bool
number_of(const reading *in, const char *name, int64_t most, uint64_t *out)
{
    const seine_json *value = seine_json_get(in->line, name);
    int64_t n;

    if (!value)
        return true;
    if (!seine_json_int(value, &n) || n < 0 || n > most)
        return false;
    *out = (uint64_t)n;
    return true;
}

/* 3, 3-5, 3-. */
static bool
read_nth(sn_str text, snc_rule *r)
{
    sn_str from, to;
    bool range = sn_str_cut(text, '-', &from, &to);

    if (!snc_arg_count(from, UINT64_MAX - 1, &r->from) || r->from == 0)
        return false;
    r->to = range ? UINT64_MAX : r->from;
    return !range || to.len == 0 ||
           (snc_arg_count(to, UINT64_MAX, &r->to) && r->to >= r->from);
}

static const char *
read_nth_of(reading *in, snc_rule *r)
{
    sn_str nth = {NULL, 0};
    uint64_t n = 0;

    if (number_of(in, "nth", INT64_MAX, &n) && n > 0) {
        r->from = r->to = n;
        return NULL;
    }
    if (!text_of(in, "nth", &nth) || (nth.ptr && !read_nth(nth, r)))
        return "nth is 3, \"3-5\" or \"3-\"";
    return NULL;
}

/* Checks words when the script is read, not at the first request. */
static const char *
check_words(sn_str words, sn_arena *arena, const sn_map *added)
{
    snc_request req = {
        .method = SN_STR("GET"), .target = SN_STR("/"), .path = SN_STR("/")};
    snc_scene scene = {.req = &req, .arena = arena, .added = added, .hit = 1, .nth = 1};
    snc_plan plan = {.count = 0};
    snc_wrong wrong;

    return snc_url_words_apply(words, &scene, &plan, &wrong) ? NULL : wrong.why;
}

static const char *
read_fault(reading *in, snc_rule *r)
{
    if (!text_of(in, "fault", &r->fault) || r->fault.len == 0)
        return "fault is a text of words";
    if (!text_of(in, "host", &r->host) || !text_of(in, "match", &r->match))
        return "host and match are texts";
    return read_nth_of(in, r);
}

static const char *
read_robots(reading *in, snc_rule *r)
{
    const seine_json *list = seine_json_get(in->line, "disallow");
    uint64_t status = 0;

    r->kind = SNC_RULE_ROBOTS;
    r->times = UINT64_MAX;
    if (!text_of(in, "robots", &r->host) || !number_of(in, "status", 999, &status) ||
        (status > 0 && status < 100) || !number_of(in, "times", INT64_MAX, &r->times) ||
        !text_of(in, "fault", &r->fault))
        return "robots is a host, status and times are numbers, fault is a text";
    r->status = (unsigned)status;
    if (!list)
        return NULL;

    size_t count = seine_json_size(list);
    sn_str *lines = SN_ARENA_ARRAY(in->arena, sn_str, count + 1);
    in->starved |= !lines;
    for (size_t i = 0; lines && i < count; i++)
        if (!keep_text(in, seine_json_at(list, i), &lines[i]))
            return "disallow is a list of paths";
    r->disallow = lines;
    r->disallow_count = lines ? count : 0;
    return seine_json_type_of(list) == SEINE_JSON_ARRAY ? NULL
                                                        : "disallow is a list of paths";
}

static bool
read_answer(const seine_json *value, uint32_t *out)
{
    struct in_addr address;
    const char *text;
    size_t len;

    if (!seine_json_string(value, &text, &len) || inet_pton(AF_INET, text, &address) != 1)
        return false;
    *out = ntohl(address.s_addr);
    return true;
}

static const char *
read_dns(reading *in, snc_rule *r)
{
    const seine_json *list = seine_json_get(in->line, "answers");
    uint64_t ttl = 1, rcode = 0, delay = 0;

    r->kind = SNC_RULE_DNS;
    if (!text_of(in, "dns", &r->host) || !number_of(in, "ttl", INT32_MAX, &ttl) ||
        !number_of(in, "rcode", 15, &rcode) ||
        !number_of(in, "delay_ms", 3600000, &delay))
        return "dns is a name, ttl, rcode and delay_ms are numbers";
    r->ttl = (uint32_t)ttl;
    r->rcode = (unsigned)rcode;
    r->delay = SEINE_MS((seine_span)delay);
    for (; r->answer_count < seine_json_size(list); r->answer_count++)
        if (r->answer_count == SNC_SCRIPT_ANSWERS ||
            !read_answer(seine_json_at(list, r->answer_count),
                         &r->answers[r->answer_count]))
            return "answers is a list of at most 16 IPv4 addresses";
    return read_nth_of(in, r);
}

static const char *
read_site(reading *in, snc_rule *r)
{
    sn_str spec = {NULL, 0};
    const char *why = NULL;

    r->kind = SNC_RULE_SITE;
    if (!text_of(in, "site", &spec) || !text_of(in, "host", &r->host))
        return "site and host are texts";
    snc_site_parse(spec, &r->site, &why);
    return why;
}

static const char *
read_proxy(reading *in, snc_rule *r)
{
    r->kind = SNC_RULE_PROXY;
    if (!text_of(in, "proxy", &r->host) || !text_of(in, "fault", &r->fault) ||
        r->fault.len == 0)
        return "proxy is a host or *, fault is a text of words";
    if (sn_str_eq(r->host, SN_STR("*")))
        r->host.ptr = NULL;
    return read_nth_of(in, r);
}

static const char *
read_rule(reading *in, snc_rule *r)
{
    *r = (snc_rule){.from = 1, .to = UINT64_MAX};
    if (seine_json_type_of(in->line) != SEINE_JSON_OBJECT)
        return "not an object";
    if (seine_json_get(in->line, "robots"))
        return read_robots(in, r);
    if (seine_json_get(in->line, "dns"))
        return read_dns(in, r);
    if (seine_json_get(in->line, "proxy"))
        return read_proxy(in, r);
    if (seine_json_get(in->line, "site"))
        return read_site(in, r);
    return read_fault(in, r);
}

static seine_err
add_line(snc_script *s, sn_str text, snc_script_fault *fault)
{
    seine_json *line = NULL;
    snc_rule rule;

    if (s->count == SNC_SCRIPT_RULES)
        return SEINE_E_FULL;
    seine_err e = seine_json_parse(text.ptr, text.len, &line, NULL);
    if (e != SEINE_OK) {
        fault->why = "not JSON";
        return e == SEINE_E_NOMEM ? e : SEINE_E_CONFIG;
    }
    reading in = {.line = line, .arena = &s->arena};
    fault->why = read_rule(&in, &rule);
    if (!fault->why && rule.fault.ptr)
        fault->why = check_words(rule.fault, &s->arena, s->added);
    seine_json_free(line);
    if (in.starved)
        return SEINE_E_NOMEM;
    if (fault->why)
        return SEINE_E_CONFIG;
    s->rules[s->count++] = rule;
    return SEINE_OK;
}

seine_err
snc_script_add(snc_script *s, sn_str text, snc_script_fault *out_fault)
{
    size_t before = s->count;
    seine_err e = text.len > TEXT ? SEINE_E_FULL : SEINE_OK;
    sn_str line;

    *out_fault = (snc_script_fault){.line = 0};
    if (!s->rules && !(s->rules = sn_calloc(SNC_SCRIPT_RULES, sizeof *s->rules)))
        return SEINE_E_NOMEM;
    while (e == SEINE_OK && sn_str_next(&text, '\n', &line)) {
        out_fault->line++;
        line = sn_str_trim(line);
        if (line.len > 0)
            e = add_line(s, line, out_fault);
    }
    if (e != SEINE_OK)
        s->count = before;
    return e;
}

bool
snc_script_glob(sn_str pattern, sn_str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;

    /* Only the last star is ever extended: earlier ones have matched for good. */
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

snc_rule *
snc_script_find(snc_script *s, snc_rule_kind kind, sn_str host, sn_str path,
                sn_str target, uint64_t hit)
{
    for (size_t i = 0; i < s->count; i++) {
        snc_rule *r = &s->rules[i];

        if (r->kind != kind || hit < r->from || hit > r->to)
            continue;
        if (r->host.ptr && !sn_str_eq_nocase(r->host, host))
            continue;
        if (r->match.ptr &&
            !snc_script_glob(r->match,
                             sn_str_find(r->match, '?') < r->match.len ? target : path))
            continue;
        return r;
    }
    return NULL;
}

bool
snc_script_disallows(const snc_script *s, sn_str host, sn_str path)
{
    for (size_t i = 0; i < s->count; i++) {
        const snc_rule *r = &s->rules[i];

        if (r->kind != SNC_RULE_ROBOTS || !sn_str_eq_nocase(r->host, host))
            continue;
        for (size_t k = 0; k < r->disallow_count; k++)
            if (r->disallow[k].len > 0 && sn_str_starts(path, r->disallow[k]))
                return true;
    }
    return false;
}
