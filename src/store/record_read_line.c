/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "store/record_read.h"

/* Finds members in a line that is known to be JSON, without tree or copy. */

/* Returns the index after the string or bracket that begins at `at`. */
static size_t
behind_string(sn_str s, size_t at)
{
    for (at++; s.ptr[at] != '"'; at++)
        at += s.ptr[at] == '\\';
    return at + 1;
}

static size_t
behind_value(sn_str s, size_t at)
{
    size_t depth = 0;

    do {
        char c = s.ptr[at];

        if (c == '"') {
            at = behind_string(s, at);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at++;
    } while (at < s.len && (depth > 0 || !strchr(",}] \t\r\n", s.ptr[at])));
    return at;
}

/* Finds a member: where its name begins, where its value begins and ends. False if
 * absent. */
static bool
find_raw(sn_str s, sn_str name, size_t out[3])
{
    size_t at = sn_str_find(s, '{') + 1;

    for (;;) {
        while (at < s.len && strchr(" \t\r\n,", s.ptr[at]))
            at++;
        if (at >= s.len || s.ptr[at] != '"')
            return false;
        out[0] = at;
        at = behind_string(s, at);
        bool same = sn_str_eq((sn_str){s.ptr + out[0] + 1, at - out[0] - 2}, name);
        while (strchr(" \t\r\n:", s.ptr[at]))
            at++;
        out[1] = at;
        out[2] = at = behind_value(s, at);
        if (same)
            return true;
    }
}

sn_str
sn_line_member(sn_str s, sn_str name)
{
    size_t at[3];

    if (!find_raw(s, name, at))
        return (sn_str){NULL, 0};
    return (sn_str){s.ptr + at[1], at[2] - at[1]};
}

void
sn_line_without(sn_buf *to, sn_str line, sn_str name)
{
    size_t at[3];

    if (!find_raw(line, name, at)) {
        sn_buf_str(to, line);
        return;
    }
    size_t from = at[0], behind = at[2];
    while (from > 0 && strchr(" \t\r\n", line.ptr[from - 1]))
        from--;
    if (line.ptr[from - 1] == ',') {
        from--;
    } else { /* the first member: removes the comma after it */
        while (behind < line.len && strchr(" \t\r\n", line.ptr[behind]))
            behind++;
        behind += line.ptr[behind] == ',';
    }
    sn_buf_str(to, sn_str_slice(line, 0, from));
    sn_buf_str(to, sn_str_slice(line, behind, line.len));
}
