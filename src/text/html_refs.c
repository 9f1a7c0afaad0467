/* SPDX-License-Identifier: Apache-2.0 */
#include "text/html_refs.h"

#include <string.h>

/* Attributes that are looked at. */
#define NAMES                                                                        \
    "href src style rel srcset xlink:href content http-equiv integrity crossorigin " \
    "data "                                                                          \
    "action poster background imagesrcset formaction cite longdesc"

enum { MOST = 18 };

typedef struct attribute {
    sn_str name;     /* as it stands there */
    size_t from, to; /* its value with quotes; both 0: it has none */
    sn_str raw;
} attribute;

typedef struct scan {
    sn_str page;
    size_t at;
    bool is_xml, enough, has_head;
    sn_html_ref_fn fn;
    void *user;

    /* the tag under way */
    sn_str name;
    size_t tag_at;
    bool is_end, closes_itself;
    attribute attrs[MOST];
    size_t n_attrs;
} scan;

static bool
is_at_end(const scan *s)
{
    return s->at >= s->page.len;
}

static char
here(const scan *s)
{
    return is_at_end(s) ? '\0' : s->page.ptr[s->at];
}

static bool
starts(const scan *s, const char *text)
{
    return sn_str_starts_nocase(sn_str_slice(s->page, s->at, s->page.len),
                                sn_str_of(text));
}

static void
pass_to(scan *s, const char *text)
{
    const char *end =
        memmem(s->page.ptr + s->at, s->page.len - s->at, text, strlen(text));

    s->at = end ? (size_t)(end - s->page.ptr) + strlen(text) : s->page.len;
}

/* Comments and declarations */

/* The comment that begins at `at`, "<!--", ends with --> or --!>; <!--> and <!---> are
 * whole. */
static void
pass_comment(scan *s)
{
    s->at += 4;
    if (here(s) == '>') {
        s->at++;
        return;
    }
    if (starts(s, "->")) {
        s->at += 2;
        return;
    }
    while (!is_at_end(s)) {
        const char *dash = memmem(s->page.ptr + s->at, s->page.len - s->at, "--", 2);

        if (!dash)
            break;
        s->at = (size_t)(dash - s->page.ptr) + 2;
        while (here(s) == '-')
            s->at++;
        if (here(s) == '>' || starts(s, "!>")) {
            s->at += here(s) == '>' ? 1 : 2;
            return;
        }
    }
    s->at = s->page.len;
}

static void
pass_markup(scan *s)
{
    if (starts(s, "<!--"))
        pass_comment(s);
    else if (s->is_xml && starts(s, "<![CDATA["))
        pass_to(s, "]]>");
    else
        pass_to(s, ">");
}

/* Tags */

static bool
ends_name(char c)
{
    return sn_is_space(c) || c == '/' || c == '>';
}

static void
pass_blanks(scan *s)
{
    while (!is_at_end(s) && sn_is_space(s->page.ptr[s->at]))
        s->at++;
}

static void
read_quoted(scan *s, attribute *a)
{
    char quote = here(s);
    const char *first = s->page.ptr + s->at + 1;
    const char *end = memchr(first, quote, s->page.len - s->at - 1);

    a->raw = (sn_str){first, end ? (size_t)(end - first) : s->page.len - s->at - 1};
    s->at += 1 + a->raw.len + (end != NULL);
}

static void
read_value(scan *s, attribute *a)
{
    pass_blanks(s);
    a->from = s->at;
    if (here(s) == '"' || here(s) == '\'') {
        read_quoted(s, a);
    } else {
        while (!is_at_end(s) && !sn_is_space(here(s)) && here(s) != '>')
            s->at++;
        a->raw = sn_str_slice(s->page, a->from, s->at);
    }
    a->to = s->at;
}

/* Whether the attribute matters: others are passed over, and so is a second one. */
static bool
is_wanted(const scan *s, sn_str name)
{
    if (name.len < 3 || name.len > 11 || !sn_str_is_among(name, NAMES))
        return false;
    for (size_t i = 0; i < s->n_attrs; i++)
        if (sn_str_eq_nocase(s->attrs[i].name, name))
            return false;
    return s->n_attrs < MOST;
}

static void
read_attribute(scan *s)
{
    attribute a = {.from = 0};
    size_t from = s->at;

    s->at++; /* a = at the beginning belongs to the name */
    while (!is_at_end(s) && !ends_name(here(s)) && here(s) != '=')
        s->at++;
    a.name = sn_str_slice(s->page, from, s->at);
    size_t behind = s->at;
    pass_blanks(s);
    if (here(s) == '=') {
        s->at++;
        read_value(s, &a);
    } else {
        s->at = behind;
    }
    if (is_wanted(s, a.name))
        s->attrs[s->n_attrs++] = a;
}

