/* SPDX-License-Identifier: Apache-2.0 */
#include "store/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { SHOWN = 56 }; /* bytes of a path, its end */

void
sn_why(char *why, const char *fmt, ...)
{
    va_list args;

    if (!why)
        return;
    va_start(args, fmt);
    vsnprintf(why, SEINE_WHY, fmt, args);
    va_end(args);
}

void
sn_why_name(const char *path, char out[SN_WHY_NAME])
{
    size_t n = strlen(path), from = n > SHOWN ? n - SHOWN : 0, len = 0;

    if (from > 0) {
        memcpy(out, "\xe2\x80\xa6", 3);
        len = 3;
        while ((path[from] & 0xc0) == 0x80)
            from++;
    }
    while (from < n) {
        uint32_t c;
        size_t size = sn_utf8_decode((sn_str){path + from, n - from}, &c);

        if (size == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0))
            out[len++] = '?';
        else
            len += (size_t)snprintf(out + len, SN_WHY_NAME - len, "%.*s", (int)size,
                                    path + from);
        from += size > 0 ? size : 1;
    }
    out[len] = '\0';
}

void
sn_why_text(int error, char out[SN_WHY_TEXT])
{
    const char *text = strerrordesc_np(error);

    snprintf(out, SN_WHY_TEXT, "%s", text ? text : "unknown error");
    out[0] = sn_lower(out[0]);
}
