/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change sets for another program to compare with: one JSON object a line.
 *
 *     {"a":[…],"b":[…],"before":true,"text":"…","at":[3,7]}
 *     {"map":[…],"text":"…","moved":[[3,3],[9,10]]}
 *
 * `a` mapped over `b`, the text after `a`, and where places are after `a`, for either
 * side. {"error":"…"} says what failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "collab/changes.h"

static seine_err
answer(const seine_json *in, sn_buf *out)
{
    seine_changes *a = NULL, *b = NULL, *mapped = NULL;
    seine_text json = {0}, text = {0};
    const seine_json *at = seine_json_get(in, "at");
    const char *bytes = "";
    size_t len = 0;
    bool before = false;
    seine_err e = seine_changes_new(&a);

    (void)seine_json_bool(seine_json_get(in, "before"), &before);
    (void)seine_json_string(seine_json_get(in, "text"), &bytes, &len);
    if (e == SEINE_OK)
        e = seine_changes_new(&b);
    if (e == SEINE_OK)
        e = seine_changes_new(&mapped);
    if (e == SEINE_OK)
        e = sn_changes_read(a, seine_json_get(in, "a"));
    if (e == SEINE_OK)
        e = sn_changes_read(b, seine_json_get(in, "b"));
    if (e == SEINE_OK)
        e = seine_changes_map(a, b, before, mapped);
    if (e == SEINE_OK)
        e = seine_changes_print(mapped, &json);
    if (e == SEINE_OK)
        e = seine_changes_apply(a, bytes, len, &text);
    if (e == SEINE_OK) {
        size_t n = sn_json_quote(text.bytes, text.len, NULL, 0);

        sn_buf_printf(out, "{\"map\":%s,\"text\":", json.bytes);
        char *to = sn_buf_reserve(out, n + 1);
        if (to)
            sn_buf_commit(out, sn_json_quote(text.bytes, text.len, to, n + 1));
        sn_buf_text(out, ",\"moved\":[");
        for (size_t i = 0; i < seine_json_size(at); i++) {
            int64_t place = 0;

            (void)seine_json_int(seine_json_at(at, i), &place);
            sn_buf_printf(out, "%s[%llu,%llu]", i > 0 ? "," : "",
                          (unsigned long long)seine_changes_move(a, (uint64_t)place, -1),
                          (unsigned long long)seine_changes_move(a, (uint64_t)place, 1));
        }
        sn_buf_text(out, "]}");
    }
    seine_text_free(&json);
    seine_text_free(&text);
    seine_changes_free(a);
    seine_changes_free(b);
    seine_changes_free(mapped);
    return e;
}

int
main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    while ((n = getline(&line, &room, stdin)) > 0) {
        seine_json *in = NULL;
        sn_buf out;
        seine_err e = seine_json_parse(line, (size_t)n, &in, NULL);

        sn_buf_init(&out, 1 << 20);
        if (e == SEINE_OK)
            e = answer(in, &out);
        if (e == SEINE_OK)
            puts(out.ptr);
        else
            printf("{\"error\":\"%s\"}\n", seine_err_name(e));
        sn_buf_fini(&out);
        seine_json_free(in);
    }
    free(line);
    return 0;
}