/* Reads the tag at `at`. False: the page ends inside of it, so it is none. */
static bool
read_tag(scan *s)
{
    s->tag_at = s->at++;
    s->is_end = here(s) == '/';
    s->at += s->is_end;
    s->closes_itself = false;
    s->n_attrs = 0;
    size_t from = s->at;
    while (!is_at_end(s) && !ends_name(here(s)))
        s->at++;
    s->name = sn_str_slice(s->page, from, s->at);
    for (;;) {
        while (!is_at_end(s) && (sn_is_space(here(s)) || here(s) == '/'))
            s->at++;
        if (is_at_end(s))
            return false;
        if (here(s) == '>') {
            s->closes_itself = s->page.ptr[s->at - 1] == '/';
            s->at++;
            return true;
        }
        read_attribute(s);
    }
}

/* What the attributes mean */

static bool
is_tag(const scan *s, const char *words)
{
    return sn_str_is_among(s->name, words);
}

static const attribute *
find(const scan *s, const char *name)
{
    for (size_t i = 0; i < s->n_attrs; i++)
        if (sn_str_eq_nocase(s->attrs[i].name, sn_str_of(name)))
            return &s->attrs[i];
    return NULL;
}

static bool
has_word(const attribute *a, const char *words)
{
    sn_str rest = a ? a->raw : (sn_str){"", 0};

    while (rest.len > 0) {
        size_t n = 0;

        while (n < rest.len && !sn_is_space(rest.ptr[n]))
            n++;
        if (n > 0 && sn_str_is_among(sn_str_slice(rest, 0, n), words))
            return true;
        rest = sn_str_slice(rest, n + (n < rest.len), rest.len);
    }
    return false;
}

#define PARTS                                                                  \
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed mask-icon " \
    "fluid-icon "                                                              \
    "manifest preload modulepreload apple-touch-startup-image"

/* clang-format off */
static const struct {
    const char *attr, *tags; /* "*": any */
    sn_ref_kind kind;
} meanings[] = {
    {"style", "*", SN_REF_STYLE},
    {"href", "a area", SN_REF_LINK},
    {"href", "image use feimage", SN_REF_NEEDED},
    {"xlink:href", "image use feimage script", SN_REF_NEEDED},
    {"xlink:href", "*", SN_REF_LINK},
    {"href", "base", SN_REF_BASE},
    {"src", "iframe frame", SN_REF_FRAME},
    {"src", "img script source video audio track embed input", SN_REF_NEEDED},
    {"srcset", "img source", SN_REF_SRCSET},
    {"imagesrcset", "link", SN_REF_SRCSET},
    {"poster", "video", SN_REF_NEEDED},
    {"data", "object", SN_REF_NEEDED},
    {"background", "body table thead tbody tfoot tr td th", SN_REF_NEEDED},
    {"action", "form", SN_REF_LINK},
    {"formaction", "button input", SN_REF_LINK},
    {"cite", "blockquote q ins del", SN_REF_LINK},
    {"longdesc", "img iframe frame", SN_REF_LINK},
    {"integrity", "link script", SN_REF_OFF},
    {"crossorigin", "link script img video audio", SN_REF_OFF},
};
/* clang-format on */

/* The meaning of an attribute of this tag; false: it holds no URL. */
static bool
meaning_of(const scan *s, const attribute *a, sn_ref_kind *out_kind)
{
    if (is_tag(s, "link") && sn_str_eq_nocase(a->name, SN_STR("href"))) {
        *out_kind = has_word(find(s, "rel"), PARTS) ? SN_REF_NEEDED : SN_REF_LINK;
        return true;
    }
    if (is_tag(s, "meta")) {
        const attribute *equiv = find(s, "http-equiv");

        *out_kind = equiv == a ? SN_REF_OFF : SN_REF_REFRESH;
        return equiv == a ? has_word(a, "content-security-policy")
                          : sn_str_eq_nocase(a->name, SN_STR("content")) &&
                                has_word(equiv, "refresh");
    }
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (sn_str_eq_nocase(a->name, sn_str_of(meanings[i].attr)) &&
            (meanings[i].tags[0] == '*' || is_tag(s, meanings[i].tags))) {
            *out_kind = meanings[i].kind;
            return true;
        }
    return false;
}

static sn_html_tag
tag_of(sn_str name)
{
    char text[SN_HTML_NAME] = {0};

    if (name.len > SN_HTML_NAME)
        return SN_TAG_OTHER;
    for (size_t i = 0; i < name.len; i++)
        text[i] = sn_lower(name.ptr[i]);
    return sn_html_find_tag(text, name.len);
}

static sn_html_attr
attr_of(sn_str name)
{
    char text[SN_HTML_NAME] = {0};

    if (name.len > SN_HTML_NAME)
        return SN_ATTR_OTHER;
    for (size_t i = 0; i < name.len; i++)
        text[i] = sn_lower(name.ptr[i]);
    return sn_html_find_attr(text, name.len);
}

