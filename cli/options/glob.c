/* SPDX-License-Identifier: Apache-2.0 */
#include "options/glob.h"

#include <string.h>

#include "screen/textbuf.h"

/* Adds a set like [a-z] as it is; [!a] is [^a]. Returns what follows it. */
static const char *
add_set(textbuf *out, const char *p)
{
    const char *end = p[1] ? strchr(p + 2, ']') : NULL;

    if (!end) {
        textbuf_add(out, "\\[", 2);
        return p + 1;
    }
    textbuf_add(out, "[", 1);
    for (p++; p < end; p++) {
        bool is_not = *p == '!' && out->text[out->len - 1] == '[';

        if (strchr("\\[^", *p))
            textbuf_add(out, "\\", 1);
        textbuf_add(out, is_not ? "^" : p, 1);
    }
    textbuf_add(out, "]", 1);
    return end + 1;
}

static void
add_body(textbuf *out, const char *p)
{
    while (*p) {
        if (*p == '*' && p[1] == '*') {
            textbuf_put(out, ".*");
            p += 2;
        } else if (*p == '*') {
            textbuf_put(out, "[^/?#]*");
            p++;
        } else if (*p == '?') {
            textbuf_put(out, "[^/?#]");
            p++;
        } else if (*p == '[') {
            p = add_set(out, p);
        } else {
            if (strchr("\\^$.|+(){}]", *p))
                textbuf_add(out, "\\", 1);
            textbuf_add(out, p++, 1);
        }
    }
}

char *
glob_to_re(const char *glob)
{
    textbuf out = {NULL, 0, 0};

    textbuf_put(&out, strstr(glob, "://") ? "^"
                      : glob[0] == '/'    ? "^[a-z]+://[^/?#]*"
                                          : "^[^?#]*/");
    add_body(&out, glob);
    textbuf_put(&out, "([?#].*)?$");
    return out.text;
}

bool
glob_is_meant(const char *text)
{
    return text[0] == '*' || strstr(text, "/*") || strstr(text, "**");
}
