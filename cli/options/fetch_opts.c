/* SPDX-License-Identifier: Apache-2.0 */
#include "options/fetch_opts.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <seine/breaker_spec.h>
#include <seine/url.h>

#include "options/extract_opts.h"
#include "options/revisit_opts.h"
#include "screen/say.h"
#include "screen/template_names.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/outputs.h"

static int
refuse_value(const char *name, const char *text, const char *why, const char *hint)
{
    return say_fail(SAY_USAGE, hint, "--%s '%s': %s", name, show(text).text, why);
}

static uint32_t
count_processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) > 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static seine_rate
rate_of(seine_frequency p, uint64_t burst)
{
    return (seine_rate){p.count, p.per, (uint32_t)burst};
}

/* Lowers the concurrency, with a note, where the system allows fewer descriptors than
 * connections are wanted; the program needs some descriptors for itself. */
static void
fit_descriptors(const args *a, seine_fetch_opts *o)
{
    enum { OURS = 24 };
    struct rlimit limit;
    rlim_t want = (rlim_t)o->concurrency * 2 + OURS + o->threads * 4;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    if (limit.rlim_cur < want && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = want < limit.rlim_max ? want : limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= o->concurrency + OURS + o->threads * 4)
        return;
    if (limit.rlim_cur < OURS + o->threads * 4 + 8)
        o->threads = 1;
    rlim_t left = limit.rlim_cur > OURS + 4 ? limit.rlim_cur - OURS - 4 : 1;
    if (left >= o->concurrency)
        return;
    if (!a->quiet)
        say_note(
            "only %llu file descriptors: %llu requests in flight instead of %u; try: "
            "ulimit -n 4096",
            (unsigned long long)limit.rlim_cur, (unsigned long long)left, o->concurrency);
    o->concurrency = (uint32_t)left;
}

static int
how_much(const args *a, const fetch_settings *set, seine_fetch_opts *o)
{
    o->concurrency = (uint32_t)set->concurrency;
    o->per_host = (uint32_t)set->per_host;
    o->per_ip = (uint32_t)set->per_ip;
    o->threads = set->threads ? (uint32_t)set->threads : count_processors();
    if (!set->threads && o->threads > o->concurrency)
        o->threads = o->concurrency;
    o->rate = rate_of(set->rate, set->burst);
    o->host_rate = rate_of(set->host_rate, set->host_burst);
    o->adaptive = set->adaptive;
    o->mine = set->mine;
    o->max_memory = set->max_memory;
    o->limit_rate = set->limit_rate;
    o->rate_key = set->rate_key                  ? set->rate_key
                  : options_given(a, "max-wait") ? "none"
                                                 : NULL;
    if (o->rate_key)
        o->max_wait = set->max_wait;
    o->max_pages = set->max_pages;
    fit_descriptors(a, o);
    o->queue = (uint32_t)set->queue;
    if (!set->rate.count && options_given(a, "burst"))
        return say_fail(SAY_USAGE, "--rate 50/s", "--burst goes with --rate");
    if (!set->rate.count && o->rate_key)
        return say_fail(SAY_USAGE, "--rate 50/s", "--%s goes with --rate",
                        set->rate_key ? "rate-key" : "max-wait");
    return SAY_DONE;
}

static int
how_long(const fetch_settings *set, seine_fetch_opts *o)
{
    const struct {
        const char *name;
        seine_span span, *to;
    } spans[] = {
        {"timeout", set->timeout, &o->timeout},
        {"connect-timeout", set->connect_timeout, &o->connect_timeout},
        {"dns-timeout", set->dns_timeout, &o->dns_timeout},
        {"tcp-timeout", set->tcp_timeout, &o->tcp_timeout},
        {"tls-timeout", set->tls_timeout, &o->tls_timeout},
        {"head-timeout", set->head_timeout, &o->head_timeout},
    };

    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        char hint[40];

        snprintf(hint, sizeof hint, "--%s 5s", spans[i].name);
        if (spans[i].span == 0)
            return say_fail(SAY_USAGE, hint, "--%s '0': a timeout must be above 0",
                            spans[i].name);
        *spans[i].to = spans[i].span;
    }
    o->grace = set->grace;
    const char *why = option_specs_speed(set->min_speed, &o->speed_bytes, &o->speed_span);
    return why ? refuse_value("min-speed", set->min_speed, why,
                              "--min-speed 1k/10s, or off")
               : SAY_DONE;
}