static void
tell(scan *s, sn_html_ref *ref)
{
    ref->tag_at = s->tag_at;
    ref->tag = tag_of(s->name);
    if (!s->enough && !s->fn(s->user, ref))
        s->enough = true;
}

static void
tell_attributes(scan *s)
{
    for (size_t i = 0; i < s->n_attrs; i++) {
        const attribute *a = &s->attrs[i];
        sn_html_ref ref = {
            .attr = attr_of(a->name), .from = a->from, .to = a->to, .raw = a->raw};

        if (!meaning_of(s, a, &ref.kind))
            continue;
        if (ref.kind == SN_REF_OFF) {
            ref.from = ref.to = (size_t)(a->name.ptr - s->page.ptr);
            ref.raw = a->name;
        } else if (a->to == 0) {
            continue;
        }
        tell(s, &ref);
    }
}

static void
tell_head(scan *s, size_t at)
{
    sn_html_ref ref = {.kind = SN_REF_HEAD, .from = at, .to = at, .raw = {"", 0}};

    if (s->has_head)
        return;
    s->has_head = true;
    tell(s, &ref);
}

/* Text without markup */

/* Whether an end tag of this name stands at `at`. */
static bool
is_end_of(const scan *s, sn_str name)
{
    sn_str rest = sn_str_slice(s->page, s->at, s->page.len);

    return sn_str_starts(rest, SN_STR("</")) &&
           sn_str_starts_nocase(sn_str_slice(rest, 2, rest.len), name) &&
           rest.len > name.len + 2 && ends_name(rest.ptr[name.len + 2]);
}

/* Passes to the next < or the end. */
static void
pass_text(scan *s)
{
    const char *next =
        is_at_end(s) ? NULL : memchr(s->page.ptr + s->at, '<', s->page.len - s->at);

    s->at = next ? (size_t)(next - s->page.ptr) : s->page.len;
}

static void
pass_raw(scan *s, sn_str name)
{
    for (pass_text(s); !is_at_end(s) && !is_end_of(s, name); pass_text(s))
        s->at++;
}

static bool
is_start_of_script(const scan *s)
{
    sn_str rest = sn_str_slice(s->page, s->at, s->page.len);

    return sn_str_starts_nocase(rest, SN_STR("<script")) && rest.len > 7 &&
           ends_name(rest.ptr[7]);
}

/* A script may hold <!-- <script> … </script> -->, and ends behind it. */
static void
pass_script(scan *s, sn_str name)
{
    bool escaped = false, twice = false;

    while (!is_at_end(s)) {
        if (is_end_of(s, name)) {
            if (!twice)
                return;
            twice = false;
            s->at += 2 + name.len;
        } else if (!escaped && starts(s, "<!--")) {
            escaped = true;
            s->at += 2; /* the dashes may end it as well: <!--> */
        } else if (escaped && starts(s, "-->")) {
            escaped = twice = false;
            s->at += 3;
        } else {
            twice = twice || (escaped && is_start_of_script(s));
            s->at++;
        }
    }
}

static void
read_content(scan *s)
{
    sn_str name = s->name;
    size_t from = s->at;

    if (s->is_end || (s->is_xml && s->closes_itself))
        return;
    if (is_tag(s, "script")) {
        pass_script(s, name);
    } else if (is_tag(s, "plaintext") && !s->is_xml) {
        s->at = s->page.len;
    } else if (is_tag(s, "style")) {
        pass_raw(s, name);
        sn_html_ref ref = {.kind = SN_REF_SHEET,
                           .from = from,
                           .to = s->at,
                           .raw = sn_str_slice(s->page, from, s->at)};
        tell(s, &ref);
    } else if (!s->is_xml && is_tag(s, "textarea title xmp iframe noembed noframes")) {
        pass_raw(s, name);
    }
}

static void
read_markup(scan *s)
{
    char next = s->at + 1 < s->page.len ? s->page.ptr[s->at + 1] : '\0';
    char third = s->at + 2 < s->page.len ? s->page.ptr[s->at + 2] : '\0';

    if (next == '!' || next == '?' ||
        (next == '/' && !sn_is_alpha(third) && s->at + 2 < s->page.len)) {
        pass_markup(s);
    } else if (sn_is_alpha(next) || (next == '/' && sn_is_alpha(third))) {
        if (!read_tag(s))
            return;
        if (!s->is_end && !is_tag(s, "html head"))
            tell_head(s, s->tag_at);
        if (!s->is_end)
            tell_attributes(s);
        if (!s->is_end && is_tag(s, "head"))
            tell_head(s, s->at);
        read_content(s);
    } else {
        s->at++;
    }
}

void
sn_html_refs(sn_str page, bool is_xml, sn_html_ref_fn fn, void *user)
{
    scan s = {.page = page, .is_xml = is_xml, .fn = fn, .user = user};

    for (pass_text(&s); !is_at_end(&s) && !s.enough; pass_text(&s))
        read_markup(&s);
}
