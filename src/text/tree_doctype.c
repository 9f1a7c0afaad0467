/* SPDX-License-Identifier: Apache-2.0 */
/* The doctype (13.2.5.53 to .68) and quirks mode (13.2.6.4.1). */
#include "text/tree_build.h"

typedef struct ids {
    sn_str name, public_id, system_id; /* ptr NULL: missing */
    bool quirks;
} ids;

static sn_str
skip(sn_str s)
{
    while (s.len > 0 && sn_is_space(*s.ptr))
        s = sn_str_slice(s, 1, s.len);
    return s;
}

static bool
starts(sn_str s, const char *word)
{
    sn_str w = sn_str_of(word);

    return s.len >= w.len && sn_str_eq_nocase(sn_str_slice(s, 0, w.len), w);
}

/* Reads a quoted identifier; false: there is none. One that is not closed ends with the
 * doctype, which then is in quirks mode. */
static bool
quoted(sn_str *rest, sn_str *out, bool *quirks)
{
    sn_str s = skip(*rest);

    if (s.len == 0 || (*s.ptr != '"' && *s.ptr != '\''))
        return false;
    size_t end = sn_str_find(sn_str_slice(s, 1, s.len), *s.ptr);
    *quirks = *quirks || end + 1 >= s.len;
    *out = (sn_str){s.ptr + 1, end};
    *rest = sn_str_slice(s, end + 2, s.len);
    return true;
}

static void
read_ids(sn_str s, ids *d)
{
    bool is_public = starts(s, "public");

    if (s.len == 0)
        return;
    if (!is_public && !starts(s, "system")) {
        d->quirks = true;
        return;
    }
    s = sn_str_slice(s, 6, s.len);
    if (is_public) {
        if (!quoted(&s, &d->public_id, &d->quirks)) {
            d->quirks = true;
            return;
        }
        quoted(&s, &d->system_id, &d->quirks);
        d->quirks = d->quirks || (!d->system_id.ptr && skip(s).len > 0);
    } else if (!quoted(&s, &d->system_id, &d->quirks)) {
        d->quirks = true;
    }
}

/* Public identifiers that begin like this mean quirks mode. */
static const char *const quirky[] = {
    "+//Silmaril//dtd html Pro v0r11 19970101//",
    "-//AS//DTD HTML 3.0 asWedit + extensions//",
    "-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//",
    "-//IETF//DTD HTML 2.0 Level 1//",
    "-//IETF//DTD HTML 2.0 Level 2//",
    "-//IETF//DTD HTML 2.0 Strict Level 1//",
    "-//IETF//DTD HTML 2.0 Strict Level 2//",
    "-//IETF//DTD HTML 2.0 Strict//",
    "-//IETF//DTD HTML 2.0//",
    "-//IETF//DTD HTML 2.1E//",
    "-//IETF//DTD HTML 3.0//",
    "-//IETF//DTD HTML 3.2 Final//",
    "-//IETF//DTD HTML 3.2//",
    "-//IETF//DTD HTML 3//",
    "-//IETF//DTD HTML Level 0//",
    "-//IETF//DTD HTML Level 1//",
    "-//IETF//DTD HTML Level 2//",
    "-//IETF//DTD HTML Level 3//",
    "-//IETF//DTD HTML Strict Level 0//",
    "-//IETF//DTD HTML Strict Level 1//",
    "-//IETF//DTD HTML Strict Level 2//",
    "-//IETF//DTD HTML Strict Level 3//",
    "-//IETF//DTD HTML Strict//",
    "-//IETF//DTD HTML//",
    "-//Metrius//DTD Metrius Presentational//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 2.0 Tables//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 3.0 Tables//",
    "-//Netscape Comm. Corp.//DTD HTML//",
    "-//Netscape Comm. Corp.//DTD Strict HTML//",
    "-//O'Reilly and Associates//DTD HTML 2.0//",
    "-//O'Reilly and Associates//DTD HTML Extended 1.0//",
    "-//O'Reilly and Associates//DTD HTML Extended Relaxed 1.0//",
    "-//SQ//DTD HTML 2.0 HoTMetaL + extensions//",
    "-//SoftQuad Software//DTD HoTMetaL PRO 6.0::19990601::extensions to HTML 4.0//",
    "-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//",
    "-//Spyglass//DTD HTML 2.0 Extended//",
    "-//Sun Microsystems Corp.//DTD HotJava HTML//",
    "-//Sun Microsystems Corp.//DTD HotJava Strict HTML//",
    "-//W3C//DTD HTML 3 1995-03-24//",
    "-//W3C//DTD HTML 3.2 Draft//",
    "-//W3C//DTD HTML 3.2 Final//",
    "-//W3C//DTD HTML 3.2//",
    "-//W3C//DTD HTML 3.2S Draft//",
    "-//W3C//DTD HTML 4.0 Frameset//",
    "-//W3C//DTD HTML 4.0 Transitional//",
    "-//W3C//DTD HTML Experimental 19960712//",
    "-//W3C//DTD HTML Experimental 970421//",
    "-//W3C//DTD W3 HTML//",
    "-//W3O//DTD W3 HTML 3.0//",
    "-//WebTechs//DTD Mozilla HTML 2.0//",
    "-//WebTechs//DTD Mozilla HTML//",
};

