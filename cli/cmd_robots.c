/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/robots.h>
#include <seine/time.h>

#include "bytes.h"
#include "commands.h"
#include "heap.h"
#include "jsonl.h"
#include "out.h"
#include "say.h"

typedef struct settings {
    const char *robots, *agent;
    bool jsonl;
} settings;

static int run_check(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"robots", NULL, KIND_FILE, "FILE", AT(robots),
     .help = "the robots.txt that is asked; -: stdin"},
    {"agent", NULL, KIND_TEXT, "NAME", "seine", AT(agent),
     .help = "who asks: a product token"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `robots` (or `robots_b64`, `robots_file`), `agent`, `url`. Out: what the command prints. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"printf 'User-agent: *\\nDisallow: /x\\n' | seine robots check --robots - /a", "May it be asked for?"},
    {NULL, NULL},
};

const command cmd_robots_check = {
    .name = "robots check",
    .arguments = "[URL]…",
    .about = "say whether robots.txt allows URLs, and which line does",
    .text = "By RFC 9309. `rule` and `line` are what decides, null where nothing matches and all is allowed; `group` is the agent the file names. "
            "The exit code is 0 if all are allowed and 1 if one is not.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_check,
};
/* clang-format on */

static seine_json *
text_of(seine_view v)
{
    if (!v.ptr)
        return seine_json_new_null();
    char *text = heap_copy(v.ptr, v.len);
    seine_json *json = jsonl_string(text);
    free(text);
    return json;
}

static bool
put(const seine_robots *r, const char *agent, const char *url, size_t len,
    seine_json *out)
{
    seine_robots_verdict v;
    seine_json *sitemaps = heap_json(seine_json_new_array());
    seine_view map;
    int64_t delay = seine_robots_delay(r, agent);

    seine_robots_check(r, agent, url, len, &v);
    jsonl_set(out, "allowed", seine_json_new_bool(v.allowed));
    jsonl_set(out, "rule", text_of(v.rule));
    jsonl_set(out, "line",
              v.line > 0 ? seine_json_new_int(v.line) : seine_json_new_null());
    jsonl_set(out, "group", text_of(v.group));
    jsonl_set(out, "state", jsonl_string("parsed"));
    jsonl_set(out, "crawl_delay",
              delay < 0 ? seine_json_new_null() : jsonl_in(delay, SEINE_SECS(1)));
    for (size_t i = 0; seine_robots_sitemap(r, i, &map); i++)
        jsonl_add(sitemaps, text_of(map));
    jsonl_set(out, "sitemaps", sitemaps);
    return v.allowed;
}

/* One case of --jsonl. What a recorded one expects may stand beside what it asks. */
static bool
answer(const seine_json *in, seine_json *out, reason *why)
{
    bytes robots = {0}, url = {0};
    const char *agent = "seine";
    seine_robots *r = NULL;
    bool good = false;

    if (!jsonl_known(in,
                     "id robots robots_b64 robots_file agent url url_b64 url_file "
                     "google_specific google_agrees allowed file note",
                     why) ||
        !bytes_read(in, "robots", &robots, why) || !bytes_read(in, "url", &url, why) ||
        !jsonl_text(in, "agent", &agent, why))
        goto out;
    if (!robots.ptr || !url.ptr) {
        reason_set(why, "no member '%s'", robots.ptr ? "url" : "robots");
        goto out;
    }
    seine_err e = seine_robots_new(robots.ptr, robots.len, &r);
    if (e != SEINE_OK) {
        reason_set(why, "%s", seine_err_text(e));
        goto out;
    }
    jsonl_set(out, "ok", seine_json_new_bool(true));
    put(r, agent, url.ptr, url.len, out);
    good = true;
out:
    seine_robots_free(r);
    bytes_free(&robots);
    bytes_free(&url);
    return good;
}

/* The first 512 KiB and a byte more, to know of the cut. */
static int
load(const char *path, seine_robots **out_robots)
{
    size_t cap = SEINE_ROBOTS_BYTES + 1;
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text = in ? heap_zeroed(cap, 1) : NULL;
    size_t n = in ? fread(text, 1, cap, in) : 0;
    bool bad = !in || ferror(in);

    if (in && in != stdin)
        fclose(in);
    seine_err e = bad ? SEINE_E_IO : seine_robots_new(text, n, out_robots);
    free(text);
    if (e == SEINE_E_IO)
        return say_fail(SAY_USAGE, "another name", "cannot read '%s'", show(path).text);
    return e == SEINE_OK ? SAY_DONE
                         : say_fail(SAY_MACHINE, NULL, "%s", seine_err_text(e));
}

static int
run_check(const args *a)
{
    const settings *set = a->settings;
    seine_robots *r = NULL;
    bool all = true;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, answer) : SAY_USAGE;
    if (!set->robots || a->count == 0)
        return say_fail(SAY_USAGE, "seine robots check --robots FILE URL",
                        "robots check needs %s",
                        set->robots ? "a URL" : "--robots: this version fetches none");
    int code = load(set->robots, &r);
    for (size_t i = 0; code == SAY_DONE && i < a->count; i++) {
        seine_json *out = heap_json(seine_json_new_object());

        jsonl_set(out, "url", jsonl_string(a->words[i]));
        jsonl_set(out, "agent", jsonl_string(set->agent));
        all = put(r, set->agent, a->words[i], strlen(a->words[i]), out) && all;
        out_json(out);
    }
    seine_robots_free(r);
    return code == SAY_DONE && !all ? SAY_FAILED : code;
}
