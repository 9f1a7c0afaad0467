/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/time.h"
#include "chaos/arg.h"
#include "chaos/url_words.h"

enum { FOR_JITTER = 201 };

#define WORD(name)                                                                \
    static const char *name(snc_plan *p, const sn_str arg[2], const snc_scene *s, \
                            const snc_spot *at)
#define UNUSED(a) ((void)arg, (void)s, (void)at, (void)(a))

WORD(delay)
{
    seine_span d;

    UNUSED(0);
    if (!snc_arg_span(arg[0], &d))
        return "wants a time, like 500ms";
    p->delay = sn_time_add(p->delay, d);
    return NULL;
}

WORD(jitter)
{
    sn_str low, high;
    seine_span from, to;

    UNUSED(0);
    if (!sn_str_cut(arg[0], '-', &low, &high) || !snc_arg_span(low, &from) ||
        !snc_arg_span(high, &to) || from > to)
        return "wants two times, like 50ms-500ms";
    uint64_t bits = snc_dice(s->seed, s->key, s->hit, FOR_JITTER);
    p->delay = sn_time_add(p->delay,
                           from + (seine_span)snc_below(bits, (uint64_t)(to - from) + 1));
    return NULL;
}

/* An optional second argument: count from the first byte of the body. */
static bool
read_body(sn_str arg, bool *out)
{
    *out = sn_str_eq(arg, SN_STR("body"));
    return *out || !arg.ptr;
}

WORD(drip)
{
    sn_str size, span;

    UNUSED(0);
    if (!sn_str_cut(arg[0], 'x', &size, &span) || !snc_arg_size(size, &p->drip) ||
        p->drip == 0 || !snc_arg_span(span, &p->every) || p->every <= 0 ||
        !read_body(arg[1], &p->drip_body))
        return "wants bytes and a time, like 1x500ms or 1x500ms:body";
    return NULL;
}

/* Sends twenty times a second, or byte by byte. */
WORD(bw)
{
    uint64_t rate;

    UNUSED(0);
    if (!snc_arg_size(arg[0], &rate) || rate == 0 || !read_body(arg[1], &p->drip_body))
        return "wants bytes per second, like 32k";
    p->drip = rate >= 20 ? rate / 20 : 1;
    p->every = (seine_span)((sn_u128)p->drip * (uint64_t)SEINE_SECS(1) / rate);
    p->every = p->every > 0 ? p->every : 1;
    return NULL;
}

static const char *
set_cut(snc_plan *p, snc_cut what, const sn_str arg[2])
{
    if (!snc_arg_size(arg[0], &p->cut_at) || !read_body(arg[1], &p->cut_body))
        return "wants a number of bytes, like 100 or 100:body";
    p->cut = what;
    return NULL;
}

WORD(stall)
{
    UNUSED(0);
    return set_cut(p, SNC_CUT_STALL, arg);
}

WORD(reset)
{
    UNUSED(0);
    return set_cut(p, SNC_CUT_RST, arg);
}

WORD(fin)
{
    UNUSED(0);
    return set_cut(p, SNC_CUT_FIN, arg);
}

/* Without a number, at the very end. */
WORD(tlscut)
{
    UNUSED(0);
    p->unclean = true;
    return arg[0].ptr ? set_cut(p, SNC_CUT_FIN, arg) : NULL;
}

WORD(shorter)
{
    UNUSED(0);
    p->is_short = true;
    return snc_arg_size(arg[0], &p->shorter) ? NULL : "wants a number of bytes";
}

WORD(mute)
{
    UNUSED(0);
    p->mute = true;
    return NULL;
}

WORD(stale)
{
    UNUSED(0);
    p->stale = true;
    if (s->nth > 1) {
        p->cut = SNC_CUT_RST;
        p->cut_at = 0;
    }
    return NULL;
}

WORD(noread)
{
    UNUSED(0);
    p->noread = p->mute = true;
    return NULL;
}

