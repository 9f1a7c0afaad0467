/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cookie_secrets.h"

#include "base/alloc.h"
#include "net/cookie_jar.h"

static seine_err
hide(const seine_fetch_opts *o, sn_str value)
{
    if (value.len > 1 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
        value = sn_str_slice(value, 1, value.len - 1);
    if (!o->secrets || value.len > SEINE_SECRET_MOST)
        return SEINE_OK;
    return seine_secrets_learn((seine_secrets *)o->secrets, value.ptr, value.len);
}

seine_err
sn_cookie_secrets_learn(const seine_fetch_opts *o, sn_str set_cookie)
{
    sn_str pair, rest, name, value;

    sn_str_cut(set_cookie, ';', &pair, &rest);
    if (!sn_str_cut(pair, '=', &name, &value))
        value = pair;
    return hide(o, sn_str_trim(value));
}

/* The last column of each line is the value. */
seine_err
sn_cookie_secrets_learn_jar(const seine_fetch_opts *o, int64_t wall)
{
    char *text = NULL;
    size_t len = 0;
    seine_err e = SEINE_OK;

    if (o->jar && o->secrets)
        e = sn_cookie_jar_print(o->jar, wall, &text, &len);
    sn_str rest = {text, e == SEINE_OK ? len : 0}, line;
    while (e == SEINE_OK && sn_str_next(&rest, '\n', &line)) {
        size_t at = line.len;

        while (at > 0 && line.ptr[at - 1] != '\t')
            at--;
        e = hide(o, sn_str_slice(line, at, line.len));
    }
    if (text)
        seine_wipe(text, len);
    sn_free(text);
    return e;
}
