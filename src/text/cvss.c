/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/cvss.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

/* The base metrics, with their letters and the weights of section 7.4. That of PR is
 * another one when the scope changes. */
enum { AV, AC, PR, UI, S, C, I, A, N_BASE };

/* clang-format off */
static const struct {
    const char *name, *letters;
    double weights[4];
} base[N_BASE] = {
    {"AV", "NALP", {0.85, 0.62, 0.55, 0.2}},
    {"AC", "LH",   {0.77, 0.44}},
    {"PR", "NLH",  {0.85, 0.62, 0.27}},
    {"UI", "NR",   {0.85, 0.62}},
    {"S",  "UC",   {0, 1}},
    {"C",  "HLN",  {0.56, 0.22, 0}},
    {"I",  "HLN",  {0.56, 0.22, 0}},
    {"A",  "HLN",  {0.56, 0.22, 0}},
};
static const double changed_pr[] = {0.85, 0.68, 0.5};

/* Temporal and environmental metrics: they are valid, and change no base score. */
static const struct {
    const char *name, *letters;
} others[] = {
    {"E",   "XHFPU"}, {"RL",  "XUWTO"}, {"RC",  "XCRU"},
    {"CR",  "XHML"},  {"IR",  "XHML"},  {"AR",  "XHML"},
    {"MAV", "XNALP"}, {"MAC", "XLH"},   {"MPR", "XNLH"}, {"MUI", "XNR"},
    {"MS",  "XUC"},   {"MC",  "XHLN"},  {"MI",  "XHLN"}, {"MA",  "XHLN"},
};
/* clang-format on */

enum { N_OTHERS = sizeof others / sizeof *others };

/* The place of the value among the letters, or -1. */
static int
place(const char *letters, sn_str value)
{
    const char *at =
        value.len == 1 && value.ptr[0] ? strchr(letters, value.ptr[0]) : NULL;

    return at ? (int)(at - letters) : -1;
}

/* Takes "AV:N". False: unknown, or there already. */
static bool
read_metric(sn_str metric, double weights[N_BASE], unsigned *seen)
{
    sn_str name, value;

    if (!sn_str_cut(metric, ':', &name, &value))
        return false;
    for (unsigned i = 0; i < N_BASE + N_OTHERS; i++) {
        bool is_base = i < N_BASE;
        const char *known = is_base ? base[i].name : others[i - N_BASE].name;

        if (!sn_str_eq(name, sn_str_of(known)))
            continue;
        int at = place(is_base ? base[i].letters : others[i - N_BASE].letters, value);
        if (at < 0 || (*seen >> i & 1) != 0)
            return false;
        *seen |= 1u << i;
        if (is_base)
            weights[i] = i == PR ? at : base[i].weights[at];
        return true;
    }
    return false;
}

/* The smallest tenth that is not below the score. Section "Appendix A" of 3.1 takes
 * hundred thousandths first, so that the noise of floating point does not round up. */
static unsigned
round_up(double score)
{
    unsigned fine = (unsigned)lround(score * 100000);

    return (fine + 9999) / 10000;
}

static unsigned
base_score(const double w[N_BASE])
{
    bool is_changed = w[S] > 0;
    double pr = is_changed ? changed_pr[(int)w[PR]] : base[PR].weights[(int)w[PR]];
    double iss = 1 - (1 - w[C]) * (1 - w[I]) * (1 - w[A]);
    double impact =
        is_changed ? 7.52 * (iss - 0.029) - 3.25 * pow(iss - 0.02, 15) : 6.42 * iss;
    double exploitability = 8.22 * w[AV] * w[AC] * pr * w[UI];

    if (impact <= 0)
        return 0;
    return round_up(fmin((is_changed ? 1.08 : 1) * (impact + exploitability), 10));
}

seine_err
seine_cvss3_base(const char *vector, size_t len, unsigned *out_tenths)
{
    sn_str rest = {vector, len}, metric;
    double weights[N_BASE] = {0};
    unsigned seen = 0;

    if (!vector || !out_tenths)
        return SEINE_E_INVAL;
    if (!sn_str_starts(rest, SN_STR("CVSS:3.0/")) &&
        !sn_str_starts(rest, SN_STR("CVSS:3.1/")))
        return SEINE_E_PARSE;
    if (vector[len - 1] == '/')
        return SEINE_E_PARSE;
    rest = sn_str_slice(rest, sizeof "CVSS:3.1/" - 1, len);
    while (sn_str_next(&rest, '/', &metric))
        if (!read_metric(metric, weights, &seen))
            return SEINE_E_PARSE;
    if ((seen & ((1u << N_BASE) - 1)) != (1u << N_BASE) - 1)
        return SEINE_E_PARSE;
    *out_tenths = base_score(weights);
    return SEINE_OK;
}

seine_severity
seine_severity_of(unsigned tenths)
{
    if (tenths >= 90)
        return SEINE_SEVERITY_CRITICAL;
    if (tenths >= 70)
        return SEINE_SEVERITY_HIGH;
    if (tenths >= 40)
        return SEINE_SEVERITY_MEDIUM;
    return tenths > 0 ? SEINE_SEVERITY_LOW : SEINE_SEVERITY_UNKNOWN;
}

const char *
seine_severity_name(seine_severity s)
{
    static const char *const names[] = {"unknown", "low", "medium", "high", "critical"};

    return (unsigned)s < sizeof names / sizeof *names ? names[s] : names[0];
}
