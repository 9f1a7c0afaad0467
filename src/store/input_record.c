/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "seine/plumbing.h"
#include "store/input.h"

/*
 * A line of our own output is a line of input: what a result, a skip or a link was about
 * is asked for again. Other records name no URL and are passed over.
 */

static seine_view
text_of(const seine_json *json, const char *name)
{
    const seine_json *value = seine_json_get(json, name);
    seine_view v = {NULL, 0};

    if (!value || !seine_json_string(value, &v.ptr, &v.len))
        return (seine_view){NULL, 0};
    return v;
}

bool
sn_input_is_record(const seine_json *json)
{
    const seine_json *version = seine_json_get(json, "v");
    int64_t n;

    return version && seine_json_int(version, &n) && text_of(json, "type").ptr != NULL;
}

/* A record has no request body, so a request that had one cannot be made again. */
static bool
can_repeat(seine_view method)
{
    return sn_str_eq(method, SN_STR("GET")) || sn_str_eq(method, SN_STR("HEAD"));
}

seine_err
sn_input_record(seine_input *in, const seine_json *json, seine_ask *ask)
{
    seine_view type = text_of(json, "type"), method = text_of(json, "method");
    bool is_link = sn_str_eq(type, SN_STR("link"));
    const seine_json *tags = seine_json_get(json, "tags");

    if (!is_link && !sn_str_eq(type, SN_STR("result")) &&
        !sn_str_eq(type, SN_STR("skip")))
        return SEINE_OK;
    ask->url = text_of(json, is_link ? "target" : "url");
    if (ask->url.len == 0 || memchr(ask->url.ptr, '\0', ask->url.len)) {
        sn_diag_text(&in->bad, "the record names no URL");
        return SEINE_E_INVAL;
    }
    if (method.ptr && !can_repeat(method)) {
        sn_diag_text(&in->bad, "the record of a %.32s has no body to send again",
                     method.ptr);
        return SEINE_E_INVAL;
    }
    ask->input = ask->url;
    ask->method = method;
    ask->id = text_of(json, "id");
    if (!tags || seine_json_type_of(tags) != SEINE_JSON_OBJECT)
        return SEINE_OK;
    seine_err e = seine_json_print(tags, &in->tags);
    if (e == SEINE_OK)
        ask->tags = (seine_view){in->tags.bytes, in->tags.len};
    return e;
}