WORD(idle)
{
    static const sn_str ends[] = {{"fin", 3}, {"rst", 3}, {"bytes", 5}};

    UNUSED(0);
    if (!snc_arg_span(arg[0], &p->idle))
        return "wants a time, like 50ms or 50ms:rst";
    p->idle_end = SNC_IDLE_FIN;
    for (int i = 0; arg[1].ptr; i++) {
        if (i == 3)
            return "ends with fin, rst or bytes";
        p->idle_end = (snc_idle)(SNC_IDLE_FIN + i);
        if (sn_str_eq(arg[1], ends[i]))
            break;
    }
    return NULL;
}

WORD(chunked)
{
    UNUSED(0);
    p->framing = SNC_BY_CHUNKS;
    return NULL;
}

WORD(chunksize)
{
    UNUSED(0);
    p->framing = SNC_BY_CHUNKS;
    return snc_arg_size(arg[0], &p->chunk_size) && p->chunk_size > 0 ? NULL
                                                                     : "wants a size";
}

WORD(chunkext)
{
    UNUSED(0);
    p->framing = SNC_BY_CHUNKS;
    return snc_arg_size(arg[0], &p->chunk_ext) ? NULL : "wants a size";
}

WORD(trailer)
{
    UNUSED(0);
    p->framing = SNC_BY_CHUNKS;
    return snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &p->trailers) ? NULL
                                                                   : "wants a number";
}

WORD(badchunk)
{
    static const sn_str kinds[] = {{"size", 4}, {"empty", 5}, {"negative", 8},
                                   {"long", 4}, {"huge", 4},  {"lf", 2},
                                   {"end", 3},  {"last", 4},  {"none", 4}};

    UNUSED(0);
    p->framing = SNC_BY_CHUNKS;
    p->damaged = true;
    p->chunk_fault = SNC_CHUNK_SIZE;
    if (!arg[0].ptr)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++, p->chunk_fault++)
        if (sn_str_eq(arg[0], kinds[i]))
            return NULL;
    return "is size, empty, negative, long, huge, lf, end, last or none";
}

WORD(close_)
{
    UNUSED(0);
    p->framing = SNC_BY_CLOSE;
    return NULL;
}

WORD(http10)
{
    UNUSED(0);
    p->http10 = true;
    return NULL;
}

WORD(http09)
{
    UNUSED(0);
    p->http09 = p->damaged = true;
    return NULL;
}

WORD(length)
{
    static const struct {
        sn_str name;
        snc_length how;
        bool damaged;
    } forms[] = {
        {{"two", 3}, SNC_LENGTH_TWO, true},    {{"same", 4}, SNC_LENGTH_SAME, false},
        {{"list", 4}, SNC_LENGTH_LIST, false}, {{"odd", 3}, SNC_LENGTH_ODD, true},
        {{"fold", 4}, SNC_LENGTH_FOLD, true},  {{"space", 5}, SNC_LENGTH_SPACE, true},
        {{"none", 4}, SNC_LENGTH_NONE, true},
    };
    sn_str text = arg[0];

    UNUSED(0);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (sn_str_eq(text, forms[i].name)) {
            p->length = forms[i].how;
            p->damaged |= forms[i].damaged;
            return NULL;
        }
    p->damaged = true;
    if (text.len > 0 && text.ptr[0] == '=') {
        p->length = SNC_LENGTH_TEXT;
        p->length_text = sn_str_slice(text, 1, text.len);
        return NULL;
    }
    if (text.len > 0 && text.ptr[0] == '+')
        text = sn_str_slice(text, 1, text.len);
    else if (text.len == 0 || text.ptr[0] != '-')
        text.len = 0;
    return sn_str_i64(text, &p->length_off) == SEINE_OK
               ? NULL
               : "is +5, -5, =TEXT, two, same, list, odd, fold, space or none";
}

WORD(both)
{
    UNUSED(0);
    p->framing = SNC_BY_CHUNKS;
    p->both = true;
    return NULL;
}

WORD(te)
{
    UNUSED(0);
    p->framing = SNC_BY_CHUNKS;
    p->te = arg[0];
    p->damaged |= !sn_str_eq_nocase(arg[0], SN_STR("chunked"));
    return NULL;
}

