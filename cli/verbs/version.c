/* SPDX-License-Identifier: Apache-2.0 */
#include <seine/console.h>
#include <seine/version.h>

#include "options/help.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    bool json;
} settings;

static int run_version(const args *a);

/* clang-format off */
static const option options[] = {
    {"json", "j", KIND_FLAG, .at = offsetof(settings, json),
     .help = "as one JSON object"},
    {.name = NULL},
};

const command cmd_version = {
    .name = "version",
    .arguments = "",
    .is_aside = true,
    .about = "say which seine this is and what it is built from",
    .text = "Version, commit (where the build knew it), compiler, and the versions of the libraries that are loaded now.",
    .options = options,
    .settings_size = sizeof(settings),
    .run = run_version,
};
/* clang-format on */

#ifndef SEINE_COMMIT
#define SEINE_COMMIT ""
#endif

/* "console": are the pages compiled in? And what they contain of others. */
static void
add_console(seine_json *out)
{
    bool has_pages = false;
    seine_json *pages = xalloc_json(seine_json_new_array());

#ifdef SEINE_HAS_CONSOLE
    const char *name, *version, *licence;

    has_pages = seine_console_has_pages();
    for (size_t i = 0; seine_console_licence_get(i, &name, &version, &licence); i++) {
        seine_json *row = xalloc_json(seine_json_new_object());

        jsonl_set(row, "name", jsonl_string(name));
        jsonl_set(row, "version", jsonl_string(version));
        jsonl_set(row, "licence", jsonl_string(licence));
        jsonl_add(pages, row);
    }
#endif
    jsonl_set(out, "console", xalloc_json(seine_json_new_bool(has_pages)));
    jsonl_set(out, "pages", pages);
}

static const char *
console_word(void)
{
#ifdef SEINE_HAS_CONSOLE
    return seine_console_has_pages() ? "yes" : "no";
#else
    return "no";
#endif
}

static int
print_json(void)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    seine_json *libraries = xalloc_json(seine_json_new_object());
    const char *name, *version;

    for (size_t i = 0; seine_version_library_get(i, &name, &version); i++)
        jsonl_set(libraries, name, jsonl_string(version));
    jsonl_set(out, "version", jsonl_string(seine_version()));
    if (SEINE_COMMIT[0])
        jsonl_set(out, "commit", jsonl_string(SEINE_COMMIT));
    jsonl_set(out, "compiler", jsonl_string(SEINE_COMPILER));
    jsonl_set(out, "libraries", libraries);
    add_console(out);

    seine_json *features = xalloc_json(seine_json_new_array());
    for (size_t i = 0; commands[i]; i++)
        jsonl_add(features, jsonl_string(commands[i]->name));
    jsonl_set(out, "features", features);
    out_json(out);
    return SAY_DONE;
}

int
help_version(void)
{
    const char *name, *version;

    out_print("seine %s\n", seine_version());
    if (SEINE_COMMIT[0])
        out_print("commit     %s\n", SEINE_COMMIT);
    out_print("compiler   %s\nlibraries", SEINE_COMPILER);
    for (size_t i = 0; seine_version_library_get(i, &name, &version); i++)
        out_print("%s %s %s", i ? "," : " ", name, version);
    out_print("\nconsole    %s", console_word());
    out_text("\nfeatures  ");
    for (size_t i = 0; commands[i]; i++)
        out_print("%s %s", i ? "," : "", commands[i]->name);
    out_text("\n");
    return SAY_DONE;
}

static int
run_version(const args *a)
{
    const settings *set = a->settings;

    return set->json ? print_json() : help_version();
}