static int
read_budget(const char *text, seine_retry_budget_opts *o)
{
    uint32_t percent;

    if (strcmp(text, "off") == 0) {
        o->ratio_milli = UINT32_MAX;
        return SAY_DONE;
    }
    const char *why = seine_units_share(text, 100000, &percent);
    if (why)
        return refuse_value("retry-budget", text, why, "--retry-budget 20%, or off");
    o->ratio_milli = percent * 10;
    o->cap = 1000000; /* a share of all first attempts, not only of the latest */
    return SAY_DONE;
}

static int
refuse_status(const char *name, const char *text, seine_view word, const char *hint)
{
    char why[96];

    snprintf(why, sizeof why, "'%.40s' is no status",
             show_bytes(word.ptr, word.len).text);
    return refuse_value(name, text, why, hint);
}

static int
read_breaker(const char *text, seine_fetch_opts *o)
{
    seine_diag diag = SEINE_DIAG;
    char why[SEINE_DIAG_TEXT + 64];

    if (seine_breaker_spec(text, &o->breaker, &o->park, &diag) == SEINE_OK)
        return SAY_DONE;
    if (diag.member[0])
        snprintf(why, sizeof why, "'%.30s': %s", show(diag.member).text, diag.text);
    else
        snprintf(why, sizeof why, "%s", diag.text);
    return refuse_value("breaker", text, why,
                        "--breaker fail=5,open=60s, --breaker rate=50%,min=10, or off");
}

static int
read_retry_on(const char *text, seine_retry_opts *o)
{
    static const char *const also[] = {"net", "timeout", NULL};
    uint32_t words = 0;
    seine_view word;

    if (seine_status_set_parse(text, also, &o->status, &words, &word) != SEINE_OK)
        return refuse_status("retry-on", text, word,
                             "--retry-on net,timeout,429,5xx,!501");
    o->not_net = !(words & 1);
    o->not_timeout = !(words & 2);
    return SAY_DONE;
}

static int
set_retries(const fetch_settings *set, seine_fetch_opts *o)
{
    static const seine_jitter jitters[] = {
        SEINE_JITTER_MINUS, SEINE_JITTER_PLUSMINUS,    SEINE_JITTER_FULL,
        SEINE_JITTER_EQUAL, SEINE_JITTER_DECORRELATED, SEINE_JITTER_NONE};
    const char *why = option_specs_range(set->backoff, &o->retry.base, &o->retry.max);

    if (why)
        return refuse_value("backoff", set->backoff, why, "--backoff 1s..30s");
    o->retry.jitter = jitters[set->jitter];
    o->retry.max_attempts = (uint32_t)set->retries + 1;
    o->max_retry_after = set->max_retry_after;
    int code = read_breaker(set->breaker, o);
    if (code == SAY_DONE)
        code = read_retry_on(set->retry_on, &o->retry);
    return code == SAY_DONE ? read_budget(set->retry_budget, &o->retry_budget) : code;
}

/* Whether the list asks for a member: "headers", "+headers" and not "-headers". */
static bool
asks_for(const char *list, const char *member)
{
    size_t n = strlen(member);

    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
        const char *word = p + (*p == '+');

        if (strncmp(word, member, n) == 0 && (word[n] == ',' || !word[n]))
            return true;
    }
    return false;
}

/* The list with members in the place of columns that CSV alone has. */
static char *
members_of(const char *list)
{
    static const struct {
        const char *column, *member;
    } rows[] = {{"time_ms", "time"}, {"error_kind", "error"}, {"error_message", "error"}};
    static const char data[] = "data."; /* a value of the page is a part of `data` */
    textbuf out = {NULL, 0, 0};

    for (const char *p = list; p;) {
        size_t n = strcspn(p, ","), len = n;
        const char *word = p;

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strlen(rows[i].column) == n && strncmp(p, rows[i].column, n) == 0) {
                word = rows[i].member;
                len = strlen(word);
            }
        size_t sign = *p == '+' || *p == '-';
        if (n > sign + 5 && strncmp(p + sign, data, 5) == 0)
            len = sign + 4;
        textbuf_put(&out, "%s%.*s", out.len ? "," : "", (int)len, word);
        p = p[n] ? p + n + 1 : NULL;
    }
    return out.text;
}

static int
refuse_member(seine_view word)
{
    char hint[96];
    size_t sign = word.len > 0 && strchr("+-", word.ptr[0]);
    const char *near =
        word.len > sign ? template_names_near(word.ptr + sign, word.len - sign) : NULL;

    if (near && strlen(near) == word.len - sign &&
        memcmp(near, word.ptr + sign, word.len - sign) == 0)
        return say_fail(SAY_USAGE, "-w '%{reason} %{url}\\n', or without --fields",
                        "--fields: '%s' is a member of skips, and --fields names those "
                        "of results",
                        near);
    if (near && !strchr(near, '.'))
        snprintf(hint, sizeof hint, "--fields %.*s%s", (int)sign, word.ptr, near);
    else
        snprintf(hint, sizeof hint, "--fields url,status or --fields +headers,-key");
    return say_fail(SAY_USAGE, hint, "--fields: '%s' is no member of a record",
                    show_bytes(word.ptr ? word.ptr : "", word.len).text);
}