WORD(badstatus)
{
    static const struct {
        sn_str name, line;
    } kinds[] = {
        {{"letters", 7}, {"HTTP/1.1 abc OK", 15}},
        {{"two", 3}, {"HTTP/1.1 20 OK", 14}},
        {{"four", 4}, {"HTTP/1.1 2000 OK", 16}},
        {{"low", 3}, {"HTTP/1.1 099 Low", 16}},
        {{"version", 7}, {"HTTP/3.0 200 OK", 15}},
        {{"lower", 5}, {"http/1.1 200 ok", 15}},
        {{"space", 5}, {" HTTP/1.1 200 OK", 16}},
        {{"blank", 5}, {"\r\nHTTP/1.1 200 OK", 17}},
        {{"ssh", 3}, {"SSH-2.0-OpenSSH_9.2", 19}},
        {{"tab", 3}, {"HTTP/1.1\t200\tOK", 15}},
    };
    sn_str kind = arg[0].ptr ? arg[0] : kinds[0].name;

    UNUSED(0);
    p->damaged = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sn_str_eq(kind, kinds[i].name)) {
            p->status_line = kinds[i].line;
            return NULL;
        }
    return "is letters, two, four, low, version, lower, space, blank, ssh or tab";
}

WORD(reason)
{
    UNUSED(0);
    p->no_reason = arg[0].len == 0;
    p->reason = arg[0];
    return NULL;
}

WORD(head)
{
    UNUSED(0);
    return arg[0].len > 0 ? snc_plan_field(p, arg[0], arg[1])
                          : "wants a name and a value";
}

WORD(line)
{
    UNUSED(0);
    return snc_plan_field(p, SN_STR(""), arg[0]);
}

WORD(nul)
{
    UNUSED(0);
    p->damaged = true;
    return snc_plan_field(p, SN_STR(""), SN_STR("X-Nul: a\0b"));
}

WORD(cr)
{
    UNUSED(0);
    return snc_plan_field(p, SN_STR(""), SN_STR("X-Cr: a\rb"));
}

WORD(lf)
{
    UNUSED(0);
    p->lf = true;
    return NULL;
}

WORD(fold)
{
    UNUSED(0);
    return snc_plan_field(p, SN_STR(""), SN_STR("X-Fold: one\r\n two"));
}

WORD(odd)
{
    UNUSED(0);
    return snc_plan_field(p, SN_STR(""), SN_STR("this line has no colon"));
}

WORD(bighead)
{
    UNUSED(0);
    return snc_arg_size(arg[0], &p->big_head) ? NULL : "wants a size";
}

WORD(manyhead)
{
    UNUSED(0);
    return snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &p->many_head) ? NULL
                                                                    : "wants a number";
}

WORD(interim)
{
    uint64_t status = 103;

    UNUSED(0);
    if (!snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &p->interim) ||
        (arg[1].ptr && (!snc_arg_count(arg[1], 199, &status) || status < 100)))
        return "wants a number and a status, like 40 or 40:100";
    p->interim_status = (unsigned)status;
    return NULL;
}

WORD(extra)
{
    UNUSED(0);
    return snc_arg_size(arg[0], &p->extra) ? NULL : "wants a number of bytes";
}

WORD(smuggle)
{
    UNUSED(0);
    p->smuggle = true;
    return NULL;
}

WORD(withbody)
{
    UNUSED(0);
    p->with_body = true;
    return NULL;
}

