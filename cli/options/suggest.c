/* SPDX-License-Identifier: Apache-2.0 */
#include "options/suggest.h"

#include <stdio.h>
#include <string.h>

/* Counts the slips between two words: a letter too many, missing, wrong, or swapped. */
static unsigned
count_slips(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    unsigned rows[3][LONGEST + 1];
    size_t la = strlen(a), lb = strlen(b);

    if (la > LONGEST || lb > LONGEST)
        return LONGEST;
    for (unsigned j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= la; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3],
                 *before = rows[(i + 1) % 3];

        now[0] = i;
        for (unsigned j = 1; j <= lb; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[la % 3][lb];
}

void
suggest_nearer(const char *word, const char *name, unsigned *slip, const char **best)
{
    unsigned n = count_slips(word, name);

    if (n <= 2 && n < *slip && n < (strlen(word) + 1) / 2) {
        *slip = n;
        *best = name;
    }
}

const char *
suggest_command(const char *word)
{
    const char *best = NULL;
    unsigned slip = 3;
    char first[32];

    for (size_t i = 0; commands[i]; i++) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(commands[i]->name, " "),
                 commands[i]->name);
        if (strcmp(word, first) == 0)
            return commands[i]->name;
        const char *near = NULL;
        suggest_nearer(word, first, &slip, &near);
        best = near ? commands[i]->name : best;
    }
    return best;
}

const char *
suggest_option(const command *c, const char *name)
{
    const option *lists[] = {c->options, shared_options};
    const char *best = NULL;
    unsigned slip = 3;

    for (size_t i = 0; i < 2; i++)
        for (const option *o = lists[i]; o && o->name; o++)
            suggest_nearer(name, o->name, &slip, &best);
    return best;
}
