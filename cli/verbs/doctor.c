/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <seine/clock.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/doctor_checks.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

static int run_doctor(const args *a);

#define AT(member) .at = offsetof(doctor_settings, member)

/* clang-format off */
static const option options[] = {
    {"state", NULL, KIND_FILE, "DIR", ".seine", AT(state), .env = true,
     .help = "directory whose place and space are looked at"},
    {"output", "o", KIND_FILES, "[FMT:]FILE", AT(output),
     .help = "whether this output could be written; may be repeated"},
    {"target", NULL, KIND_TEXT, "URL", AT(target),
     .help = "ask a running seine whether it is ready",
     .more = "`http://127.0.0.1:9464`: its /readyz must answer 200."},
    {"json", "j", KIND_FLAG, AT(json), .env = true,
     .help = "one JSON object per check"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine doctor", "Is this machine fit for a long run?"},
    {"seine doctor -j -o pages.jsonl", "The same for scripts, with an output to be:"},
    {NULL, NULL},
};

const command cmd_doctor = {
    .name = "doctor",
    .arguments = "",
    .about = "look for what would go wrong on this machine",
    .is_aside = true,
    .text = "Each check takes at most 5 s and is `ok`, `FAIL` or `unknown`, with its reason. A FAIL makes the exit code 1. Nothing is sent, "
            "unless --target names whom to ask.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(doctor_settings),
    .run = run_doctor,
};
/* clang-format on */

static void
print_json(const checked *c)
{
    static const char *const names[] = {"healthy", "unhealthy", "unknown"};
    seine_json *line = xalloc_json(seine_json_new_object());

    jsonl_set(line, "name", jsonl_string(c->name));
    jsonl_set(line, "status", jsonl_string(names[c->status]));
    jsonl_set(line, "reason", jsonl_string(c->reason));
    jsonl_set(line, "ms", jsonl_in(c->took / 1000 * 1000, SEINE_MS(1)));
    out_json(line);
}

static void
print_text(const screen *s, const checked *c)
{
    static const char *const names[] = {"ok", "FAIL", "unknown"};
    static const ink inks[] = {INK_GOOD, INK_BAD, INK_WARN};

    screen_put(s, inks[c->status], "%-7s", names[c->status]);
    out_print("  %-9s  %s\n", c->name, show(c->reason).text);
}

static int
run_doctor(const args *a)
{
    const doctor_settings *set = a->settings;
    bool failed = false;

    for (size_t i = 0;; i++) {
        checked c;

        if (!checks_run(set, i, &c))
            break;
        set->json ? print_json(&c) : print_text(&a->screen, &c);
        out_flush();
        failed = failed || c.status == CHECK_FAIL;
    }
    return failed ? SAY_FAILED : SAY_DONE;
}
