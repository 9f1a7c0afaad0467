/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/crate.h"

#include "options/request_rows.h"
#include "verbs/verbs.h"

#define AT(member)  .at = offsetof(crate_settings, member)
#define NET(member) .at = offsetof(crate_settings, net.member)

/* clang-format off */
#define OUTPUT_ROWS \
    {"format", "f", KIND_CHOICE, "auto|text|jsonl|csv", "auto", AT(format), .env = true, .group = "What is printed", \
     .help = "a table, JSON lines or CSV; auto: a table on a terminal, else JSON"}, \
    {"json", "j", KIND_FLAG, AT(json), \
     .help = "JSON, one object per line"}, \
    {"verbose", "v", KIND_FLAG, AT(verbose), \
     .help = "the parts of each score, and each advisory"}

static const option analyse_options[] = {
    {"api", NULL, KIND_TEXT, "URL", "https://crates.io/api/v1/crates", AT(api), .env = true,
     .help = "the registry; it is asked for URL/NAME"},
    {"osv-api", NULL, KIND_TEXT, "URL|off", "https://api.osv.dev", AT(osv_api), .env = true,
     .help = "a service that knows advisories; off: it is not asked"},
    {"advisory-db", NULL, KIND_FILE, "DIR", AT(advisory_db), .env = true,
     .help = "advisories at hand: a copy of rustsec/advisory-db"},
    {"depth", "l", KIND_COUNT, "N", "0", AT(depth), .max = 100,
     .help = "so many levels of normal dependencies, too, each crate once",
     .more = "Of a dependency it is the newest version that the requirement allows."},
    {"stable", NULL, KIND_FLAG, AT(stable),
     .help = "the newest version that is no pre-release"},
    {"now", NULL, KIND_TEXT, "DATE", AT(now),
     .help = "count ages up to this day, not up to today"},
    {"fail-under", NULL, KIND_TEXT, "S", AT(fail_under), .env = true, .group = "Gates",
     .help = "exit code 6 if the quality of a crate is lower: 0.75"},
    {"deny", NULL, KIND_LIST, "WHAT", AT(deny), .env = true,
     .help = "exit code 6 for a crate that is so; may be repeated",
     .more = "`vulnerable`, `unsound` (both also where nobody can say), `unmaintained` (Archived or Deprecated), or a licence "
             "like `GPL-3.0` that the crate cannot be used without."},
    OUTPUT_ROWS,
    {"host-rate", NULL, KIND_PACE, "R", "1/s", NET(host_rate), .env = true, .group = "Requests",
     .help = "at most this rate per host, retries included",
     .more = "crates.io asks for no more than one request in a second, and for a --contact."},
    {"timeout", "t", KIND_SPAN, "D", "30s", NET(timeout), .env = true, .rare = true,
     .help = "one attempt, from the lookup to the last byte"},
    {"max-time", "m", KIND_SPAN, "D", "off", NET(max_time), .off = true, .env = true, .rare = true,
     .help = "the whole run; what is missing then makes exit code 4"},
    {"retries", NULL, KIND_COUNT, "N", "5", NET(retries), .max = 1000, .env = true, .rare = true,
     .help = "tries after the first"},
    {"backoff", NULL, KIND_TEXT, "D..D", "1s..30s", NET(backoff), .env = true, .rare = true,
     .help = "waits between tries, doubling from the first to the second"},
    {"breaker", NULL, KIND_TEXT, "SPEC|off", "fail=5,open=60s", NET(breaker), .env = true, .rare = true,
     .help = "when a host is left alone for a while; as of fetch"},
    REQUEST_ROWS,
    {"resolve", NULL, KIND_LIST, "HOST:PORT:ADDR", NET(resolve), .env = true, .rare = true,
     .help = "the address of a host; may be repeated"},
    {"allow-net", NULL, KIND_LIST, "CIDR", NET(allow_net), .env = true, .rare = true,
     .help = "addresses a redirect may lead to; may be repeated"},
    {.name = NULL},
};

static const option audit_options[] = {
    {"advisory-db", NULL, KIND_FILE, "DIR", AT(advisory_db), .env = true,
     .help = "advisories at hand: a copy of rustsec/advisory-db"},
    {"deny", NULL, KIND_LIST, "WHAT", AT(deny), .env = true, .group = "Gates",
     .help = "exit code 6: vulnerable, unsound, unmaintained; may be repeated"},
    OUTPUT_ROWS,
    {.name = NULL},
};

static const example analyse_examples[] = {
    {"seine crate regex bitflags --contact you@example.org", "Which of two is the better choice?"},
    {"seine crate serde@1.0.100 -l 1 -v --contact you@example.org", "A version, with its dependencies and the parts of the scores:"},
    {"seine crate regex --deny vulnerable --fail-under 0.75", "In a script that chooses for itself:"},
    {NULL, NULL},
};

static const example audit_examples[] = {
    {"seine crate audit Cargo.lock --advisory-db advisory-db", "The packages of a project:"},
    {"seine crate audit smallvec@1.6.0 --advisory-db advisory-db --deny vulnerable", "One version, in a script:"},
    {NULL, NULL},
};

const command cmd_crate_audit = {
    .name = "crate audit",
    .arguments = "NAME@VERSION|Cargo.lock…",
    .about = "look for advisories about crates, without the network",
    .text = "Every package of a Cargo.lock, or each version that is typed, is looked up in a copy of RustSec's advisory-db. An advisory counts unless one "
            "of its `patched` or `unaffected` requirements allows the version. Packages of git and of other registries are left out, and counted.\n\n"
            "A table shows what was typed and what has an advisory; JSON and CSV have every package. The exit code is 1 if an advisory, a lock file or a "
            "package could not be read, and 6 if --deny is not met. Advisories alone do not change it.",
    .options = audit_options,
    .examples = audit_examples,
    .settings_size = sizeof(crate_settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = crate_audit,
};

const command cmd_crate = {
    .name = "crate",
    .also = "crate analyze",
    .arguments = "NAME[@VERSION]…",
    .about = "judge Rust crates: quality, security, maintenance",
    .text = "The registry is asked for the crate, the version and its dependencies, and OSV for advisories, through the engine of `seine fetch`: one request "
            "in a second and host, with retries and a breaker.\n\n"
            "The score has the parts downloads (0.30), documentation (0.20), repository (0.15), license (0.10), keywords and categories (0.10) and recent "
            "downloads (0.15). The verdict is `avoid` for a crate that is Deprecated, Archived or has a critical or high vulnerability; `caution` for one "
            "that is Community, has another vulnerability, is unsound, unaudited or scores below 0.50; else `use`. Several crates are listed best first.\n\n"
            "The exit code is 1 if a crate could not be analysed (the others are), 5 if a host was given up, and 6 if a gate is not met.",
    .options = analyse_options,
    .examples = analyse_examples,
    .settings_size = sizeof(crate_settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = crate_analyse,
};
/* clang-format on */
