/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "screen/out.h"

/* Letters, digits and what means nothing inside of a word; also in { } and [ ]. */
static bool
is_plain(const char *text)
{
    static const char inner[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./-+=;()$^~@%<>";
    size_t n = strlen(text);

    return n > 0 && strspn(text, inner) == n && !strchr("-.@%<>=~", text[0]) &&
           strcmp(text, "null") != 0;
}

void
config_quote_print(const char *text)
{
    if (is_plain(text)) {
        out_text(text);
        return;
    }
    out_text("\"");
    for (const char *c = text; *c; c++) {
        char spare[8];

        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            snprintf(spare, sizeof spare, "\\x%02x", (unsigned char)*c);
        else
            snprintf(spare, sizeof spare, "%s%c", strchr("\"\\", *c) ? "\\" : "", *c);
        out_text(spare);
    }
    out_text("\"");
}
