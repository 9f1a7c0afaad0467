/* SPDX-License-Identifier: Apache-2.0 */
#include "options/topics.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <seine/err.h>

#include "help_topics.inc"
#include "options/suggest.h"
#include "screen/markdown.h"
#include "screen/out.h"
#include "screen/say.h"

static const unsigned char bytes[] = {TOPIC_BYTES};

/* clang-format off */
#define ROW(name, about, start, size) {name, about, (const char *)bytes + (start), size},
const topic topics[] = {
    TOPICS(ROW)
    {NULL, NULL, NULL, 0},
};
/* clang-format on */

/* The page with the rows about error kinds. */
static const char rows_page[] = "troubleshooting";

typedef struct part {
    const char *text;
    size_t len;
} part;

const topic *
topics_find(const char *name)
{
    for (const topic *t = topics; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

/* Prints a text of ours. */
static int
print_text(textbuf *give)
{
    out_code(give->len ? give->text : ""); /* bold is the only code in it */
    textbuf_free(give);
    return SAY_DONE;
}

static int
print_part(const screen *s, part p)
{
    textbuf out = {NULL, 0, 0};

    markdown_show(&out, s, p.text, p.len);
    return print_text(&out);
}

static size_t
line_length(part rest)
{
    const char *end = memchr(rest.text, '\n', rest.len);

    return end ? (size_t)(end - rest.text) + 1 : rest.len;
}

/* Cuts the next line off *rest, without its end. False: there is none. */
static bool
next_line(part *rest, part *line)
{
    size_t n = line_length(*rest);

    if (rest->len == 0)
        return false;
    *line = (part){rest->text, n - (rest->text[n - 1] == '\n')};
    rest->text += n;
    rest->len -= n;
    return true;
}

static bool
starts(part line, const char *with)
{
    size_t n = strlen(with);

    return line.len >= n && memcmp(line.text, with, n) == 0;
}

static bool
is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a heading has this word; a longer word that begins so counts if it does not
 * go on with a digit. */
static bool
has_word(part heading, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 3; n > 0 && i + n <= heading.len; i++)
        if (!is_letter(heading.text[i - 1]) &&
            strncasecmp(heading.text + i, word, n) == 0 &&
            !(i + n < heading.len && heading.text[i + n] >= '0' &&
              heading.text[i + n] <= '9'))
            return true;
    return false;
}

/* The first section of the page whose heading has the word, down to the next heading. */
static part
find_section(const topic *t, const char *word)
{
    part rest = {t->text, t->len}, line, found = {NULL, 0};
    bool is_code = false;

    while (next_line(&rest, &line)) {
        is_code ^= starts(line, "```");
        if (is_code || !starts(line, "## "))
            continue;
        if (found.text)
            return (part){found.text, (size_t)(line.text - found.text)};
        if (has_word(line, word))
            found = (part){line.text, (size_t)(t->text + t->len - line.text)};
    }
    return found;
}

/* Prints "connect_refused: connection refused", or the name and the heading above the
 * row of something that is no error kind. */
static void
put_row_head(textbuf *out, const screen *s, const char *word, part heading)
{
    textbuf_ink(out, s, INK_BOLD, "%s", word);
    for (unsigned e = 1; starts(heading, "### ") && e < SEINE_ERR_ROOM; e++)
        if (strcmp(seine_err_name((seine_err)e), word) == 0) {
            textbuf_put(out, ": %s\n", seine_err_text((seine_err)e));
            return;
        }
    size_t mark = strspn(heading.text, "# ");
    textbuf_put(out, " (%.*s)\n", (int)(heading.len - mark), heading.text + mark);
}

/* Prints the cells of a row below each other, the last one as what to try. */
static void
put_row(textbuf *out, const screen *s, part line)
{
    part cell;
    size_t at = 0;

    for (size_t i = 0; markdown_cell(line.text, line.len, &at, &cell.text, &cell.len);
         i++)
        if (i > 0 && cell.len > 0)
            markdown_put(out, s, 2, i > 1 ? "try: " : "", cell.text, cell.len);
}

int
topics_show_rows(const screen *s, const char *word, bool is_apart)
{
    const topic *t = topics_find(rows_page);
    part rest = {t->text, t->len}, line, heading = {"", 0};
    textbuf out = {NULL, 0, 0};
    char row[64];

    snprintf(row, sizeof row, "| `%.48s` |", word);
    while (next_line(&rest, &line)) {
        if (starts(line, "#"))
            heading = line;
        if (!starts(line, row))
            continue;
        if (is_apart || out.len > 0)
            textbuf_put(&out, "\n");
        put_row_head(&out, s, word, heading);
        put_row(&out, s, line);
    }
    if (out.len == 0)
        return -1;
    return print_text(&out);
}

int
topics_show(const screen *s, char **words, size_t count)
{
    const topic *t = topics_find(words[0]);

    if (count == 1 && strcmp(words[0], "topics") == 0)
        return topics_list(s);
    if (!t)
        return count == 1 ? topics_show_rows(s, words[0], false) : -1;
    if (count == 1)
        return print_part(s, (part){t->text, t->len});
    part section = find_section(t, words[1]);
    if (count == 2 && section.text)
        return print_part(s, section);
    return say_fail(SAY_USAGE, "a word of one of its headings, or the whole page",
                    "%s has no section '%s'", t->name, show(words[1]).text);
}

int
topics_list(const screen *s)
{
    textbuf out = {NULL, 0, 0}, line = {NULL, 0, 0};

    textbuf_put(&out, "Pages to read, `seine help TOPIC`:\n\n| | |\n|---|---|\n");
    for (const topic *t = topics; t->name; t++) {
        if (!t->about[0])
            continue;
        textbuf_put(&out, "| `%s` | %s", t->name, t->about);
        for (const topic *next = t + 1; next->name && !next->about[0]; next++)
            textbuf_put(&out, "%s `%s`", next == t + 1 ? ":" : ",", next->name);
        textbuf_put(&out, " |\n");
    }
    textbuf_put(&out, "| `KIND` | an error kind, a status or the reason of a skip: "
                      "`dns_nxdomain`, `403`, `offsite` |\n\n"
                      "`seine help TOPIC WORD` prints the section whose heading has the "
                      "word: `seine help cookbook sqlite`. `seine help COMMAND` lists "
                      "the options of a command, and `seine help` the commands.\n");
    markdown_show(&line, s, out.text, out.len);
    textbuf_free(&out);
    return print_text(&line);
}

const char *
topics_near(const char *word)
{
    const char *best = NULL;
    unsigned slip = 3;

    for (const topic *t = topics; t->name; t++)
        suggest_nearer(word, t->name, &slip, &best);
    for (unsigned e = 1; e < SEINE_ERR_ROOM; e++)
        suggest_nearer(word, seine_err_name((seine_err)e), &slip, &best);
    return best;
}
