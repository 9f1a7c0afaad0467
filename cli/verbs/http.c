/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <seine/mime.h>
#include <seine/retry_hint.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *date, *policy;
    uint64_t now;
    bool jsonl;
} settings;

static int run_retry_after(const args *a);
static int run_date(const args *a);
static int run_mime(const args *a);
static int run_ratelimit(const args *a);

/* Around this moment every year of two digits means a year from 1970 on. */
#define SOME_DAY INT64_C(1577836799) /* the last second of 2019 */
#define LAST_DAY INT64_C(9000000000) /* in 2255; more nanoseconds do not fit */

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
#define OPTION_NOW(more_) \
    {"now", NULL, KIND_COUNT, "N", AT(now), .max = LAST_DAY, \
     .help = "the time of the answer, in Unix seconds", .more = (more_)}
#define OPTION_JSONL(more_) \
    {"jsonl", NULL, KIND_FLAG, AT(jsonl), \
     .help = "many cases: one JSON object per line, in and out", \
     .more = more_ " `id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."}

static const option retry_after_options[] = {
    OPTION_NOW("Needed for a date, unless --date is given."),
    {"date", NULL, KIND_TEXT, "DATE", AT(date),
     .help = "the field Date of the answer, from which a date counts"},
    OPTION_JSONL("In: `value`, `now`, `date`. Out: `delay_s`."),
    {.name = NULL},
};
static const option date_options[] = {
    OPTION_NOW("A year of two digits is the latest that is not more than 50 years later. Without it, one of 1970 to 2069."),
    OPTION_JSONL("In: `value`, `now`. Out: `epoch`."),
    {.name = NULL},
};
static const option mime_options[] = {
    OPTION_JSONL("In: `value`, whose characters up to U+00FF are bytes, or bytes as `value_b64` (base64) or `value_file`. "
                 "Out: `essence`, `parameters`, `output`."),
    {.name = NULL},
};
static const option ratelimit_options[] = {
    {"policy", NULL, KIND_TEXT, "VALUE", AT(policy),
     .help = "the field RateLimit-Policy of the same answer"},
    OPTION_JSONL("In: `ratelimit`, `policy`. Out: `r`, `t`, `q`, `w`."),
    {.name = NULL},
};

static const example retry_after_examples[] = {
    {"seine http retry-after 120", "Two minutes:"},
    {"seine http retry-after --date 'Sun, 06 Nov 1994 08:49:37 GMT' 'Sun, 06 Nov 1994 08:51:37 GMT'", "The same as a date:"},
    {NULL, NULL},
};
static const example date_examples[] = {
    {"seine http date 'Sun, 06 Nov 1994 08:49:37 GMT'", "A date of HTTP:"},
    {NULL, NULL},
};
static const example mime_examples[] = {
    {"seine http mime 'Text/HTML; Charset=\"utf-8\"'", "A Content-Type:"},
    {NULL, NULL},
};
static const example ratelimit_examples[] = {
    {"seine http ratelimit '\"default\";r=0;t=30' --policy '\"default\";q=100;w=60'", "Nothing left for 30 s:"},
    {NULL, NULL},
};

const command cmd_http_retry_after = {
    .name = "http retry-after",
    .is_small = true,
    .arguments = "[VALUE]…",
    .about = "say how long a Retry-After asks to stay away",
    .text = "`delay_s` in seconds, at most 2147483648; 0 for a moment that is past, null for what is no Retry-After, and then the exit code is 1.",
    .options = retry_after_options,
    .examples = retry_after_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_retry_after,
};

const command cmd_http_date = {
    .name = "http date",
    .is_small = true,
    .arguments = "[VALUE]…",
    .about = "read the dates of HTTP",
    .text = "The three forms of RFC 9110, strictly. `epoch` in Unix seconds; null for what is no date, and then the exit code is 1.",
    .options = date_options,
    .examples = date_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_date,
};

const command cmd_http_mime = {
    .name = "http mime",
    .is_small = true,
    .arguments = "[VALUE]…",
    .about = "read a Content-Type, as a browser would",
    .text = "The MIME Sniffing Standard: `essence`, `parameters`, and all of it as it would be written again. The exit code is 1 if a value is no type.",
    .options = mime_options,
    .examples = mime_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_mime,
};

const command cmd_http_ratelimit = {
    .name = "http ratelimit",
    .is_small = true,
    .arguments = "[VALUE]…",
    .about = "say what a RateLimit field allows",
    .text = "The quota that binds: `r` requests left, more in `t` seconds, `q` in a window of `w` seconds; null what was not said. "
            "A value that says nothing, or is no structured field (RFC 9651), is {`ok`:false, `error`}, and the exit code is 1.",
    .options = ratelimit_options,
    .examples = ratelimit_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_ratelimit,
};
/* clang-format on */

/* One case, from the command line or a line of JSON. */
typedef struct asked {
    bytes value, date, policy;
    int64_t now; /* -1: not said */
    bool text;   /* the value is characters, not bytes */
} asked;

