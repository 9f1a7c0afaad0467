/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the log: levels by name, fields by type. */
#include "base/log.h"

static const char *const levels[] = {"trace", "debug", "info", "warn", "error", "off"};

const char *
seine_log_level_name(seine_log_level level)
{
    return (unsigned)level <= SEINE_LOG_OFF ? levels[level] : "off";
}

bool
seine_log_level_parse(const char *name, seine_log_level *out_level)
{
    for (unsigned i = 0; i <= SEINE_LOG_OFF; i++)
        if (sn_str_eq(sn_str_of(name), sn_str_of(levels[i]))) {
            *out_level = (seine_log_level)i;
            return true;
        }
    return false;
}

seine_log_field
seine_log_str(const char *name, const char *value)
{
    return sn_log_text(SEINE_LOG_STR, name, sn_str_of(value));
}

seine_log_field
seine_log_bytes(const char *name, const char *bytes, size_t n)
{
    return sn_log_text(SEINE_LOG_STR, name, (sn_str){bytes, n});
}

seine_log_field
seine_log_int(const char *name, int64_t value)
{
    return (seine_log_field){.name = name, .kind = SEINE_LOG_INT, .as.i = value};
}

seine_log_field
seine_log_uint(const char *name, uint64_t value)
{
    return (seine_log_field){.name = name, .kind = SEINE_LOG_UINT, .as.u = value};
}

seine_log_field
seine_log_double(const char *name, double value)
{
    return (seine_log_field){.name = name, .kind = SEINE_LOG_DOUBLE, .as.d = value};
}

seine_log_field
seine_log_bool(const char *name, bool value)
{
    return (seine_log_field){.name = name, .kind = SEINE_LOG_BOOL, .as.u = value};
}

seine_log_field
seine_log_span(const char *name, seine_span value)
{
    return (seine_log_field){.name = name, .kind = SEINE_LOG_SPAN, .as.i = value};
}

seine_log_field
seine_log_err(const char *name, seine_err value)
{
    return (seine_log_field){.name = name, .kind = SEINE_LOG_ERR, .as.i = (int64_t)value};
}

seine_log_field
seine_log_url(const char *name, const char *value)
{
    return sn_log_text(SEINE_LOG_URL, name, sn_str_of(value));
}

seine_log_field
seine_log_secret(const char *name)
{
    return (seine_log_field){.name = name, .kind = SEINE_LOG_SECRET};
}
