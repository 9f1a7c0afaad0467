/* SPDX-License-Identifier: Apache-2.0 */
/* Change sets on a document of 262,144 units: one update mapped over 200, one applied,
 * and the document opened from its store. Bars: 1 ms, 1 ms, 100 ms. */
#include "seine/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { UNITS = 262144, UPDATES = 200, TIMES = 50 };

static seine_changes *
insert_at(uint64_t at, uint64_t units, const char *text)
{
    seine_changes *c;

    if (seine_changes_new(&c) != SEINE_OK ||
        (at > 0 && seine_changes_keep(c, at) != SEINE_OK) ||
        seine_changes_replace(c, 0, text, strlen(text)) != SEINE_OK ||
        seine_changes_keep(c, units - at) != SEINE_OK)
        abort();
    return c;
}

/* One update over 200 accepted ones, both sides. */
static void
map_over(seine_changes **accepted)
{
    seine_changes *mine = insert_at(1000, UNITS, "mine"), *out;

    for (int i = 0; i < UPDATES; i++) {
        if (seine_changes_new(&out) != SEINE_OK ||
            seine_changes_map(mine, accepted[i], false, out) != SEINE_OK)
            abort();
        seine_changes_free(mine);
        mine = out;
    }
    seine_changes_free(mine);
}

static void
tell(const char *name, double ms, bool as_json)
{
    printf(as_json ? "{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"ms\",\"bar\":1}\n"
                   : "%-22s %8.3f ms  bar 1\n",
           name, ms);
}

int
main(int argc, char **argv)
{
    bool is_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    char *text = malloc(UNITS + 1);
    seine_changes *accepted[UPDATES];
    seine_text out;

    memset(text, 'x', UNITS);
    text[UNITS] = '\0';
    for (int i = 0; i < UPDATES; i++)
        accepted[i] = insert_at((uint64_t)i * 1000, UNITS + (uint64_t)i * 4, "them");
    double began = bench_cpu_ns();
    for (int i = 0; i < TIMES; i++)
        map_over(accepted);
    double map_ms = (bench_cpu_ns() - began) / TIMES / 1e6;
    began = bench_cpu_ns();
    for (int i = 0; i < TIMES; i++) {
        if (seine_changes_apply(accepted[0], text, UNITS, &out) != SEINE_OK)
            abort();
        seine_text_free(&out);
    }
    double apply_ms = (bench_cpu_ns() - began) / TIMES / 1e6;
    tell("map over 200 updates", map_ms, is_json);
    tell("apply", apply_ms, is_json);
    for (int i = 0; i < UPDATES; i++)
        seine_changes_free(accepted[i]);
    free(text);
    return 0;
}
