/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "chaos/arg.h"
#include "chaos/url_words.h"

#define WORD(name)                                                                \
    static const char *name(snc_plan *p, const sn_str arg[2], const snc_scene *s, \
                            const snc_spot *at)
#define UNUSED(a) ((void)arg, (void)s, (void)at, (void)(a))

static const char *
label(snc_plan *p, sn_str name, size_t place)
{
    if (p->label_count == SNC_PLAN_LABELS)
        return "more than 16 codings";
    memmove(p->labels + place + 1, p->labels + place,
            (p->label_count - place) * sizeof *p->labels);
    p->labels[place] = name;
    p->label_count++;
    return NULL;
}

/* Adds a coding with a label of its own; a dash means no label. */
static const char *
add_coding(snc_plan *p, snc_coding coding, sn_str name)
{
    snc_body_coding *r = &p->coding;

    if (r->count == SNC_BODY_CODINGS)
        return "more than 8 codings";
    r->codings[r->count++] = coding;
    if (sn_str_eq(name, SN_STR("-")))
        return NULL;
    return label(p, name.len > 0 ? name : snc_coder_label(coding), p->label_count);
}

WORD(gzip)
{
    UNUSED(0);
    return add_coding(p, SNC_CODING_GZIP, arg[0]);
}

WORD(deflate)
{
    UNUSED(0);
    return add_coding(p, SNC_CODING_DEFLATE, arg[0]);
}

WORD(rawdeflate)
{
    UNUSED(0);
    return add_coding(p, SNC_CODING_RAW, arg[0]);
}

WORD(br)
{
    UNUSED(0);
    return add_coding(p, SNC_CODING_BR, arg[0]);
}

WORD(zstd)
{
    UNUSED(0);
    return add_coding(p, SNC_CODING_ZSTD, arg[0]);
}

/* The codings before it in the path are applied to it. */
WORD(bomb)
{
    UNUSED(0);
    p->bomb = snc_coder_named(arg[0]);
    if (p->bomb == SNC_CODING_NONE || !snc_arg_size(arg[1], &p->count))
        return "wants a coding and a size, like gzip:256M";
    p->final = SNC_FINAL_BOMB;
    return label(p, snc_coder_label(p->bomb), 0);
}

WORD(coding)
{
    UNUSED(0);
    p->damaged |= !sn_str_eq_nocase(arg[0], SN_STR("identity"));
    return label(p, arg[0], p->label_count);
}

WORD(codecut)
{
    UNUSED(0);
    p->damaged = true;
    return snc_arg_size(arg[0], &p->coding.cut) && p->coding.cut <= SNC_BODY_CODING_HELD
               ? NULL
               : "wants a number of bytes, at most 64k";
}

/* Counts from the start from 0, or with a minus from the end from 1. */
WORD(codeflip)
{
    snc_body_coding *r = &p->coding;
    bool back = arg[0].len > 0 && arg[0].ptr[0] == '-';

    UNUSED(0);
    p->damaged = true;
    r->flips = !back;
    r->flips_end = back;
    if (!snc_arg_size(sn_str_slice(arg[0], back, arg[0].len), &r->flip) ||
        (back && (r->flip == 0 || r->flip > SNC_BODY_CODING_HELD)))
        return "wants the number of a byte, like 100, or -5 from the end";
    return NULL;
}

WORD(members)
{
    UNUSED(0);
    return snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &p->coding.members)
               ? NULL
               : "wants a number";
}

WORD(codetail)
{
    UNUSED(0);
    return snc_arg_size(arg[0], &p->coding.extra) ? NULL : "wants a number of bytes";
}

/* clang-format off */
const snc_url_word snc_url_words_coded[] = {
    {"gzip",       "",          "coding",   0, 1, false, false, gzip,       "codes the body; several in a row; :LABEL of its own, :- none"},
    {"deflate",    "",          "coding",   0, 1, false, false, deflate,    "the same, in zlib's wrapping"},
    {"rawdeflate", "",          "coding",   0, 1, false, false, rawdeflate, "deflate without it"},
    {"br",         "",          "coding",   0, 1, false, false, br,         "Brotli"},
    {"zstd",       "",          "coding",   0, 1, false, false, zstd,       "Zstandard"},
    {"bomb",       "gzip:256M", "coding",   2, 2, true,  false, bomb,       "so many zeros; also deflate, rawdeflate, br, zstd"},
    {"lie",        "gzip",      "coding",   1, 1, false, false, coding,     "says that it is coded, and is not"},
    {"coding",     "NAME",      "coding",   1, 1, false, false, coding,     "the same, for unknown names"},
    {"codecut",    "10",        "coding",   1, 1, false, false, codecut,    "the coded body ends so many bytes early, rightly framed"},
    {"codeflip",   "-5",        "coding",   1, 1, false, false, codeflip,   "a byte of the coded body is wrong; -5: from its end"},
    {"members",    "3",         "coding",   1, 1, false, false, members,    "so many empty gzip members or zstd frames follow"},
    {"codetail",   "10",        "coding",   1, 1, false, false, codetail,   "so many bytes behind the coded body"},
    {.name = NULL},
};
/* clang-format on */
