/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/time.h"
#include "text/robots.h"

#define LONGEST_S 1000000000 /* longest delay in seconds: about 32 years */

bool
sn_robots_next_line(sn_str *rest, sn_str *out_line)
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
static sn_robots_field
field_of(sn_str key)
{
    static const char *const agent[] = {"user-agent", "useragent", "user agent", NULL};
    static const char *const allow[] = {"allow", NULL};
    static const char *const disallow[] = {"disallow", "dissallow", "dissalow", "disalow",
                                           "diasllow", "disallaw",  NULL};
    static const char *const sitemap[] = {"sitemap", "site-map", NULL};
    static const char *const delay[] = {"crawl-delay", "crawldelay", NULL};

    return is_any(key, agent)      ? SN_ROBOTS_AGENT
           : is_any(key, allow)    ? SN_ROBOTS_ALLOW
           : is_any(key, disallow) ? SN_ROBOTS_DISALLOW
           : is_any(key, sitemap)  ? SN_ROBOTS_SITEMAP
           : is_any(key, delay)    ? SN_ROBOTS_DELAY
                                   : SN_ROBOTS_OTHER;
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

sn_robots_field
sn_robots_read_line(sn_str *io_line, sn_str *out_value)
{
    sn_str line = sn_str_slice(*io_line, 0, SN_ROBOTS_LINE), key;

    *io_line = line = sn_str_trim(sn_str_slice(line, 0, sn_str_find(line, '#')));
    if (!split(line, &key, out_value))
        return SN_ROBOTS_OTHER;
    sn_robots_field field = field_of(key);
    return field == SN_ROBOTS_SITEMAP && out_value->len == 0 ? SN_ROBOTS_OTHER : field;
}

/* Product tokens. */

static bool
is_token_char(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) || c == '_' || c == '-';
}

sn_str
sn_robots_token(sn_str value)
{
    size_t n = 0;

    if (value.len > 0 && value.ptr[0] == '*' &&
        (value.len == 1 || sn_is_space(value.ptr[1])))
        return sn_str_slice(value, 0, 1);
    while (n < value.len && is_token_char(value.ptr[n]))
        n++;
    return sn_str_slice(value, 0, n);
}

/* Returns what follows "compatible;"; empty: there is none. */
static sn_str
behind_compatible(sn_str s)
{
    sn_str word = SN_STR("compatible;");

    for (; s.len > 0; s = sn_str_slice(s, 1, s.len))
        if (sn_str_starts_nocase(s, word))
            return sn_str_trim(sn_str_slice(s, word.len, s.len));
    return s;
}

sn_str
sn_robots_agent(sn_str user_agent)
{
    sn_str first = sn_robots_token(sn_str_trim(user_agent));

    if (!sn_str_eq_nocase(first, SN_STR("mozilla")))
        return first;
    sn_str real = sn_robots_token(behind_compatible(user_agent));
    return real.len > 0 ? real : first;
}

void
sn_robots_name_agent(const char *token, const char *user_agent,
                     char out[SN_ROBOTS_AGENT_ROOM])
{
    sn_str from = sn_robots_agent(sn_str_of(token ? token : user_agent));
    sn_str name = sn_str_slice(from, 0, SN_ROBOTS_AGENT_ROOM - 1);

    memcpy(out, name.len > 0 ? name.ptr : "", name.len);
    out[name.len] = '\0';
}

/* Delays. */

/* What is smaller than a millisecond does not count. */
int64_t
sn_robots_seconds(sn_str value)
{
    int64_t ms = 0, unit = 1000;
    size_t digits = 0;
    bool behind = false;

    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];

        if (c == '.' && !behind) {
            behind = true;
        } else if (sn_is_digit(c) && !behind) {
            ms = sn_time_min(10 * ms + 1000 * (c - '0'), LONGEST_S * INT64_C(1000));
            digits++;
        } else if (sn_is_digit(c)) {
            unit /= 10;
            ms += unit * (c - '0');
            digits++;
        } else {
            return -1;
        }
    }
    return digits > 0 ? sn_time_min(ms * SEINE_MS(1), SEINE_SECS(LONGEST_S)) : -1;
}
