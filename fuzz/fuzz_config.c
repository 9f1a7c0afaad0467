/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file: it is read, or its mistakes are told in order of position; every
 * node has a place inside of the file, and telling a mistake at each of them keeps the
 * order. */
#include <stdlib.h>
#include <string.h>

#include <seine/config.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static size_t
count_lines(const uint8_t *bytes, size_t n)
{
    size_t lines = 1;

    for (size_t i = 0; i < n; i++)
        lines += bytes[i] == '\n' || bytes[i] == '\r' ||
                 (bytes[i] == 0xc2 && i + 1 < n && bytes[i + 1] == 0x85) ||
                 (bytes[i] == 0xe2 && i + 2 < n && bytes[i + 1] == 0x80);
    return lines;
}

/* Recurses as deep as the reader allows. */
static void
walk(seine_config *c, const seine_config_node *n, size_t lines, unsigned depth)
{
    static const char *const words[] = {"host-rate", "per-host", "hosts", NULL};

    REQUIRE(depth <= 33);
    REQUIRE(seine_config_line(n) >= 1 && seine_config_line(n) <= lines);
    REQUIRE(strlen(seine_config_text(n)) <= 1 << 20);
    seine_config_wrong(c, n, "here");
    for (const seine_config_node *v = seine_config_first(n); v;
         v = seine_config_next(v)) {
        if (seine_config_kind_of(n) == SEINE_CONFIG_MAP) {
            REQUIRE(seine_config_get(n, seine_config_key(v)) != NULL);
            (void)seine_config_knows(c, v, "a file", words, "a book");
        }
        walk(c, v, lines, depth + 1);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    seine_config *c = NULL;
    const seine_diag *last = NULL, *d;

    if (seine_config_parse((const char *)bytes, n, "t.yaml", &c) != SEINE_OK)
        return 0;
    if (seine_config_root(c))
        walk(c, seine_config_root(c), count_lines(bytes, n), 0);
    for (size_t i = 0; (d = seine_config_mistake(c, i)); i++) {
        REQUIRE(i < SEINE_DIAG_MAX && d->text[0] && d->line >= 1 && d->column >= 1);
        REQUIRE(!last || last->line < d->line ||
                (last->line == d->line && last->column <= d->column));
        last = d;
    }
    seine_config_free(c);
    return 0;
}
