/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/job_hint.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "screen/say.h"

/* Whether a shell takes the word as it is. */
static bool
is_plain(const char *word)
{
    return word[0] != '\0' &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "_@%+=:,./-") == strlen(word);
}

/* Appends a word; one with a quote in it is shown as it is. */
static void
add_word(job_hint_text *out, const char *word)
{
    size_t n = strlen(out->text);
    bool quotes = !is_plain(word) && !strchr(word, '\'');

    snprintf(out->text + n, sizeof out->text - n, quotes ? " '%.250s'" : " %.250s",
             show(word).text);
}

job_hint_text
job_hint(const char *verb, const char *name, const char *state)
{
    job_hint_text out;

    snprintf(out.text, sizeof out.text, "seine %s", verb);
    add_word(&out, name);
    if (state && strcmp(state, ".seine") != 0) {
        size_t n = strlen(out.text);

        snprintf(out.text + n, sizeof out.text - n, " --state");
        add_word(&out, state);
    }
    return out;
}

job_hint_text
job_hint_about(const char *verb, const seine_job_about *a)
{
    char state[256];
    const char *slash = strrchr(a->path, '/');

    snprintf(state, sizeof state, "%.*s", slash ? (int)(slash - a->path) : 0, a->path);
    return job_hint(verb, a->name, state[0] ? state : NULL);
}
