/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/jsonptr.h>

#include "screen/textbuf.h"
#include "screen/xalloc.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Copies what stands between double quotes; `at` is behind the first. Returns the place
 * of the last, or NULL. */
static const char *
copy_quoted(const char *at, textbuf *word)
{
    for (; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1] && strchr("\"\\$`", at[1]))
            at++;
        textbuf_add(word, at, 1);
    }
    return *at ? at : NULL;
}

/* Copies a word; *at moves behind it. Returns NULL, or why it is none. */
static const char *
copy_word(const char **at, textbuf *word)
{
    const char *p = *at;

    for (; *p && !is_blank(*p); p++) {
        if (*p == '\'') {
            const char *end = strchr(p + 1, '\'');

            if (!end)
                return "a ' has no partner";
            textbuf_add(word, p + 1, (size_t)(end - p - 1));
            p = end;
        } else if (*p == '"') {
            p = copy_quoted(p + 1, word);
            if (!p)
                return "a \" has no partner";
        } else if (*p == '\\') {
            if (!*++p)
                return "it ends in a backslash";
            textbuf_add(word, p, 1);
        } else {
            textbuf_add(word, p, 1);
        }
    }
    *at = p;
    return NULL;
}

/* The place at the beginning of the text: its length, 0 if there is none. *out_pointer:
 * the pointer of {/name}, NULL for {}. */
static size_t
place_at(const char *text, const char **out_pointer, size_t *out_len)
{
    const char *end = text[0] == '{' ? strchr(text, '}') : NULL;

    if (!end || (end > text + 1 && text[1] != '/'))
        return 0;
    *out_pointer = end > text + 1 ? text + 1 : NULL;
    *out_len = (size_t)(end - text) - 1;
    return (size_t)(end - text) + 1;
}

/* Notes the places of a word. Returns NULL, or why one of them is none. */
static const char *
note_places(command_line *c, const char *word)
{
    const char *pointer;
    size_t len;

    for (const char *p = word; *p; p++) {
        if (place_at(p, &pointer, &len) == 0)
            continue;
        c->has_place = true;
        if (!pointer)
            continue;
        c->wants_json = true;
        if (!seine_jsonptr_valid(pointer, len))
            return "a place is not a JSON Pointer";
    }
    return NULL;
}

const char *
command_line_read(command_line *c, const char *text)
{
    size_t cap = 0;
    const char *why = NULL;

    *c = (command_line){0};
    c->words = xalloc_room(NULL, 0, &cap, sizeof *c->words);
    while (!why && (text += strspn(text, " \t\n"), *text)) {
        textbuf word = {0};

        why = copy_word(&text, &word);
        c->words = xalloc_room(c->words, c->count + 1, &cap, sizeof *c->words);
        c->words[c->count++] = word.text ? word.text : xalloc_copy("", 0);
        if (!why)
            why = note_places(c, c->words[c->count - 1]);
    }
    c->words[c->count] = NULL;
    if (!why && c->count == 0)
        why = "it has no words";
    if (why)
        command_line_free(c);
    return why;
}

void
command_line_free(command_line *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->words[i]);
    free(c->words);
    *c = (command_line){0};
}

/* Adds a word with its places filled. False: a place stays empty. */
static bool
fill_word(textbuf *out, const char *word, const paced_line *line, char bad[128])
{
    const char *pointer, *text;
    size_t len, n;

    while (*word) {
        size_t place = place_at(word, &pointer, &len);

        if (place == 0) {
            textbuf_add(out, word++, 1);
            continue;
        }
        word += place;
        if (!pointer) {
            paced_line_subject(line, &text, &n);
            textbuf_add(out, text, n);
            continue;
        }
        char *member = paced_line_member(line, pointer, len, &n);
        if (!member) {
            snprintf(bad, 128, "no member %.*s", len > 80 ? 80 : (int)len, pointer);
            return false;
        }
        textbuf_add(out, member, n);
        free(member);
    }
    textbuf_add(out, "", 1);
    return true;
}

/* All words behind each other, each ended by a zero, become an argv in one block. */
static char **
pack(const textbuf *all, size_t count)
{
    char **argv = xalloc_zeroed(1, (count + 1) * sizeof *argv + all->len);
    char *at = (char *)(argv + count + 1);

    memcpy(at, all->text, all->len);
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        argv[i] = at;
    return argv;
}

char **
command_line_fill(const command_line *c, const paced_line *line, char bad[128])
{
    static const char *const place = "{}";
    size_t count = c->count + !c->has_place;
    textbuf all = {0};
    char **argv = NULL;
    size_t i = 0, before = 0;

    for (; i < count; i++, before = all.len) {
        if (!fill_word(&all, i < c->count ? c->words[i] : place, line, bad))
            break;
        if (strlen(all.text + before) + 1 < all.len - before) {
            snprintf(bad, 128, "a zero byte cannot be part of a command");
            break;
        }
    }
    if (i == count && all.text)
        argv = pack(&all, count);
    textbuf_free(&all);
    return argv;
}
