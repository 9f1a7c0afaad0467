/* SPDX-License-Identifier: Apache-2.0 */
#include "text/url.h"

/* URL Standard, 1.3: each set contains the one before it. */
#define C0(c)       ((c) < 0x20 || (c) > 0x7e)
#define IN(c, a, b) ((c) >= (a) && (c) <= (b))
#define FRAGMENT(c) \
    (C0(c) || (c) == ' ' || (c) == '"' || (c) == '<' || (c) == '>' || (c) == '`')
#define QUERY(c) \
    (C0(c) || (c) == ' ' || (c) == '"' || (c) == '#' || (c) == '<' || (c) == '>')
#define SPECIAL(c) (QUERY(c) || (c) == '\'')
#define PATH(c) \
    (QUERY(c) || (c) == '?' || (c) == '^' || (c) == '`' || (c) == '{' || (c) == '}')
#define USER(c)                                                                       \
    (PATH(c) || (c) == '/' || (c) == ':' || (c) == ';' || (c) == '=' || (c) == '@' || \
     IN(c, '[', ']') || (c) == '|')

/* 3.1 */
#define NO_HOST(c)                                                                       \
    ((c) == 0 || (c) == '\t' || (c) == '\n' || (c) == '\r' || (c) == ' ' || STOP(c) ||   \
     (c) == ':' || (c) == '<' || (c) == '>' || (c) == '@' || (c) == '[' || (c) == ']' || \
     (c) == '^' || (c) == '|')
#define NO_NAME(c) (NO_HOST(c) || C0(c) || (c) == '%')

#define ALNUM(c)     (IN(c, 'a', 'z') || IN(c, 'A', 'Z') || IN(c, '0', '9'))
#define IN_SCHEME(c) (ALNUM(c) || (c) == '+' || (c) == '-' || (c) == '.')
#define PLAIN(c)     (ALNUM(c) || (c) == '-' || (c) == '.' || (c) == '_' || (c) == '~')
#define STOP(c)      ((c) == '/' || (c) == '\\' || (c) == '?' || (c) == '#')

#define BITS(c)                                                                        \
    (uint16_t)((C0(c) ? SN_URL_C0 : 0) | (FRAGMENT(c) ? SN_URL_FRAGMENT : 0) |         \
               (QUERY(c) ? SN_URL_QUERY : 0) | (SPECIAL(c) ? SN_URL_SPECIAL : 0) |     \
               (PATH(c) ? SN_URL_PATH : 0) | (USER(c) ? SN_URL_USER : 0) |             \
               (NO_HOST(c) ? SN_URL_NO_HOST : 0) | (NO_NAME(c) ? SN_URL_NO_NAME : 0) | \
               (IN_SCHEME(c) ? SN_URL_IN_SCHEME : 0) | (PLAIN(c) ? SN_URL_PLAIN : 0) | \
               (STOP(c) ? SN_URL_STOP : 0))
#define BITS4(c)  BITS(c), BITS((c) + 1), BITS((c) + 2), BITS((c) + 3)
#define BITS16(c) BITS4(c), BITS4((c) + 4), BITS4((c) + 8), BITS4((c) + 12)
#define BITS64(c) BITS16(c), BITS16((c) + 16), BITS16((c) + 32), BITS16((c) + 48)

const uint16_t sn_url_class[256] = {BITS64(0), BITS64(64), BITS64(128), BITS64(192)};
