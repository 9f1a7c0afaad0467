/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/robots_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/option_names.h"
#include "screen/say.h"
#include "screen/xalloc.h"

int
robots_ask(const seine_fetch_opts *opts, char *const *urls, size_t count,
           seine_robots_book **out_book)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e =
        seine_robots_fetch(opts, NULL, (const char *const *)urls, count, out_book, &diag);

    if (e == SEINE_OK)
        return SAY_DONE;
    return option_names_fail(
        opts->names, e == SEINE_E_NOMEM ? SAY_MACHINE : SAY_USAGE,
        e == SEINE_E_BAD_URL ? "https://e.example/page, or --robots FILE" : NULL, &diag,
        e);
}

/* Reads the first 512 KiB and one byte more, which tells that the file is longer. */
int
robots_load(const char *path, seine_robots_book **out_book)
{
    size_t cap = SEINE_ROBOTS_BYTES + 1;
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    int why = errno;

    if (!in)
        return say_fail(SAY_USAGE, "another name", "cannot open '%s': %s",
                        show(path).text, show_errno(why).text);
    char *text = xalloc_zeroed(cap, 1);
    size_t n = fread(text, 1, cap, in);
    bool is_bad = ferror(in) != 0;
    if (in != stdin)
        fclose(in);
    seine_err e = is_bad ? SEINE_E_IO : seine_robots_book_new(text, n, path, out_book);
    free(text);
    if (e == SEINE_OK)
        return SAY_DONE;
    return say_fail(is_bad ? SAY_USAGE : SAY_MACHINE, is_bad ? "another name" : NULL,
                    is_bad ? "cannot read '%s'" : "no memory for '%s'", show(path).text);
}

robots_why
robots_why_of(const seine_robots_answer *a)
{
    robots_why w = {""};

    if (a->state == SEINE_ROBOTS_PARSED)
        return w;
    if (a->status >= 400 || a->err == SEINE_OK)
        snprintf(w.text, sizeof w.text, "status %u", a->status);
    else
        snprintf(w.text, sizeof w.text, "%s", seine_err_text(a->err));
    return w;
}
