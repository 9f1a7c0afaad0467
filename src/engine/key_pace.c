/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/key_pace.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "seine/jsonptr.h"
#include "seine/keyed.h"
#include "seine/plumbing.h"

#define TAGS "/tags"

struct sn_key_pace {
    seine_keyed *buckets;
    const char *key; /* of the options, which outlive it */
    seine_span max_wait;
};

bool
sn_key_pace_knows(const char *key)
{
    static const char *const known[] = {"none", "host", "/id", "/url", "/method", TAGS};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i]) == 0)
            return true;
    return strncmp(key, TAGS "/", sizeof TAGS) == 0 &&
           seine_jsonptr_valid(key, strlen(key));
}

seine_err
sn_key_pace_new(const seine_fetch_opts *opts, sn_key_pace **out_pace, seine_diag *diag)
{
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    sn_key_pace *p;

    if (!sn_key_pace_knows(opts->rate_key))
        return sn_diag_value(diag, "rate_key", sn_str_of(opts->rate_key),
                             "none, host, /id, /url, /method or /tags/NAME");
    if (opts->max_wait < 0)
        return sn_diag_option(diag, "max_wait", "not below 0");
    p = sn_zalloc(sizeof *p);
    if (!p)
        return SEINE_E_NOMEM;
    keyed.each = opts->rate;
    p->key = opts->rate_key;
    p->max_wait = opts->max_wait;
    seine_err e = seine_keyed_new(&keyed, &p->buckets);
    if (e != SEINE_OK) {
        sn_free(p);
        return e == SEINE_E_INVAL ? sn_diag_option(diag, "rate", "contradicts itself")
                                  : e;
    }
    *out_pace = p;
    return SEINE_OK;
}

void
sn_key_pace_free(sn_key_pace *p)
{
    if (p)
        seine_keyed_free(p->buckets);
    sn_free(p);
}

uint64_t
sn_key_pace_keys(const sn_key_pace *p)
{
    seine_keyed_totals t = {0};

    if (p)
        seine_keyed_totals_get(p->buckets, &t);
    return t.keys;
}

/* The value of a tag, as JSON; empty: there is none. The caller frees it. */
static seine_err
find_tag(const char *pointer, sn_str tags, seine_text *out_text)
{
    const seine_json *value;
    seine_json *json = NULL;
    seine_err e = seine_json_parse(tags.ptr, tags.len, &json, NULL);

    if (e == SEINE_OK) {
        e = seine_jsonptr_get(json, pointer, strlen(pointer), &value);
        if (e == SEINE_OK)
            e = seine_json_print(value, out_text);
        seine_json_free(json);
    }
    return e == SEINE_E_NOMEM ? e : SEINE_OK;
}

/* What the visit is counted by; visits without such a member share a bucket. */
static seine_err
find_key(const sn_key_pace *p, const sn_visit *v, seine_text *own, sn_str *out_key)
{
    seine_err e = SEINE_OK;

    *out_key = SN_STR("");
    if (strcmp(p->key, "host") == 0) {
        e = seine_url_name(&v->url, out_key);
    } else if (strcmp(p->key, "/id") == 0) {
        *out_key = v->id;
    } else if (strcmp(p->key, "/url") == 0) {
        *out_key = v->input;
    } else if (strcmp(p->key, "/method") == 0) {
        *out_key = v->method;
    } else if (strcmp(p->key, "none") != 0 && v->tags.len > 0) {
        e = find_tag(p->key + sizeof TAGS - 1, v->tags, own);
        *out_key = (sn_str){own->bytes, own->len};
    }
    return e == SEINE_E_NOMEM ? e : SEINE_OK;
}

seine_err
sn_key_pace_reserve(sn_key_pace *p, const sn_visit *v, seine_time now, seine_time *out_at)
{
    seine_text own = {NULL, 0};
    seine_grant grant = {0};
    sn_str key;
    seine_err e = find_key(p, v, &own, &key);

    if (e == SEINE_OK)
        e = seine_keyed_reserve(p->buckets, key, now, 1, sn_time_add(now, p->max_wait),
                                &grant);
    if (e == SEINE_OK)
        *out_at = sn_time_add(now, grant.retry_after);
    seine_text_free(&own);
    return e;
}
