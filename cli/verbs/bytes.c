/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "screen/say.h"
#include "screen/xalloc.h"

/* The value of a digit of base64, or -1. */
static int
base64_digit(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Decodes base64 (RFC 4648, 4): groups of four digits, the last padded with "=". */
static bool
decode_base64(const char *text, size_t len, bytes *out)
{
    uint32_t group = 0;
    size_t fill = 0;

    if (len % 4 != 0)
        return false;
    while (fill < 2 && fill < len && text[len - 1 - fill] == '=')
        fill++;
    out->ptr = out->own = xalloc_zeroed(len / 4 * 3 + 1, 1);
    for (size_t i = 0; i < len; i++) {
        int value = i < len - fill ? base64_digit(text[i]) : 0;

        if (value < 0)
            return false;
        group = group << 6 | (uint32_t)value;
        if (i % 4 == 3) {
            out->own[out->len++] = (char)(group >> 16 & 255);
            out->own[out->len++] = (char)(group >> 8 & 255);
            out->own[out->len++] = (char)(group & 255);
        }
    }
    out->len -= fill;
    return true;
}

/* Reads a file to its end, or to one byte more than BYTES_MOST. False: it cannot be read.
 */
static bool
read_to_end(FILE *f, bytes *out)
{
    size_t cap = 0, n = 1;

    while (n > 0 && out->len <= BYTES_MOST) {
        out->own = xalloc_room(out->own, out->len + 65536, &cap, 1);
        n = fread(out->own + out->len, 1, cap - out->len, f);
        out->len += n;
    }
    out->ptr = out->own;
    return ferror(f) == 0;
}

static bool
load_file(const char *path, bytes *out, reason *why)
{
    FILE *f = fopen(path, "rb");

    if (!f)
        return reason_set(why, "cannot open '%s': %s", show(path).text,
                          show_errno(errno).text);
    bool good = read_to_end(f, out);
    fclose(f);
    if (!good)
        return reason_set(why, "cannot read '%s'", show(path).text);
    return out->len <= BYTES_MOST ||
           reason_set(why, "'%s' is too large", show(path).text);
}

/* What to type instead of a name that is no file. */
static const char *
hint_of(const char *path)
{
    return strstr(path, "://") ? "a file, or a URL with http:// or https:// where the "
                                 "command takes one"
                               : "another name, or - for standard input";
}

int
bytes_file_of(const char *path, const char *whose, bytes *out)
{
    *out = (bytes){NULL, 0, NULL};
    if (access(path, R_OK) != 0)
        return say_fail(SAY_USAGE, "another name in it", "%s: cannot open '%s': %s",
                        show(whose).text, show(path).text, show_errno(errno).text);
    return bytes_file(path, out);
}

int
bytes_file(const char *path, bytes *out)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");

    *out = (bytes){NULL, 0, NULL};
    if (!f)
        return say_fail(SAY_USAGE, hint_of(path), "cannot open '%s': %s", show(path).text,
                        show_errno(errno).text);
    errno = 0;
    bool good = read_to_end(f, out);
    int why = errno;
    if (f != stdin)
        fclose(f);
    if (!good)
        return say_fail(why == EISDIR ? SAY_USAGE : SAY_MACHINE, NULL,
                        "cannot read '%s': %s", show(path).text,
                        show_errno(why ? why : EIO).text);
    if (out->len > BYTES_MOST)
        return say_fail(SAY_USAGE, NULL, "'%s' is longer than 64 MiB", show(path).text);
    return SAY_DONE;
}

bool
bytes_read(const seine_json *in, const char *name, bytes *out, reason *why)
{
    const char *text = NULL, *coded = NULL, *path = NULL;
    char coded_name[64], path_name[64];

    *out = (bytes){NULL, 0, NULL};
    snprintf(coded_name, sizeof coded_name, "%s_b64", name);
    snprintf(path_name, sizeof path_name, "%s_file", name);
    if (!jsonl_text(in, name, &text, why) || !jsonl_text(in, coded_name, &coded, why) ||
        !jsonl_text(in, path_name, &path, why))
        return false;
    if (!!text + !!coded + !!path > 1)
        return reason_set(why, "%s: given twice", name);
    if (text)
        seine_json_string(seine_json_get(in, name), &out->ptr, &out->len);
    if (coded && !decode_base64(coded, strlen(coded), out))
        return reason_set(why, "%s: not base64", coded_name);
    return !path || load_file(path, out, why);
}

void
bytes_free(bytes *b)
{
    free(b->own);
    *b = (bytes){NULL, 0, NULL};
}
