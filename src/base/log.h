/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - how the library itself writes to a log.
 *
 *     seine_log *log = NULL;
 *     const char *host = "e.example";
 *     SN_LOG(log, INFO, "retry", SN_S("host", host), SN_T("delay", SEINE_MS(200)));
 *     SN_SAY(log, WARN, "breaker.open", "breaker opened", SN_S("host", host));
 *
 * A record is an event word and fields; SN_SAY adds a message for people. When the level
 * is off, the arguments are not evaluated. The names of fields come from the vocabulary
 * in docs/user/log.md. <seine/log.h> says how a log treats a record.
 */
#ifndef SN_LOG_H
#define SN_LOG_H

#include "base/str.h"
#include "seine/log.h"

#define SN_LOG(log, level, ...)                                      \
    SN_LOG_(log, SEINE_LOG_##level, SN_FIRST_(__VA_ARGS__, 0), NULL, \
            SN_REST_(__VA_ARGS__, SN_LAST_))

#define SN_SAY(log, level, event, ...)                                \
    SN_LOG_(log, SEINE_LOG_##level, event, SN_FIRST_(__VA_ARGS__, 0), \
            SN_REST_(__VA_ARGS__, SN_LAST_))

#define SN_S(name, value)   sn_log_text(SEINE_LOG_STR, name, SN_VIEW_(value))
#define SN_URL(name, value) sn_log_text(SEINE_LOG_URL, name, SN_VIEW_(value))
#define SN_I(name, value)   seine_log_int(name, value)
#define SN_U(name, value)   seine_log_uint(name, value)
#define SN_D(name, value)   seine_log_double(name, value)
#define SN_B(name, value)   seine_log_bool(name, value)
#define SN_T(name, value)   seine_log_span(name, value)
#define SN_E(name, value)   seine_log_err(name, value)
#define SN_SECRET(name)     seine_log_secret(name)

/* Accepts a view or a terminated string. */
#define SN_VIEW_(value) \
    _Generic((value), sn_str : sn_str_self, default : sn_str_of)(value)

/* A field without a name ends the list, so that the list is never empty. */
#define SN_LAST_          ((seine_log_field){.name = NULL})
#define SN_FIRST_(a, ...) a
#define SN_REST_(a, ...)  __VA_ARGS__
#define SN_LOG_(log, level, event, message, ...)                                   \
    do {                                                                           \
        seine_log *log_ = (log);                                                   \
                                                                                   \
        if (seine_log_on(log_, level))                                             \
            sn_log(log_, level, event, message, (seine_log_field[]){__VA_ARGS__}); \
    } while (0)

static inline sn_str
sn_str_self(sn_str s)
{
    return s;
}

static inline seine_log_field
sn_log_text(seine_log_kind kind, const char *name, sn_str s)
{
    return (seine_log_field){.name = name, .kind = kind, .len = s.len, .as.text = s.ptr};
}

/* As seine_log_write; a field without a name ends the list. */
void sn_log(seine_log *log, seine_log_level level, const char *event, const char *message,
            const seine_log_field *fields);

/* Lines that wait in the ring, and how many it has room for. Any thread. */
uint32_t sn_log_waiting(const seine_log *log, uint32_t *out_room);

#endif
