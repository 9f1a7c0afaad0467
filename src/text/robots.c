/* SPDX-License-Identifier: Apache-2.0 */
#include "text/robots.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

#define LINE_MAX  16663 /* longest line: 8 URLs of 2,083 bytes, as in Google's parser */
#define LONGEST_S 1000000000 /* longest delay in seconds: about 32 years */

typedef enum kind { AGENT, ALLOW, DISALLOW, DELAY, SITEMAP, OTHER } kind;

typedef struct rule {
    sn_str pattern; /* escaped; of an agent line the product token, or "*" */
    sn_str text;    /* the line; of a Sitemap line its value */
    uint32_t line;
    kind kind;
    int64_t delay;
} rule;

_Static_assert(sizeof(rule) == 48, "robots.h says so");

/* Lines in file order; an agent line after a rule begins a new group. */
struct seine_robots {
    rule *rules;
    size_t n, room;
    char *text;    /* the copy of the file, which all views point into */
    char *escaped; /* patterns that needed escaping */
};

/* Names of fields. */

static bool
is_any(sn_str key, const char *const *names)
{
    for (; *names; names++)
        if (sn_str_starts_nocase(key, sn_str_of(*names)))
            return true;
    return false;
}

/* Accepts the common misspellings that Google's parser accepts. */
static kind
kind_of(sn_str key)
{
    static const char *const agent[] = {"user-agent", "useragent", "user agent", NULL};
    static const char *const allow[] = {"allow", NULL};
    static const char *const disallow[] = {"disallow", "dissallow", "dissalow", "disalow",
                                           "diasllow", "disallaw",  NULL};
    static const char *const sitemap[] = {"sitemap", "site-map", NULL};
    static const char *const delay[] = {"crawl-delay", "crawldelay", NULL};

    return is_any(key, agent)      ? AGENT
           : is_any(key, allow)    ? ALLOW
           : is_any(key, disallow) ? DISALLOW
           : is_any(key, sitemap)  ? SITEMAP
           : is_any(key, delay)    ? DELAY
                                   : OTHER;
}

static sn_str
without_comment(sn_str line)
{
    return sn_str_trim(sn_str_slice(line, 0, sn_str_find(line, '#')));
}

static size_t
find_blank(sn_str s)
{
    size_t i = 0;

    while (i < s.len && s.ptr[i] != ' ' && s.ptr[i] != '\t')
        i++;
    return i;
}

/* Splits "Name: value", or two words with blanks between them. */
static bool
split(sn_str line, sn_str *out_key, sn_str *out_value)
{
    size_t at = sn_str_find(line, ':');

    if (at == line.len) {
        at = find_blank(line);
        sn_str rest = sn_str_trim(sn_str_slice(line, at, line.len));
        if (rest.len == 0 || find_blank(rest) < rest.len)
            return false;
    }
    *out_key = sn_str_trim(sn_str_slice(line, 0, at));
    *out_value = sn_str_trim(sn_str_slice(line, at + 1, line.len));
    return out_key->len > 0;
}

/* Values. */

/* Cuts the value to a product token of letters, "_" and "-"; "*" stays. */
static sn_str
token_of(sn_str value)
{
    size_t n = 0;

    if (value.len > 0 && value.ptr[0] == '*' &&
        (value.len == 1 || sn_is_space(value.ptr[1])))
        return sn_str_slice(value, 0, 1);
    while (n < value.len &&
           (sn_is_alpha(value.ptr[n]) || value.ptr[n] == '_' || value.ptr[n] == '-'))
        n++;
    return sn_str_slice(value, 0, n);
}

static bool
is_escape(sn_str s, size_t i)
{
    return s.ptr[i] == '%' && i + 2 < s.len && sn_hex_digit(s.ptr[i + 1]) >= 0 &&
           sn_hex_digit(s.ptr[i + 2]) >= 0;
}

static char
upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

/* Writes escapes in upper case and, with `others`, escapes bytes above 0x7f. The result
 * is at most three times as long. */
static size_t
copy_escaped(sn_str s, bool others, char *to)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (is_escape(s, i)) {
            to[n++] = '%';
            to[n++] = upper(s.ptr[++i]);
            to[n++] = upper(s.ptr[++i]);
        } else if (c >= 0x80 && others) {
            to[n++] = '%';
            to[n++] = digits[c >> 4];
            to[n++] = digits[c & 15];
        } else {
            to[n++] = (char)c;
        }
    }
    return n;
}

/* Reads seconds, whole or decimal. */
static int64_t
delay_of(sn_str value)
{
    int64_t n;

    if (sn_str_decimal(value, 3, &n) != SEINE_OK || n < 0)
        return -1;
    return n > LONGEST_S * INT64_C(1000) ? SEINE_SECS(LONGEST_S) : n * SEINE_MS(1);
}

/* Lines. */

static seine_err
add_rule(seine_robots *r, rule what)
{
    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 32;
        rule *more = sn_realloc(r->rules, room * sizeof *more);

        if (!more)
            return SEINE_E_NOMEM;
        r->rules = more;
        r->room = room;
    }
    r->rules[r->n++] = what;
    return SEINE_OK;
}