/* Adds members to `out`; *out_void: the value says nothing. */
typedef bool (*verb)(const asked *q, seine_json *out, bool *out_void, reason *why);

static void
set_count(seine_json *out, const char *name, int64_t n)
{
    jsonl_set(out, name, n < 0 ? seine_json_new_null() : seine_json_new_int(n));
}

static void
set_seconds(seine_json *out, const char *name, seine_span span)
{
    jsonl_set(out, name,
              span < 0 ? seine_json_new_null() : jsonl_in(span, SEINE_SECS(1)));
}

static bool
feed_hint(seine_retry_hint *h, const char *name, const bytes *value)
{
    return value->ptr &&
           seine_retry_hint_feed(h, name, strlen(name), value->ptr, value->len);
}

static bool
answer_retry_after(const asked *q, seine_json *out, bool *out_void, reason *why)
{
    seine_retry_hint h;
    int64_t epoch, wall = SEINE_SECS(q->now < 0 ? SOME_DAY : q->now);

    if (q->date.ptr &&
        seine_retry_hint_date(q->date.ptr, q->date.len, wall, &epoch) != SEINE_OK)
        return reason_set(why, "date: no date of HTTP");
    if (q->now < 0 && !q->date.ptr &&
        seine_retry_hint_date(q->value.ptr, q->value.len, wall, &epoch) == SEINE_OK)
        return reason_set(why, "a date without 'now' or 'date' to count from");
    seine_retry_hint_init(&h, wall);
    feed_hint(&h, "date", &q->date);
    feed_hint(&h, "retry-after", &q->value);
    set_seconds(out, "delay_s", seine_retry_hint_after(&h));
    *out_void = seine_retry_hint_after(&h) < 0;
    return true;
}

static bool
answer_date(const asked *q, seine_json *out, bool *out_void, reason *why)
{
    int64_t epoch = -1, wall = SEINE_SECS(q->now < 0 ? SOME_DAY : q->now);

    (void)why;
    *out_void =
        seine_retry_hint_date(q->value.ptr, q->value.len, wall, &epoch) != SEINE_OK;
    set_count(out, "epoch", *out_void ? -1 : epoch);
    return true;
}

static bool
answer_ratelimit(const asked *q, seine_json *out, bool *out_void, reason *why)
{
    seine_quota quota = {-1, -1, -1, -1};
    seine_retry_hint h;

    seine_retry_hint_init(&h, SEINE_SECS(q->now < 0 ? SOME_DAY : q->now));
    feed_hint(&h, "ratelimit-policy", &q->policy);
    bool is_read = feed_hint(&h, "ratelimit", &q->value);
    *out_void = !seine_retry_hint_quota(&h, &quota);
    if (*out_void)
        return reason_set(why, is_read ? "it names no quota: no r, t or q"
                                       : "not a list of RFC 9651, or no counts");
    set_count(out, "r", quota.r);
    set_seconds(out, "t", quota.t);
    set_count(out, "q", quota.q);
    set_seconds(out, "w", quota.w);
    return true;
}

/* Turns UTF-8 into the bytes of a header field: U+0000 to U+00FF. Other characters become
 * a byte that no media type holds, as in the standard. */
static size_t
narrow_to_bytes(const bytes *text, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->ptr[i];

        if (c < 0x80)
            out[n++] = (char)c;
        else if (c > 0xc3)
            out[n++] = '\177';
        else if (c >= 0xc2) /* two bytes: the second has six bits */
            out[n++] = (char)((c & 3) << 6 | (text->ptr[++i] & 0x3f));
    }
    return n;
}