/* clang-format off */
const snc_url_word snc_url_words_sent[] = {
    {"delay",     "100ms",      "time",    1, 1, false, false, delay,     "waits before the first byte"},
    {"jitter",    "50ms-500ms", "time",    1, 1, false, false, jitter,    "waits a time in between"},
    {"drip",      "1x500ms",    "time",    1, 2, false, false, drip,      "so many bytes at a time; :body leaves the head alone"},
    {"bw",        "32k",        "time",    1, 2, false, false, bw,        "so many bytes per second; :body"},
    {"stall",     "100",        "time",    1, 2, false, false, stall,     "silent after so many bytes, connection open; :body"},
    {"mute",      "",           "time",    0, 0, false, false, mute,      "never responds"},
    {"noread",    "",           "time",    0, 0, false, false, noread,    "never responds and does not read a request's body"},
    {"reset",     "100",        "cut",     1, 2, false, false, reset,     "RST after so many bytes, the head included; :body"},
    {"fin",       "100",        "cut",     1, 2, false, false, fin,       "FIN after so many bytes; :body"},
    {"tlscut",    "100",        "cut",     0, 2, false, false, tlscut,    "the same without close_notify; without a number at the end"},
    {"short",     "10",         "cut",     1, 1, false, false, shorter,   "ends so many bytes early"},
    {"stale",     "",           "cut",     0, 0, false, false, stale,     "RST unless it is the first request of its connection"},
    {"idle",      "50ms",       "cut",     1, 2, false, false, idle,      "then FIN on the idle connection; :rst, :bytes"},
    {"chunked",   "",           "framing", 0, 0, false, false, chunked,   "in chunks of 4096"},
    {"chunksize", "1",          "framing", 1, 1, false, false, chunksize, "in chunks of this size"},
    {"chunkext",  "100",        "framing", 1, 1, false, false, chunkext,  "an extension of so many bytes in every chunk"},
    {"trailer",   "3",          "framing", 1, 1, false, false, trailer,   "so many fields behind the last chunk"},
    {"badchunk",  "size",       "framing", 0, 1, false, false, badchunk,  "size, empty, negative, long, huge, lf, end, last, none"},
    {"close",     "",           "framing", 0, 0, false, false, close_,    "the end of the connection ends the body"},
    {"http10",    "",           "framing", 0, 0, false, false, http10,    "responds in HTTP/1.0 and closes"},
    {"http09",    "",           "framing", 0, 0, false, false, http09,    "the body alone, then FIN"},
    {"length",    "+5",         "framing", 1, 1, false, false, length,    "Content-Length: +5, -5, =TEXT, two, same, list, odd, fold, space, none"},
    {"both",      "",           "framing", 0, 0, false, false, both,      "chunks and a Content-Length"},
    {"te",        "gzip",       "framing", 1, 1, false, false, te,        "chunks, with this Transfer-Encoding"},
    {"badstatus", "letters",    "framing", 0, 1, false, false, badstatus, "letters, two, four, low, version, lower, space, blank, ssh, tab"},
    {"reason",    "Fine",       "framing", 1, 1, false, false, reason,    "this reason; empty: none"},
    {"head",      "Name:value", "framing", 2, 2, false, false, head,      "one more field"},
    {"line",      "TEXT",       "framing", 1, 1, false, false, line,      "one more line of the head, verbatim"},
    {"nul",       "",           "framing", 0, 0, false, false, nul,       "a field with a zero byte"},
    {"cr",        "",           "framing", 0, 0, false, false, cr,        "a field with a bare CR"},
    {"lf",        "",           "framing", 0, 0, false, false, lf,        "head lines end in LF alone"},
    {"fold",      "",           "framing", 0, 0, false, false, fold,      "a field on two lines"},
    {"odd",       "",           "framing", 0, 0, false, false, odd,       "a line without a colon"},
    {"bighead",   "64k",        "framing", 1, 1, false, false, bighead,   "a field of this size"},
    {"manyhead",  "2000",       "framing", 1, 1, false, false, manyhead,  "so many fields"},
    {"interim",   "40",         "framing", 1, 2, false, false, interim,   "so many 103 responses before; :100, :101"},
    {"extra",     "10",         "framing", 1, 1, false, false, extra,     "so many bytes behind the end"},
    {"smuggle",   "",           "framing", 0, 0, false, false, smuggle,   "a second response behind the end"},
    {"withbody",  "",           "framing", 0, 0, false, false, withbody,  "sends a body where none may be: 204, 304, HEAD"},
    {.name = NULL},
};
/* clang-format on */
