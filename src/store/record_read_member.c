/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/err.h"
#include "store/record_read_parts.h"

seine_err
sn_member_wrong(const sn_member *m, const char *want)
{
    sn_diag_text(m->rr->diag, "\"%s%s%s\" is %s, not %s", m->in ? m->in : "",
                 m->in ? "." : "", m->name,
                 seine_json_type_name(seine_json_type_of(m->value)), want);
    return SEINE_E_INVAL;
}

seine_err
sn_member_unfit(const sn_member *m, const char *want)
{
    sn_diag_text(m->rr->diag, "\"%s%s%s\" is not %s", m->in ? m->in : "",
                 m->in ? "." : "", m->name, want);
    return SEINE_E_INVAL;
}

bool
sn_member_find(sn_record_reader *rr, const seine_json *object, const char *in,
               const char *name, sn_member *out)
{
    *out = (sn_member){rr, in, name, seine_json_get(object, name)};
    return seine_json_type_of(out->value) != SEINE_JSON_NULL;
}

seine_err
sn_member_view(const sn_member *m, seine_view *out)
{
    if (!seine_json_string(m->value, &out->ptr, &out->len))
        return sn_member_wrong(m, "a string");
    return SEINE_OK;
}

seine_err
sn_member_int(const sn_member *m, int64_t least, int64_t most, int64_t *out)
{
    if (!seine_json_int(m->value, out))
        return sn_member_wrong(m, "an integer");
    if (*out < least || *out > most)
        return sn_member_unfit(m, "within its bounds");
    return SEINE_OK;
}

seine_err
sn_member_u64(const sn_member *m, uint64_t *out)
{
    int64_t n = 0;
    seine_err e = sn_member_int(m, 0, INT64_MAX, &n);

    *out = (uint64_t)n;
    return e;
}

seine_err
sn_member_u16(const sn_member *m, uint16_t *out)
{
    int64_t n = 0;
    seine_err e = sn_member_int(m, 0, UINT16_MAX, &n);

    *out = (uint16_t)n;
    return e;
}

seine_err
sn_member_u32(const sn_member *m, uint32_t *out)
{
    int64_t n = 0;
    seine_err e = sn_member_int(m, 0, UINT32_MAX, &n);

    *out = (uint32_t)n;
    return e;
}

seine_err
sn_member_bool(const sn_member *m, bool *out)
{
    return seine_json_bool(m->value, out) ? SEINE_OK
                                          : sn_member_wrong(m, "true or false");
}

seine_err
sn_member_stamp(const sn_member *m, int64_t *out)
{
    seine_view v;
    seine_err e = sn_member_view(m, &v);

    if (e == SEINE_OK && sn_stamp_read(v, out) != SEINE_OK)
        return sn_member_unfit(m, "a time of RFC 3339");
    return e;
}

/* Milliseconds with three decimals are whole microseconds. */
seine_err
sn_member_ms(const sn_member *m, seine_span *out)
{
    double ms;

    if (!seine_json_number(m->value, &ms))
        return sn_member_wrong(m, "a number");
    if (!(ms >= 0 && ms <= 9e12))
        return sn_member_unfit(m, "within its bounds");
    *out = llround(ms * 1000) * 1000;
    return SEINE_OK;
}

seine_err
sn_member_word(const sn_member *m, const char *(*name)(int), int count, const char *list,
               int *out)
{
    seine_view v;
    seine_err e = sn_member_view(m, &v);

    for (int i = 0; e == SEINE_OK && i < count; i++)
        if (sn_str_eq(v, sn_str_of(name(i)))) {
            *out = i;
            return SEINE_OK;
        }
    return e == SEINE_OK ? sn_member_unfit(m, list) : e;
}

seine_err
sn_member_object(const sn_member *m)
{
    return seine_json_type_of(m->value) == SEINE_JSON_OBJECT
               ? SEINE_OK
               : sn_member_wrong(m, "an object");
}

seine_err
sn_member_list(const sn_member *m, size_t size, size_t align, size_t *out_n,
               void *out_mem)
{
    if (seine_json_type_of(m->value) != SEINE_JSON_ARRAY)
        return sn_member_wrong(m, "an array");
    *out_n = seine_json_size(m->value);

    void *mem = sn_arena_get(&m->rr->arena, *out_n ? *out_n : 1, size, align);
    if (!mem)
        return SEINE_E_NOMEM;
    memcpy(out_mem, &mem, sizeof mem);
    return SEINE_OK;
}

static const char *
err_name(int i)
{
    return seine_err_name((seine_err)i);
}

seine_err
sn_member_error(sn_record_reader *rr, const seine_json *error, const char *in,
                seine_err *out)
{
    sn_member m;
    int kind = 0;

    if (!sn_member_find(rr, error, in, "kind", &m))
        return sn_member_unfit(&m, "there");
    seine_err e = sn_member_word(&m, err_name, SN_ERR_COUNT, "a kind of error", &kind);
    if (e == SEINE_OK && kind == SEINE_OK)
        return sn_member_unfit(&m, "a kind of error");
    *out = (seine_err)kind;
    return e;
}
