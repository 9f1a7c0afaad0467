/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

enum { LONGEST = 360, WHOLE = 4000 };

/* Adds the text with entities. False: it was cut. */
static bool
escape(textbuf *out, const char *text, size_t n, size_t most)
{
    static const struct {
        char c;
        const char *entity;
    } rows[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    size_t from = out->len;

    for (size_t i = 0; i < n; i++) {
        const char *entity = NULL;

        if (out->len - from > most && (text[i] & 0xc0) != 0x80)
            return false;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            entity = rows[k].c == text[i] ? rows[k].entity : entity;
        if (entity)
            textbuf_put(out, "%s", entity);
        else
            textbuf_add(out, text + i, 1);
    }
    return true;
}

static void
put_text(textbuf *out, const char *text, size_t most)
{
    size_t n = text ? strlen(text) : 0;
    size_t len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);

    if (n == 0)
        return;
    char *safe = xalloc_zeroed(1, len + 1);
    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    if (!escape(out, safe, len, most))
        textbuf_put(out, "…");
    free(safe);
}

void
html_text(textbuf *out, const char *text)
{
    put_text(out, text, LONGEST);
}

void
html_sentence(textbuf *out, const char *text)
{
    put_text(out, text, WHOLE);
}

/* Whether the text is a whole URL that a browser may open: one that is inert as it is. */
static bool
is_link(const char *url)
{
    size_t n = strlen(url);

    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (url[i] <= ' ' || url[i] >= 0x7f || url[i] == '"' || url[i] == '<')
            return false;
    return n < LONGEST / 2;
}

void
html_link(textbuf *out, const char *url)
{
    if (!url)
        return;
    if (!is_link(url)) {
        html_text(out, url);
        return;
    }
    textbuf_put(out, "<a rel=\"noopener noreferrer\" href=\"");
    html_text(out, url);
    textbuf_put(out, "\">");
    html_text(out, url);
    textbuf_put(out, "</a>");
}

void
html_bar(textbuf *out, const char *class, double part, double whole)
{
    double share = whole > 0 ? 100 * part / whole : 0;

    textbuf_put(out,
                "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
                "aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"10\"/>"
                "<rect class=\"%s\" width=\"%.1f\" height=\"10\"/></svg>",
                class, share);
}
