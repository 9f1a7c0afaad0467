/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_show_hosts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_quote.h"
#include "config/host_config.h"
#include "screen/out.h"
#include "screen/say.h"

static void
print_text(const char *key, const seine_config_node *n)
{
    char *clean = config_show_value(key, seine_config_text(n));

    config_quote_print(clean ? clean : "");
    free(clean);
}

/* Values of headers are secrets, whatever their names are. */
static void
print_headers(const seine_config_node *n)
{
    out_text("{");
    for (const seine_config_node *v = seine_config_first(n); v;
         v = seine_config_next(v)) {
        config_quote_print(seine_config_key(v));
        out_text(seine_config_next(v) ? ": \"***\", " : ": \"***\"");
    }
    out_text("}");
}

static void
print_list(const char *key, const seine_config_node *n)
{
    out_text("[");
    for (const seine_config_node *v = seine_config_first(n); v;
         v = seine_config_next(v)) {
        print_text(key, v);
        out_text(seine_config_next(v) ? ", " : "");
    }
    out_text("]");
}

static void
print_key(const char *indent, const char *key, const seine_config_node *n,
          const config_file *file, bool with_origin)
{
    out_print("%s%s: ", indent, key);
    if (seine_config_kind_of(n) == SEINE_CONFIG_MAP)
        print_headers(n);
    else if (seine_config_kind_of(n) == SEINE_CONFIG_LIST)
        print_list(key, n);
    else
        print_text(key, n);
    if (with_origin)
        out_print("  # %s:%" PRIu32, show(file->path).text, seine_config_line(n));
    out_text("\n");
}

static const seine_config_node *
section_of(const config_file *f, const char *section)
{
    return seine_config_get(seine_config_root(f->tree), section);
}

/* The value in the first file that has it. */
static const seine_config_node *
find(const config *c, const char *section, const char *name, const char *key,
     const config_file **out_file)
{
    for (size_t i = 0; c && i < c->count; i++) {
        const seine_config_node *n = seine_config_get(
            seine_config_get(section_of(&c->files[i], section), name), key);

        if (n) {
            *out_file = &c->files[i];
            return n;
        }
    }
    return NULL;
}

/* Does an earlier file have the entry, too? */
static bool
was_shown(const config *c, size_t file, const char *section, const char *name)
{
    for (size_t i = 0; i < file; i++)
        if (seine_config_get(section_of(&c->files[i], section), name))
            return true;
    return false;
}

static void
each_key(const config *c, const char *section, const char *name, config_key_fn fn,
         void *arg)
{
    const config_file *file = NULL;
    const seine_config_node *v = find(c, section, name, "match", &file);

    if (v)
        fn(section, name, "match", v, file, arg);
    for (size_t k = 0; host_config_keys[k]; k++)
        if ((v = find(c, section, name, host_config_keys[k], &file)))
            fn(section, name, host_config_keys[k], v, file, arg);
}

/* Calls `begin` before the keys of an entry, unless it is NULL. */
static void
each_entry(const config *c, const char *section, config_key_fn begin, config_key_fn fn,
           void *arg)
{
    for (size_t i = 0; i < c->count; i++)
        for (const seine_config_node *n =
                 seine_config_first(section_of(&c->files[i], section));
             n; n = seine_config_next(n)) {
            const char *name = seine_config_key(n);

            if (was_shown(c, i, section, name))
                continue;
            if (begin)
                begin(section, name, NULL, NULL, NULL, arg);
            each_key(c, section, name, fn, arg);
        }
}

typedef struct printing {
    bool with_origin, is_begun;
} printing;

static void
print_entry(const char *section, const char *name, const char *key,
            const seine_config_node *v, const config_file *file, void *arg)
{
    printing *p = arg;

    (void)key, (void)v, (void)file;
    out_print("%s%s  ", p->is_begun ? "" : section, p->is_begun ? "" : ":\n");
    p->is_begun = true;
    config_quote_print(name);
    out_text(":\n");
}

static void
print_entry_key(const char *section, const char *name, const char *key,
                const seine_config_node *v, const config_file *file, void *arg)
{
    const printing *p = arg;

    (void)section, (void)name;
    print_key("    ", key, v, file, p->with_origin);
}

void
config_show_sections(const config *c, bool with_origin)
{
    static const char *const sections[] = {"hosts", "groups"};

    for (size_t i = 0; c && i < 2; i++) {
        printing p = {with_origin, false};

        each_entry(c, sections[i], print_entry, print_entry_key, &p);
    }
}

void
config_show_each(const config *c, config_key_fn fn, void *arg)
{
    if (!c)
        return;
    each_entry(c, "hosts", NULL, fn, arg);
    each_entry(c, "groups", NULL, fn, arg);
}

bool
config_show_key(const config *c, const char *host, const char *key, bool with_origin)
{
    const config_file *file = NULL, *best_file = NULL;
    const seine_config_node *best = NULL;
    uint32_t most = 0;

    for (size_t i = 0; c && i < c->count; i++)
        for (const seine_config_node *n =
                 seine_config_first(section_of(&c->files[i], "hosts"));
             n; n = seine_config_next(n)) {
            seine_host_opts o = SEINE_HOST_OPTS;

            o.match = seine_config_key(n);
            uint32_t rank = seine_host_opts_rank(&o, host);
            const seine_config_node *v =
                rank > most ? find(c, "hosts", o.match, key, &file) : NULL;
            if (v) {
                best = v;
                best_file = file;
                most = rank;
            }
        }
    if (best)
        print_key("", key, best, best_file, with_origin);
    return best != NULL;
}