static seine_err
take_line(seine_robots *r, sn_str line, uint32_t number, char **escaped)
{
    sn_str key, value;

    line = without_comment(sn_str_slice(line, 0, LINE_MAX));
    if (!split(line, &key, &value))
        return SEINE_OK;
    rule what = {.text = line, .line = number, .kind = kind_of(key), .delay = -1};
    switch (what.kind) {
    case AGENT:
        what.pattern = token_of(value);
        break;
    case ALLOW:
    case DISALLOW:
        what.pattern = (sn_str){*escaped, copy_escaped(value, true, *escaped)};
        *escaped += what.pattern.len;
        break;
    case SITEMAP:
        what.text = value;
        break;
    case DELAY:
        what.delay = delay_of(value);
        break;
    case OTHER:
    default:
        return SEINE_OK;
    }
    return add_rule(r, what);
}

/* Takes a line up to CR, LF or CR LF; false at the end of the text. */
static bool
next_line(sn_str *rest, sn_str *out_line)
{
    size_t n = 0;

    while (n < rest->len && rest->ptr[n] != '\n' && rest->ptr[n] != '\r')
        n++;
    *out_line = sn_str_slice(*rest, 0, n);
    bool ended = n < rest->len;
    n += ended && rest->ptr[n] == '\r' && n + 1 < rest->len && rest->ptr[n + 1] == '\n';
    *rest = sn_str_slice(*rest, n + ended, rest->len);
    return ended;
}

/* Skips a UTF-8 byte order mark, or the beginning of one. */
static sn_str
without_mark(sn_str text)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t n = 0;

    while (n < 3 && n < text.len && text.ptr[n] == mark[n])
        n++;
    return sn_str_slice(text, n, text.len);
}

static seine_err
read_lines(seine_robots *r, sn_str text, bool cut)
{
    char *escaped = r->escaped;
    seine_err e = SEINE_OK;
    uint32_t number = 0;
    bool more = true;

    while (more && e == SEINE_OK) {
        sn_str line;

        more = next_line(&text, &line);
        number++;
        if (more || !cut)
            e = take_line(r, line, number, &escaped);
    }
    return e;
}

seine_err
seine_robots_new(const char *text, size_t len, seine_robots **out_robots)
{
    bool cut = len > SEINE_ROBOTS_BYTES;
    size_t n = cut ? SEINE_ROBOTS_BYTES : len;
    seine_robots *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    r->text = sn_alloc(n + 1);
    r->escaped = sn_alloc(3 * n + 1);
    seine_err e = r->text && r->escaped ? SEINE_OK : SEINE_E_NOMEM;
    if (e == SEINE_OK) {
        memcpy(r->text, text ? text : "", n);
        e = read_lines(r, without_mark((sn_str){r->text, n}), cut);
    }
    if (e != SEINE_OK) {
        seine_robots_free(r);
        return e;
    }
    *out_robots = r;
    return SEINE_OK;
}

void
seine_robots_free(seine_robots *r)
{
    if (!r)
        return;
    sn_free(r->rules);
    sn_free(r->text);
    sn_free(r->escaped);
    sn_free(r);
}

/* Queries. */

/* Returns where the host ends: the first of "/?;" after "//", if there is "//". */
static size_t
host_end(sn_str url)
{
    size_t at = 0;

    if (url.len > 0 && url.ptr[0] == '/' && !(url.len > 1 && url.ptr[1] == '/'))
        return 0; /* already a path */
    if (sn_str_starts(url, SN_STR("//")))
        at = 2;
    for (; at < url.len && !memchr("/?;", url.ptr[at], 3); at++)
        if (sn_str_starts(sn_str_slice(url, at, url.len), SN_STR("://")))
            at += 2;
    return at;
}

sn_str
sn_robots_target(sn_str url, char mem[SN_ROBOTS_URL + 1])
{
    url = sn_str_slice(url, 0, SN_ROBOTS_URL);
    sn_str target = sn_str_slice(url, host_end(url), sn_str_find(url, '#'));
    size_t n = target.len == 0 || target.ptr[0] != '/';

    mem[0] = '/';
    return (sn_str){mem, n + copy_escaped(target, false, mem + n)};
}

static bool
skip_behind(sn_str *text, sn_str piece)
{
    const char *found;

    if (piece.len == 0)
        return true;
    found = text->len > 0 ? memmem(text->ptr, text->len, piece.ptr, piece.len) : NULL;
    if (!found)
        return false;
    *text = sn_str_slice(*text, (size_t)(found - text->ptr) + piece.len, text->len);
    return true;
}

/* Each piece between stars is searched after the piece before it. The first match is
 * always good enough, except for the last piece of a pattern that ends in "$". */
