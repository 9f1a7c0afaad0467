/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/request_path.h"

#include <string.h>

/* Without the scheme and host of an absolute URL, and without query and fragment. */
static sn_str
path_of(sn_str target)
{
    if (target.len > 0 && target.ptr[0] != '/') {
        size_t colon = sn_str_find(target, ':');
        sn_str rest = sn_str_slice(target, colon + 1, target.len);

        if (sn_str_starts(rest, SN_STR("//"))) {
            rest = sn_str_slice(rest, 2, rest.len);
            size_t path = 0;
            while (path < rest.len && !strchr("/?#", rest.ptr[path]))
                path++;
            target = sn_str_slice(rest, path, rest.len);
        }
    }
    size_t end = 0;
    while (end < target.len && target.ptr[end] != '?' && target.ptr[end] != '#')
        end++;
    return sn_str_slice(target, 0, end);
}

/* Takes a character, decoded unless that would be a NUL. */
static char
next_char(sn_str *rest)
{
    char c = rest->ptr[0];
    size_t used = 1;

    if (c == '%' && rest->len >= 3) {
        int high = sn_hex_digit(rest->ptr[1]), low = sn_hex_digit(rest->ptr[2]);

        if (high >= 0 && low >= 0 && (high || low)) {
            c = (char)(high << 4 | low);
            used = 3;
        }
    }
    *rest = sn_str_slice(*rest, used, rest->len);
    return c;
}

/* The path as far as it is read. `out` holds the first bytes of it; segments whose slash
 * has no room there are counted, since `..` may still take them away. */
typedef struct reading {
    char *out;
    size_t len;
    size_t beyond; /* segments, the last one included, whose slash is not in `out` */
    size_t chars;  /* of the last segment */
    bool is_dots;  /* all of them are dots */
} reading;

static void
begin_segment(reading *r)
{
    r->chars = 0;
    r->is_dots = true;
}

static void
take_char(reading *r, char c)
{
    r->chars++;
    r->is_dots &= c == '.';
    if (r->beyond == 0 && r->len < SN_REQUEST_PATH)
        r->out[r->len++] = c;
}

/* Empties the last segment that begins in `out`. */
static void
empty_segment(reading *r)
{
    const char *slash = memrchr(r->out, '/', r->len);

    r->len = (size_t)(slash - r->out) + 1;
}

/* Goes back to the segment before, which is emptied. */
static void
leave_segment(reading *r)
{
    if (r->beyond > 0) {
        r->beyond--;
    } else {
        empty_segment(r);
        if (r->len > 1)
            r->len--;
    }
    if (r->beyond == 0)
        empty_segment(r);
}

/* The last segment has ended: `.` vanishes, `..` takes one more away. False: it stays. */
static bool
drop_dots(reading *r)
{
    if (!r->is_dots || r->chars > 2)
        return false;
    if (r->chars == 2)
        leave_segment(r);
    else if (r->beyond == 0)
        empty_segment(r);
    return true;
}

static void
take_slash(reading *r)
{
    if (!drop_dots(r)) {
        if (r->beyond == 0 && r->len < SN_REQUEST_PATH)
            r->out[r->len++] = '/';
        else
            r->beyond++;
    }
    begin_segment(r);
}

sn_str
sn_request_path(sn_str target, char out[SN_REQUEST_PATH])
{
    sn_str rest = path_of(target);
    reading r = {.out = out, .len = 1};

    out[0] = '/';
    begin_segment(&r);
    while (rest.len > 0) {
        char c = next_char(&rest);

        if (c == '/')
            take_slash(&r);
        else
            take_char(&r, c);
    }
    (void)drop_dots(&r);
    return (sn_str){out, r.len};
}

bool
sn_request_path_is_below(sn_str path, sn_str prefix)
{
    if (!sn_str_starts(path, prefix))
        return false;
    return path.len == prefix.len || sn_str_ends(prefix, SN_STR("/")) ||
           path.ptr[prefix.len] == '/';
}
