/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - the width and the colours of the terminal, and numbers for people.
 *
 * A terminal gets colours, unless NO_COLOR is set or TERM is dumb; CLICOLOR_FORCE
 * switches them on everywhere, and --color beats all of these. No fact is shown by colour
 * alone. The width is that of the terminal, else COLUMNS, else 80.
 *
 *     screen s = screen_look(COLOR_AUTO);
 *     screen_put(&s, INK_GOOD, "%s", figure_count(1204).text);
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

/* The columns of the terminal; 0: it is none, or does not say. */
size_t screen_columns(int fd);

/* The escape sequence that switches the colour on; INK_NONE: all colours off. */
const char *screen_code(ink colour);

/* Prints a text, in colour where the screen has colours. */
void screen_put(const screen *s, ink colour, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The characters that fill cells; ASCII where the terminal has no others. */
typedef enum glyph {
    GLYPH_FULL,
    GLYPH_MIDDLE,
    GLYPH_LIGHT,
    GLYPH_MARK,
    GLYPH_LINE
} glyph;
const char *screen_glyph(const screen *s, glyph g); /* █ ▒ ░ ┊ ─ */

/* A character whose height shows the share of `part` in `whole`: " ▁▂▃▄▅▆▇█". A blank
 * stands for 0 alone. */
const char *screen_level(const screen *s, uint64_t part, uint64_t whole);

typedef struct figure {
    char text[40];
} figure;

figure figure_count(uint64_t n);              /* 1,204 */
figure figure_share(uint64_t n, uint64_t of); /* 8.6 % */
figure figure_span(seine_span span);          /* 43 ms, 1.03 s, 4 min 54 s */
figure figure_rate(double per_second);        /* 9.8/s, 30/m */

/* The moment `wait` after `wall`, in local time: 21:20:04, and with its date if that is a
 * day away or more, 2026-11-20 21:20:04. */
figure figure_moment(seine_time wall, seine_span wait);

#endif
