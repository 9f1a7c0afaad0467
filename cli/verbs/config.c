/* SPDX-License-Identifier: Apache-2.0 */
/* Settings and where they come from. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/config_init.h"
#include "config/config_sections.h"
#include "config/config_show.h"
#include "screen/out.h"
#include "screen/say.h"
#include "verbs/verbs.h"

typedef struct settings {
    bool origin;
    const char *host;
} settings;

static int run_show(const args *a);
static int run_check(const args *a);
static int run_path(const args *a);
static int run_init(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option show_options[] = {
    {"origin", NULL, KIND_FLAG, AT(origin),
     .help = "where each value comes from, as a comment"},
    {"host", NULL, KIND_TEXT, "HOST", AT(host),
     .help = "what holds for this host, of the settings that hosts may have"},
    {.name = NULL},
};

static const example show_examples[] = {
    {"seine config show --origin", "Every setting of `seine fetch`, and who has set it:"},
    {"seine config show crawl -- --depth 3", "Those of a crawl, as if this were typed:"},
    {"seine config show --host www.example.com --origin", "How is this host treated?"},
    {NULL, NULL},
};
static const example check_examples[] = {
    {"seine config check", "The files that count here:"},
    {NULL, NULL},
};
static const example path_examples[] = {
    {"seine config path", "Which files are read here?"},
    {NULL, NULL},
};
static const example init_examples[] = {
    {"seine config init > seine.yaml", "A file to begin with; every line of it is a comment:"},
    {NULL, NULL},
};

const command cmd_config_show = {
    .name = "config show",
    .arguments = "[COMMAND] [-- OPTION…]",
    .about = "print the settings in force and where they come from",
    .is_aside = true,
    .text = "The output is a configuration file itself. Options of the command line win, then the environment, then ./seine.yaml, then the user's file, then defaults. "
            "Secrets are ***.",
    .options = show_options,
    .examples = show_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_show,
};
const command cmd_config_check = {
    .name = "config check",
    .arguments = "[FILE…]",
    .about = "look for mistakes in configuration files",
    .is_aside = true,
    .text = "Up to twenty mistakes of a file are shown, with line and column. Without a FILE those that count here are checked, who may write them included.",
    .examples = check_examples,
    .max_args = SIZE_MAX,
    .run = run_check,
};
const command cmd_config_path = {
    .name = "config path",
    .arguments = "",
    .about = "print which configuration files are read",
    .is_aside = true,
    .text = "One line per file that exists, the strongest first.",
    .examples = path_examples,
    .run = run_path,
};
const command cmd_config_init = {
    .name = "config init",
    .arguments = "",
    .about = "print a configuration file to begin with",
    .is_aside = true,
    .text = "Every setting with its default and what it means; every line is a comment.",
    .examples = init_examples,
    .run = run_init,
};
/* clang-format on */

static int
run_show(const args *a)
{
    const settings *set = a->settings;
    config_show_opts o = {
        .with_origin = set->origin, .host = set->host, .config_path = a->config_path};

    return config_show(&o, a->words, a->count);
}

static int
check_one(const char *path)
{
    config_file f;
    int code = config_read(path, true, &f, NULL);

    if (code == SAY_DONE) {
        config_sections_check(f.tree);
        code = config_is_fine(&f, NULL) ? SAY_DONE : SAY_USAGE;
    }
    if (code == SAY_DONE)
        out_print("ok  %s\n", show(path).text);
    config_close(&f);
    return code;
}

static int
check_all(const args *a)
{
    config *c;
    int code = config_load(a->config_path, &c, NULL);

    for (size_t i = 0; code == SAY_DONE && i < c->count; i++)
        out_print("ok  %s\n", show(c->files[i].path).text);
    if (code == SAY_DONE && c->count == 0 && !a->quiet)
        say_note("there is no configuration file here; `seine config init` prints one");
    config_free(c);
    return code;
}

static int
run_check(const args *a)
{
    int code = a->count == 0 ? check_all(a) : SAY_DONE;

    for (size_t i = 0; i < a->count; i++)
        if (check_one(a->words[i]) != SAY_DONE)
            code = SAY_USAGE;
    return code;
}

static int
run_path(const args *a)
{
    size_t found = 0;
    char *path;

    for (size_t i = 0; !a->config_path && (path = config_place(i)); i++) {
        if (access(path, F_OK) == 0) {
            out_print("%s\n", path);
            found++;
        }
        free(path);
    }
    if (a->config_path && a->config_path[0]) {
        out_print("%s\n", a->config_path);
        found++;
    }
    if (found == 0 && !a->quiet)
        say_note("no configuration file is read here; `seine config init` prints one");
    return SAY_DONE;
}

static int
run_init(const args *a)
{
    (void)a;
    config_init_print();
    return SAY_DONE;
}
