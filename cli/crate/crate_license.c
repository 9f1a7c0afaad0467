/* SPDX-License-Identifier: Apache-2.0 */
/* Licence expressions of SPDX, and the "MIT/Apache-2.0" of old manifests: / is OR. */
#include <string.h>
#include <strings.h>

#include "crate/crate_gate.h"

enum { DEEPEST = 32 };

typedef struct words {
    const char *at;
    const char *denied;
    int depth;
} words;

typedef struct word {
    const char *ptr;
    size_t len;
} word;

static word
peek(const words *w, const char **out_behind)
{
    const char *p = w->at + strspn(w->at, " \t\r\n");
    size_t n = *p && strchr("()/", *p) ? 1 : strcspn(p, " \t\r\n()/");

    *out_behind = p + n;
    return (word){p, n};
}

static bool
is_word(word x, const char *text)
{
    return x.len == strlen(text) && strncasecmp(x.ptr, text, x.len) == 0;
}

static bool
take(words *w, const char *text)
{
    const char *behind;

    if (!is_word(peek(w, &behind), text))
        return false;
    w->at = behind;
    return true;
}

/* "GPL-3.0" is meant by GPL-3.0, GPL-3.0+, GPL-3.0-only and GPL-3.0-or-later. */
static bool
is_denied(word x, const char *denied)
{
    static const char *const forms[] = {"", "+", "-only", "-or-later"};
    size_t n = strlen(denied);

    if (x.len < n || strncasecmp(x.ptr, denied, n) != 0)
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is_word((word){x.ptr + n, x.len - n}, forms[i]))
            return true;
    return false;
}

static bool needs_any(words *w);

static bool
needs_one(words *w)
{
    const char *behind;
    bool needs;

    if (take(w, "(") && w->depth < DEEPEST) {
        w->depth++;
        needs = needs_any(w);
        w->depth--;
        (void)take(w, ")");
        return needs;
    }
    needs = is_denied(peek(w, &behind), w->denied);
    w->at = behind;
    if (take(w, "WITH")) {
        (void)peek(w, &behind);
        w->at = behind;
    }
    return needs;
}

/* Whether one of several that all apply is denied. Words without an operator between
 * them are no expression, and taken for AND. */
static bool
needs_all(words *w)
{
    const char *behind;
    bool needs = needs_one(w);

    for (;;) {
        word next = peek(w, &behind);

        if (next.len == 0 || is_word(next, "OR") || is_word(next, "/") ||
            is_word(next, ")"))
            return needs;
        (void)take(w, "AND");
        const char *before = w->at;
        needs = needs_one(w) || needs;
        if (w->at == before)
            return needs;
    }
}

/* Whether each of several to choose from is denied. */
static bool
needs_any(words *w)
{
    bool needs = needs_all(w);

    while (take(w, "OR") || take(w, "/"))
        needs = needs_all(w) && needs;
    return needs;
}

bool
crate_license_needs(const char *expression, const char *denied)
{
    words w = {expression, denied, 0};

    return expression && needs_any(&w);
}