bool
sn_robots_match(sn_str target, sn_str pattern)
{
    bool anchored = pattern.len > 0 && pattern.ptr[pattern.len - 1] == '$';
    sn_str piece, rest;
    bool more =
        sn_str_cut(sn_str_slice(pattern, 0, pattern.len - anchored), '*', &piece, &rest);

    if (!sn_str_starts(target, piece))
        return false;
    target = sn_str_slice(target, piece.len, target.len);
    if (!more)
        return !anchored || target.len == 0;
    while (sn_str_cut(rest, '*', &piece, &rest))
        if (!skip_behind(&target, piece))
            return false;
    return anchored ? sn_str_ends(target, piece) : skip_behind(&target, piece);
}

static bool
is_everybody(const rule *a)
{
    return a->pattern.len == 1 && a->pattern.ptr[0] == '*';
}

/* Walks the rules of all groups that name the agent, or of the groups for "*". */
typedef struct walk {
    const seine_robots *r;
    sn_str agent;
    size_t i;
    bool named;       /* look for groups that name the agent */
    bool applies;     /* the current group applies */
    bool rules;       /* the current group had a rule */
    const rule *says; /* the agent line by which the group applies */
} walk;

static sn_str
product(const char *agent)
{
    sn_str all = sn_str_of(agent);

    return sn_str_slice(all, 0, sn_str_find(all, '/'));
}

static bool
is_for(const rule *a, const walk *w)
{
    return w->named ? !is_everybody(a) && a->pattern.len > 0 &&
                          sn_str_eq_nocase(a->pattern, w->agent)
                    : is_everybody(a);
}

/* True if this rule counts; updates the state for the rules after it. */
static bool
counts(walk *w, const rule *what)
{
    if (what->kind == AGENT) {
        if (w->rules)
            w->applies = w->rules = false;
        if (is_for(what, w)) {
            w->applies = true;
            w->says = what;
        }
        return false;
    }
    if (what->kind == SITEMAP)
        return false;
    /* Only Allow and Disallow end a list of agents. */
    w->rules = w->rules || what->kind != DELAY;
    return w->applies;
}

/* Returns the next rule that counts, or NULL. */
static const rule *
next_rule(walk *w)
{
    while (w->i < w->r->n) {
        const rule *what = &w->r->rules[w->i++];

        if (counts(w, what))
            return what;
    }
    return NULL;
}

static walk
begin_walk(const seine_robots *r, const char *agent)
{
    walk w = {.r = r, .agent = product(agent), .named = true};

    for (size_t i = 0; i < r->n; i++)
        if (r->rules[i].kind == AGENT && is_for(&r->rules[i], &w))
            return w;
    w.named = false;
    return w;
}

void
seine_robots_check(const seine_robots *r, const char *agent, const char *url, size_t len,
                   seine_robots_verdict *out_verdict)
{
    char mem[SN_ROBOTS_URL + 1];
    sn_str target = sn_robots_target((sn_str){url, len}, mem);
    walk w = begin_walk(r, agent);
    const rule *best = NULL, *group = NULL;

    for (const rule *what; (what = next_rule(&w));) {
        if (!group)
            group = w.says;
        if (what->kind == DELAY || what->pattern.len == 0)
            continue;
        if (best && (what->pattern.len < best->pattern.len ||
                     (what->pattern.len == best->pattern.len &&
                      (best->kind == ALLOW || what->kind == DISALLOW))))
            continue;
        if (sn_robots_match(target, what->pattern)) {
            best = what;
            group = w.says;
        }
    }
    if (!group)
        group = w.says;
    *out_verdict = (seine_robots_verdict){.allowed = !best || best->kind == ALLOW};
    if (best) {
        out_verdict->rule = best->text;
        out_verdict->line = best->line;
    }
    if (group)
        out_verdict->group = group->pattern;
}

int64_t
seine_robots_delay(const seine_robots *r, const char *agent)
{
    walk w = begin_walk(r, agent);
    int64_t longest = -1;

    for (const rule *what; (what = next_rule(&w));)
        if (what->kind == DELAY)
            longest = sn_time_max(longest, what->delay);
    return longest;
}

static seine_robots_kind
public_kind(kind k)
{
    switch (k) {
    case ALLOW:
        return SEINE_ROBOTS_ALLOW;
    case DISALLOW:
        return SEINE_ROBOTS_DISALLOW;
    case DELAY:
        return SEINE_ROBOTS_DELAY;
    case SITEMAP:
        return SEINE_ROBOTS_SITEMAP;
    case AGENT:
    case OTHER:
        break;
    }
    return SEINE_ROBOTS_AGENT;
}

void
seine_robots_each(const seine_robots *r, const char *agent, seine_robots_fn fn, void *arg)
{
    walk w = begin_walk(r, agent);

    for (size_t i = 0; i < r->n; i++) {
        const rule *what = &r->rules[i];

        if (!counts(&w, what) && what->kind != SITEMAP &&
            !(what->kind == AGENT && is_for(what, &w)))
            continue;
        fn(&(seine_robots_line){public_kind(what->kind), what->text, what->line,
                                what->delay},
           arg);
    }
}

bool
seine_robots_sitemap(const seine_robots *r, size_t i, seine_view *out_url)
{
    for (size_t k = 0; k < r->n; k++)
        if (r->rules[k].kind == SITEMAP && i-- == 0) {
            *out_url = r->rules[k].text;
            return true;
        }
    return false;
}
