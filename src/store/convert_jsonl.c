/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "store/convert.h"

/* Skips blank lines, like every reader of JSON lines. */
static seine_err
take_line(sn_convert *c, sn_str line)
{
    c->line++;
    if (c->line == 1 && sn_str_starts(line, SN_STR("\xef\xbb\xbf")))
        line = sn_str_slice(line, 3, line.len);
    line = sn_str_trim(line);
    return line.len > 0 ? sn_convert_line(c, line) : SEINE_OK;
}

/* Completes the line with `rest`; a line over the limit is bad and skipped. */
static seine_err
take_begun(sn_convert *c, sn_str rest)
{
    sn_buf_str(&c->made, rest);
    seine_err e = sn_buf_done(&c->made);

    if (e == SEINE_OK)
        e = take_line(c, sn_buf_view(&c->made));
    else if (e == SEINE_E_FULL) {
        c->line++;
        e = sn_convert_bad(c, "larger than 64 MiB");
    }
    sn_buf_reset(&c->made);
    return e;
}

static seine_err
take_block(sn_convert *c, sn_str block)
{
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && block.len > 0) {
        const char *end = memchr(block.ptr, '\n', block.len);
        size_t n = end ? (size_t)(end - block.ptr) : block.len;
        sn_str part = {block.ptr, n};

        if (!end) {
            sn_buf_str(&c->made, part);
            if (c->made.err == SEINE_E_FULL && !c->opts->skip_bad)
                return take_begun(c, (sn_str){NULL, 0}); /* its end may never come */
            return c->made.err == SEINE_E_NOMEM ? SEINE_E_NOMEM : SEINE_OK;
        }
        e = c->made.len > 0 || c->made.err ? take_begun(c, part) : take_line(c, part);
        block = sn_str_slice(block, n + 1, block.len);
    }
    return e;
}

seine_err
sn_convert_from_jsonl(sn_convert *c)
{
    sn_str block;
    seine_err e;

    while ((e = sn_source_next(&c->source, &block, c->diag)) == SEINE_OK &&
           block.len > 0) {
        e = take_block(c, block);
        if (e != SEINE_OK)
            return e;
    }
    if (e == SEINE_OK && (c->made.len > 0 || c->made.err)) /* a line without newline */
        e = take_begun(c, (sn_str){NULL, 0});
    return e;
}
