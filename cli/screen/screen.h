/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - how wide, how colourful, and how to write numbers.
 *
 * Colour: on a terminal only, not with NO_COLOR or TERM=dumb, always with
 * CLICOLOR_FORCE, and --color beats all of them. It is never the only sign.
 * Width: the terminal's, else COLUMNS, else 80.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/time.h>

typedef enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_when;

typedef struct screen {
    bool colour;
    bool blocks; /* the terminal can show more than ASCII */
    size_t width;
} screen;

typedef enum ink { INK_NONE, INK_GOOD, INK_WARN, INK_BAD, INK_DIM, INK_BOLD } ink;

screen screen_look(color_when when);
screen screen_look_at(int fd, color_when when); /* of standard output or error */

/* What switches the colour on; INK_NONE: all of them off. */
const char *screen_code(ink colour);

/* Text in a colour, nothing but the text without one. */
void screen_put(const screen *s, ink colour, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What a cell is filled with; ASCII where the terminal knows no better. */
typedef enum glyph {
    GLYPH_FULL,
    GLYPH_MIDDLE,
    GLYPH_LIGHT,
    GLYPH_MARK,
    GLYPH_LINE
} glyph;
const char *screen_glyph(const screen *s, glyph g); /* █ ▒ ░ ┊ ─ */

/* One character whose height says how much `part` is of `whole`: " ▁▂▃▄▅▆▇█".
 * More than nothing is never shown as nothing. */
const char *screen_level(const screen *s, uint64_t part, uint64_t whole);

typedef struct figure {
    char text[40];
} figure;

figure figure_count(uint64_t n);              /* 1,204 */
figure figure_share(uint64_t n, uint64_t of); /* 8.6 % */
figure figure_span(seine_span span);          /* 43 ms, 1.03 s, 4 min 54 s */
figure figure_rate(double per_second);        /* 9.8/s, 30/m */

#endif