static bool
is_quirky(const ids *d)
{
    static const char *const whole[] = {"-//W3O//DTD W3 HTML Strict 3.0//EN//",
                                        "-/W3C/DTD HTML 4.0 Transitional/EN", "HTML"};
    sn_str id = d->public_id;

    if (d->quirks || !sn_str_eq_nocase(d->name, SN_STR("html")))
        return true;
    if (sn_str_eq_nocase(d->system_id, SN_STR("http://www.ibm.com/data/dtd/v11/"
                                              "ibmxhtml1-transitional.dtd")))
        return true;
    if (!id.ptr)
        return false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (sn_str_eq_nocase(id, sn_str_of(whole[i])))
            return true;
    for (size_t i = 0; i < sizeof quirky / sizeof *quirky; i++)
        if (starts(id, quirky[i]))
            return true;
    return !d->system_id.ptr && (starts(id, "-//W3C//DTD HTML 4.01 Frameset//") ||
                                 starts(id, "-//W3C//DTD HTML 4.01 Transitional//"));
}

/* Adds a part of the doctype: U+FFFD for NUL, LF for CR and CR LF. */
static void
add_part(sn_buf *out, sn_str s, bool lower)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '\0')
            sn_buf_text(out, "\357\277\275");
        else if (c != '\r')
            sn_buf_char(out, lower ? sn_lower(c) : c);
        else if (i + 1 == s.len || s.ptr[i + 1] != '\n')
            sn_buf_char(out, '\n');
    }
}

void
sn_build_doctype(sn_build *b, sn_str raw, uint32_t offset, bool is_cut)
{
    sn_buf *text = &b->tree->text;
    uint32_t at = (uint32_t)text->len;
    sn_str s = skip(raw);
    ids d = {.quirks = false};
    size_t n = 0;

    while (n < s.len && !sn_is_space(s.ptr[n]))
        n++;
    d.name = sn_str_slice(s, 0, n);
    read_ids(skip(sn_str_slice(s, n, s.len)), &d);
    d.quirks = d.quirks || is_cut;
    add_part(text, d.name, true);
    if (d.public_id.len > 0 || d.system_id.len > 0) {
        sn_buf_text(text, " \"");
        add_part(text, d.public_id, false);
        sn_buf_text(text, "\" \"");
        add_part(text, d.system_id, false);
        sn_buf_char(text, '"');
    }
    b->tree->quirks = is_quirky(&d);
    b->mode = MODE_BEFORE_HTML;
    sn_build_put_note(b, SEINE_NODE_DOCTYPE, 0, at, offset);
}