/* False, after an error message: a word is no member. */
static bool
read_members(const fetch_settings *set, fetch_plan *p)
{
    char *given = revisit_opts_fields(set);
    char *list = given ? members_of(given) : NULL;
    seine_view word = {NULL, 0};
    bool fine = !list || seine_members_parse(list, &p->fields, &word) == SEINE_OK;

    if (!fine)
        refuse_member(word);
    free(given);
    free(list);
    return fine;
}

/* Whether an output may show what the page itself says: its title, or a charset that no
 * header names. Only --fields that lists its members rules that out, and where nothing
 * but lines and columns of them is written. */
static bool
shows_title(const fetch_settings *set)
{
    bool is_list = set->fields && set->fields[0] != '+' && set->fields[0] != '-';

    return !is_list || asks_for(set->fields, "title") ||
           asks_for(set->fields, "charset") || set->write_out || set->failed ||
           set->body != 0 || set->raw || set->job || set->incremental ||
           outputs_has_archive(set) || outputs_has_database(set);
}

static int
set_responses(const fetch_settings *set, fetch_plan *p)
{
    seine_fetch_opts *o = &p->opts;
    seine_view word = {NULL, 0};

    if (seine_status_set_parse(set->accept, NULL, &o->accept, NULL, &word) != SEINE_OK)
        return refuse_status("accept", set->accept, word, "--accept 200-299,304");
    o->max_redirects = set->location ? (uint32_t)set->max_redirects : 0;
    o->follow_body = set->follow_body;
    o->max_body = set->max_body;
    o->max_wire = set->max_wire;
    const char *why = option_specs_ratio(set->max_ratio, &o->max_ratio, &o->ratio_from);
    if (why)
        return refuse_value("max-ratio", set->max_ratio, why,
                            "--max-ratio 200:8M, or off");
    o->raw_encoding = set->raw_encoding;
    o->dedup = set->dedup == 0;
    o->strip_params = set->strip_params;
    o->keep = shows_title(set) ? SEINE_KEEP_TITLE : 0;
    if (!read_members(set, p))
        return SAY_USAGE;
    if (asks_for(set->fields, "headers") || set->remote_header_name ||
        set->include_headers)
        o->keep |= SEINE_KEEP_FIELDS;
    if (asks_for(set->fields, "sha256") || set->save)
        o->keep |= SEINE_KEEP_SHA256;
    if (asks_for(set->fields, "links") || asks_for(set->fields, "lang") ||
        asks_for(set->fields, "canonical") || asks_for(set->fields, "meta_robots") ||
        asks_for(set->fields, "charset_from") || asks_for(set->fields, "charset_errors"))
        o->keep |= SEINE_KEEP_LINKS;
    if (set->body != 0 || set->raw || set->save || set->remote_name ||
        set->remote_header_name || set->include_headers || set->mirror)
        o->keep |= SEINE_KEEP_BODY;
    if (outputs_has_archive(set))
        o->keep |= SEINE_KEEP_WIRE;
    if (outputs_copy_bodies(set))
        o->keep |= SEINE_KEEP_COPY;
    if (set->referrers > 0)
        o->keep |= SEINE_KEEP_TARGETS;
    o->output_memory = outputs_memory(set);
    return SAY_DONE;
}

static const char *const *
items_of(const texts *list)
{
    return (const char *const *)list->items;
}

static int
set_network(const fetch_settings *set, seine_fetch_opts *o)
{
    if (set->ipv4 && set->ipv6)
        return say_fail(SAY_USAGE, "one of the two", "--ipv4 does not go with --ipv6");
    o->family = set->ipv4   ? SEINE_FAMILY_4
                : set->ipv6 ? SEINE_FAMILY_6
                            : SEINE_FAMILY_ANY;
    o->dns = set->dns;
    o->resolve = items_of(&set->resolve);
    o->allow_net = items_of(&set->allow_net);
    o->deny_net = items_of(&set->deny_net);
    o->zones = items_of(&set->zone);
    o->untrusted = set->untrusted_urls;
    o->https_only = set->https_only;
    return SAY_DONE;
}

