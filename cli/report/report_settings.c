/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>

#include "options/help.h"
#include "options/options.h"
#include "options/values.h"
#include "screen/xalloc.h"

typedef struct words {
    char **all;
    size_t n;
} words;

static char *
copy_text(const char *text)
{
    return xalloc_copy(text, strlen(text));
}

/* "[64]" without its brackets. */
static char *
default_of(const option *o)
{
    help_text text = help_default(o);
    size_t n = strlen(text.text);

    if (n < 3 || text.text[0] != '[')
        return NULL;
    return xalloc_copy(text.text + 1, n - 2);
}

static void
keep(report_settings *to, const option *o, bool is_no, const char *value)
{
    char name[96];

    snprintf(name, sizeof name, "--%s%s", is_no ? "no-" : "", o->name);
    to->all = xalloc_room(to->all, to->n, &to->cap, sizeof *to->all);
    to->all[to->n++] =
        (report_setting){copy_text(name), copy_text(value), default_of(o), NULL};
}

/* The name with two dashes, and its value behind "=" or in the next word. Returns how
 * many words it took. */
static size_t
take_long(const command *c, const words *w, size_t at, report_settings *to)
{
    const char *name = w->all[at] + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    bool is_no = false;
    const option *o = options_by_name(c, name, n, &is_no);

    if (!o)
        return 1;
    if (equals || !values_takes(o) || is_no || at + 1 >= w->n) {
        keep(to, o, is_no, equals ? equals + 1 : "on");
        return 1;
    }
    keep(to, o, false, w->all[at + 1]);
    return 2;
}

/* "-x", "-xvalue", "-x value", "-xy". */
static size_t
take_letters(const command *c, const words *w, size_t at, report_settings *to)
{
    for (const char *p = w->all[at] + 1; *p; p++) {
        const option *o = options_by_letter(c, *p);

        if (!o)
            return 1;
        if (!values_takes(o)) {
            keep(to, o, false, "on");
        } else if (p[1]) {
            keep(to, o, false, p + 1);
            return 1;
        } else {
            keep(to, o, false, at + 1 < w->n ? w->all[at + 1] : "");
            return 2;
        }
    }
    return 1;
}

/* A member of a setting that nobody typed; NULL: it has none. */
static char *
member_of(const seine_json *setting, const char *name)
{
    const char *text;
    size_t n;

    return seine_json_string(seine_json_get(setting, name), &text, &n)
               ? xalloc_copy(text, n)
               : NULL;
}

static void
take_setting(const command *c, const seine_json *one, report_settings *to)
{
    report_setting s = {member_of(one, "option"), member_of(one, "value"), NULL,
                        member_of(one, "from")};
    bool is_no = false;
    const option *o = c && s.name && strncmp(s.name, "--", 2) == 0
                          ? options_by_name(c, s.name + 2, strlen(s.name) - 2, &is_no)
                          : NULL;

    if (!s.name || !s.value || !s.from) {
        free(s.name);
        free(s.value);
        free(s.from);
        return;
    }
    s.usual = o ? default_of(o) : NULL;
    to->all = xalloc_room(to->all, to->n, &to->cap, sizeof *to->all);
    to->all[to->n++] = s;
}

static const command *
command_of(const words *w, size_t *out_used)
{
    *out_used = 0;
    return w->n > 1 ? options_find(w->all + 1, w->n - 1, out_used) : NULL;
}

static void
take_words(const words *w, report_settings *to)
{
    size_t used;
    const command *c = command_of(w, &used);

    for (size_t i = 1 + used; c && i < w->n;) {
        const char *word = w->all[i];

        if (strcmp(word, "--") == 0)
            break;
        if (word[0] == '-' && word[1] == '-')
            i += take_long(c, w, i, to);
        else if (word[0] == '-' && word[1])
            i += take_letters(c, w, i, to);
        else
            i++;
    }
}

void
report_settings_read(const char *words_json, report_settings *out)
{
    seine_json *j = NULL;
    words w = {NULL, 0};
    const char *word;
    size_t n;

    if (!words_json ||
        seine_json_parse(words_json, strlen(words_json), &j, NULL) != SEINE_OK)
        return;
    const seine_json *list = seine_json_get(j, "words");
    w.all = xalloc_zeroed(seine_json_size(list) + 1, sizeof *w.all);
    for (size_t i = 0; i < seine_json_size(list); i++)
        if (seine_json_string(seine_json_at(list, i), &word, &n))
            w.all[w.n++] = xalloc_copy(word, n);
    take_words(&w, out);
    const seine_json *more = seine_json_get(j, "settings");
    for (size_t i = 0; i < seine_json_size(more); i++)
        take_setting(command_of(&w, &n), seine_json_at(more, i), out);
    for (size_t i = 0; i < w.n; i++)
        free(w.all[i]);
    free(w.all);
    seine_json_free(j);
}

void
report_settings_free(report_settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->all[i].name);
        free(s->all[i].value);
        free(s->all[i].usual);
        free(s->all[i].from);
    }
    free(s->all);
    *s = (report_settings){NULL, 0, 0};
}