/* Turns the bytes of a header field into UTF-8. */
static seine_json *
widened_text(const char *text, size_t len)
{
    char *wide = xalloc_zeroed(2 * len + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= 0x80)
            wide[n++] = (char)(0xc0 | c >> 6);
        wide[n++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    seine_json *json = xalloc_json(seine_json_new_string(wide, n));
    free(wide);
    return json;
}

static void
set_mime(const seine_mime *m, seine_json *out)
{
    seine_json *parameters = xalloc_json(seine_json_new_object());
    seine_view name, value;
    size_t len = seine_mime_print(m, NULL, 0);
    char *text = xalloc_zeroed(len + 1, 1);

    jsonl_set(out, "essence", jsonl_string(seine_mime_essence(m).ptr));
    for (size_t i = 0; seine_mime_param(m, i, &name, &value); i++)
        jsonl_set(parameters, name.ptr, widened_text(value.ptr, value.len));
    jsonl_set(out, "parameters", parameters);
    seine_mime_print(m, text, len + 1);
    jsonl_set(out, "output", widened_text(text, len));
    free(text);
}

static bool
answer_mime(const asked *q, seine_json *out, bool *out_void, reason *why)
{
    size_t len = q->value.len;
    char *value = xalloc_copy(q->value.ptr, len), *mem = xalloc_zeroed(len + 2, 1);
    seine_mime m;

    *out_void = false;
    if (q->text)
        len = narrow_to_bytes(&q->value, value);
    seine_mime_init(&m, mem, len + 2);
    bool good = seine_mime_parse(&m, value, len) == SEINE_OK;
    if (good)
        set_mime(&m, out);
    else
        reason_set(why, "not a MIME type");
    free(value);
    free(mem);
    return good;
}

/* A verb, and the member with its value: `name`, or `as_recorded` in recorded cases. */
typedef struct question {
    verb fn;
    const char *name, *as_recorded;
} question;

static bool
read_value(const question *ask, const seine_json *in, asked *q, reason *why)
{
    q->text = jsonl_has(in, ask->name);
    if (!bytes_read(in, ask->name, &q->value, why))
        return false;
    if (!q->value.ptr) {
        q->text = jsonl_has(in, ask->as_recorded);
        if (!bytes_read(in, ask->as_recorded, &q->value, why))
            return false;
    }
    return q->value.ptr || reason_set(why, "no member '%s'", ask->name);
}

/* Answers one case of --jsonl. A recorded case may hold the expected results as well. */
static bool
answer_http_case(const question *ask, const seine_json *in, seine_json *out, reason *why)
{
    asked q = {.now = -1};
    bool is_void, good = false;

    if (!jsonl_known(in,
                     "id value value_b64 value_file now date ratelimit ratelimit_b64 "
                     "ratelimit_file policy retry_after in input delay_s epoch src note "
                     "output navigable encoding minimizedMIMEType",
                     why) ||
        !read_value(ask, in, &q, why) || !bytes_read(in, "date", &q.date, why) ||
        !bytes_read(in, "policy", &q.policy, why) ||
        !jsonl_int(in, "now", 0, LAST_DAY, &q.now, why))
        goto out;
    jsonl_set(out, "ok", seine_json_new_bool(true));
    good = ask->fn(&q, out, &is_void, why);
out:
    bytes_free(&q.value);
    bytes_free(&q.date);
    bytes_free(&q.policy);
    return good;
}

static bool
case_retry_after(const seine_json *in, seine_json *out, reason *why)
{
    return answer_http_case(&(question){answer_retry_after, "value", "retry_after"}, in,
                            out, why);
}

static bool
case_date(const seine_json *in, seine_json *out, reason *why)
{
    return answer_http_case(&(question){answer_date, "value", "in"}, in, out, why);
}

static bool
case_mime(const seine_json *in, seine_json *out, reason *why)
{
    return answer_http_case(&(question){answer_mime, "value", "input"}, in, out, why);
}

static bool
case_ratelimit(const seine_json *in, seine_json *out, reason *why)
{
    return answer_http_case(&(question){answer_ratelimit, "ratelimit", "value"}, in, out,
                            why);
}

/* Whether an argument, which may be any bytes, is UTF-8. */
static bool
is_utf8(const char *text)
{
    seine_json *json = seine_json_new_string(text, strlen(text));
    bool valid = json != NULL;

    seine_json_free(json);
    return valid;
}

static bytes
typed_bytes(const char *text)
{
    return (bytes){text, text ? strlen(text) : 0, NULL};
}

/* Prints one value of the command line. False: it says nothing. */
static bool
print_value(const args *a, verb fn, const char *word)
{
    const settings *set = a->settings;
    seine_json *out = xalloc_json(seine_json_new_object());
    asked q = {.value = typed_bytes(word),
               .date = typed_bytes(set->date),
               .policy = typed_bytes(set->policy),
               .now = options_given(a, "now") ? (int64_t)set->now : -1,
               .text = is_utf8(word)};
    reason why = {""};
    bool is_void = false;

    jsonl_set(out, "value", jsonl_string(word));
    jsonl_set(out, "ok", seine_json_new_bool(true));
    bool good = fn(&q, out, &is_void, &why);
    if (!good) {
        jsonl_set(out, "ok", seine_json_new_bool(false));
        jsonl_set(out, "error", jsonl_string(why.text));
    }
    out_json(out);
    return good && !is_void;
}

static int
run_http(const args *a, verb fn, jsonl_fn case_fn)
{
    const settings *set = a->settings;
    bool all = true;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, case_fn) : SAY_USAGE;
    if (a->count == 0)
        return say_fail(SAY_USAGE, "a value, or --jsonl and cases on standard input",
                        "%s needs a value", a->command->name);
    for (size_t i = 0; i < a->count; i++)
        all = print_value(a, fn, a->words[i]) && all;
    return all ? SAY_DONE : SAY_FAILED;
}

static int
run_retry_after(const args *a)
{
    return run_http(a, answer_retry_after, case_retry_after);
}

static int
run_date(const args *a)
{
    return run_http(a, answer_date, case_date);
}

static int
run_mime(const args *a)
{
    return run_http(a, answer_mime, case_mime);
}

static int
run_ratelimit(const args *a)
{
    return run_http(a, answer_ratelimit, case_ratelimit);
}