/* --insecure means all hosts given, --insecure=a.example,b.example these. */
static void
set_insecure(const char *text, fetch_plan *p)
{
    size_t n = 0, cap = 0;

    p->opts.insecure = text && !*text;
    if (!text || !*text)
        return;
    p->hosts = xalloc_copy(text, strlen(text));
    for (char *host = p->hosts; host;) {
        char *comma = strchr(host, ',');

        if (comma)
            *comma++ = '\0';
        p->host_list = xalloc_room(p->host_list, n + 1, &cap, sizeof *p->host_list);
        if (*host)
            p->host_list[n++] = host;
        host = comma;
    }
    p->host_list[n] = NULL;
    p->opts.insecure_hosts = p->host_list;
}

static int
set_trust(const fetch_settings *set, fetch_plan *p)
{
    seine_fetch_opts *o = &p->opts;

    if (set->cert_key && !set->cert)
        return say_fail(SAY_USAGE, "--cert FILE", "--cert-key goes with --cert");
    set_insecure(set->insecure, p);
    o->cacert = set->cacert;
    o->cert = set->cert;
    o->cert_key = set->cert_key;
    o->tls_min = set->tls_min == 0 ? 12 : 13;
    return SAY_DONE;
}

static int
read_quotas(const fetch_settings *set, fetch_plan *p)
{
    const char *why = option_specs_fail_on(set->fail_on, &p->fail_on);

    if (why)
        return refuse_value("fail-on", set->fail_on, why,
                            "--fail-on none, any, all, 5 or 20%");
    why = option_specs_max_errors(set->max_errors, &p->max_errors);
    if (why)
        return refuse_value("max-errors", set->max_errors, why,
                            "--max-errors 100, 20% or off");
    return SAY_DONE;
}

/* Checks that --base is a URL. */
static int
check_base(const fetch_settings *set)
{
    static const char hint[] = "--base https://e.example/dir/";
    char mem[SEINE_URL_ROOM];
    seine_url base;
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};

    if (!set->base)
        return SAY_DONE;
    seine_url_init(&base, mem, sizeof mem);
    seine_err e = seine_url_parse(&base, set->base, strlen(set->base), &flaw);
    return e == SEINE_OK
               ? SAY_DONE
               : refuse_value("base", set->base, seine_url_flaw_text(flaw.kind), hint);
}

int
fetch_plan_make(const args *a, fetch_plan *out_plan)
{
    const fetch_settings *set = a->settings;
    fetch_plan *p = out_plan;

    *p = (fetch_plan){.opts = SEINE_FETCH_OPTS};
    int code = how_long(set, &p->opts);
    code = code == SAY_DONE ? set_retries(set, &p->opts) : code;
    code = code == SAY_DONE ? set_responses(set, p) : code;
    code = code == SAY_DONE ? set_network(set, &p->opts) : code;
    code = code == SAY_DONE ? set_trust(set, p) : code;
    code = code == SAY_DONE ? read_quotas(set, p) : code;
    code = code == SAY_DONE ? how_much(a, set, &p->opts) : code;
    code = code == SAY_DONE ? request_make(a, &p->request) : code;
    code = code == SAY_DONE ? host_config_make(a->config, &p->request, &p->single) : code;
    code = code == SAY_DONE ? check_base(set) : code;
    code = code == SAY_DONE ? crawl_plan_make(a, &p->opts, &p->crawl) : code;
    code = code == SAY_DONE ? revisit_opts_read(a, &p->revisit) : code;
    code = code == SAY_DONE ? extract_opts_read(set, &p->extract) : code;
    if (code != SAY_DONE) {
        fetch_plan_free(p);
        return code;
    }
    p->opts.hosts = p->single.hosts;
    p->opts.n_hosts = p->single.n_hosts;
    p->opts.groups = p->single.groups;
    p->opts.n_groups = p->single.n_groups;
    p->opts.method = p->request.method;
    p->opts.user_agent = p->request.user_agent;
    p->opts.from = p->request.from;
    p->opts.fields = p->request.fields;
    p->opts.n_fields = p->request.n_fields;
    p->opts.body = p->request.body;
    p->opts.secrets = p->request.secrets;
    p->opts.proxy = set->proxy; /* request_make has hidden its login where it was typed */
    p->opts.no_proxy = set->no_proxy;
    p->opts.proxy_env = getenv;
    p->opts.names = p->names = option_names_new(a->command);
    p->opts.extract = p->extract;
    p->data = extract_opts_names(p->extract);
    return SAY_DONE;
}

void
fetch_plan_free(fetch_plan *p)
{
    host_config_free(&p->single);
    request_free(&p->request);
    crawl_plan_free(&p->crawl);
    free(p->hosts);
    free(p->host_list);
    option_names_free(p->names);
    seine_extract_free(p->extract);
    free(p->data);
    p->extract = NULL;
    p->data = NULL;
    p->hosts = NULL;
    p->host_list = NULL;
    p->names = NULL;
}
