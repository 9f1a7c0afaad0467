/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/config.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "recipe/mistakes.h"
#include "recipe/near_word.h"
#include "recipe/yaml.h"

/* A node of the contract is a node of the tree. */
struct seine_config_node {
    sn_yaml yaml;
};

struct seine_config {
    sn_arena arena;
    const sn_yaml *root;
    sn_mistakes mistakes;
    seine_diag wrong[SEINE_DIAG_MAX];
};

static const sn_yaml *
yaml_of(const seine_config_node *n)
{
    return n ? &n->yaml : NULL;
}

static const seine_config_node *
node_of(const sn_yaml *y)
{
    return (const seine_config_node *)y;
}

static void
tell(seine_config *c, const sn_yaml *at, const char *text)
{
    sn_mistakes_add(&c->mistakes, at ? at->line : 1, at ? at->col : 1, text);
}

static void
tell_repeated(const sn_yaml *again, const sn_yaml *first, void *arg)
{
    seine_config *c = arg;
    char text[SEINE_DIAG_TEXT];

    snprintf(text, sizeof text, "key '%.*s' stands twice; the first is in line %u",
             again->text.len < 40 ? (int)again->text.len : 40, again->text.ptr,
             first->line);
    tell(c, again, text);
}

static seine_err
read_tree(seine_config *c, sn_str text)
{
    seine_diag fault = SEINE_DIAG;
    sn_yaml *root = NULL;

    if (!sn_yaml_read_loose(text, &c->arena, &root, &fault)) {
        if (!fault.text[0])
            return SEINE_E_NOMEM;
        sn_mistakes_add(&c->mistakes, fault.line, fault.column, fault.text);
        return SEINE_OK;
    }
    if (sn_yaml_is_null(root))
        return SEINE_OK;
    if (root->kind != SN_YAML_MAP) {
        tell(c, root, "a configuration is a map of keys and values; try host-rate: 5/s");
        return SEINE_OK;
    }
    const sn_yaml_repeats repeats = {sn_yaml_same_key, tell_repeated, c};
    if (!sn_yaml_repeats_find(root, &repeats))
        return SEINE_E_NOMEM;
    c->root = root;
    return SEINE_OK;
}

seine_err
seine_config_parse(const char *yaml, size_t len, const char *name,
                   seine_config **out_config)
{
    if (!out_config || (!yaml && len > 0))
        return SEINE_E_INVAL;
    seine_config *c = sn_zalloc(sizeof *c);
    if (!c)
        return SEINE_E_NOMEM;
    sn_arena_init(&c->arena, 4096, SIZE_MAX);
    c->mistakes = (sn_mistakes){.all = c->wrong};
    seine_err e = SEINE_OK;
    if (name && !(c->mistakes.file = sn_arena_text(&c->arena, sn_str_of(name))))
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = read_tree(c, (sn_str){yaml ? yaml : "", len});
    if (e != SEINE_OK) {
        seine_config_free(c);
        return e;
    }
    *out_config = c;
    return SEINE_OK;
}

void
seine_config_free(seine_config *c)
{
    if (!c)
        return;
    sn_arena_wipe(&c->arena); /* it may hold passwords */
    sn_arena_fini(&c->arena);
    sn_free(c);
}

const seine_config_node *
seine_config_root(const seine_config *c)
{
    return c ? node_of(c->root) : NULL;
}

seine_config_kind
seine_config_kind_of(const seine_config_node *n)
{
    const sn_yaml *y = yaml_of(n);

    return !y || y->kind == SN_YAML_SCALAR ? SEINE_CONFIG_TEXT
           : y->kind == SN_YAML_LIST       ? SEINE_CONFIG_LIST
                                           : SEINE_CONFIG_MAP;
}

const char *
seine_config_text(const seine_config_node *n)
{
    const sn_yaml *y = yaml_of(n);

    return y && y->kind == SN_YAML_SCALAR ? y->text.ptr : "";
}

const char *
seine_config_key(const seine_config_node *n)
{
    const sn_yaml *y = yaml_of(n);

    return y && y->key ? y->key->text.ptr : "";
}

const seine_config_node *
seine_config_first(const seine_config_node *n)
{
    return n ? node_of(n->yaml.first) : NULL;
}

const seine_config_node *
seine_config_next(const seine_config_node *n)
{
    return n ? node_of(n->yaml.next) : NULL;
}

const seine_config_node *
seine_config_get(const seine_config_node *map, const char *key)
{
    sn_str want = sn_str_of(key ? key : "");

    for (const sn_yaml *v = map ? map->yaml.first : NULL; v && key; v = v->next)
        if (v->key && sn_yaml_same_key(v->key->text, want))
            return node_of(v);
    return NULL;
}

uint32_t
seine_config_line(const seine_config_node *n)
{
    return n ? n->yaml.line : 0;
}

uint32_t
seine_config_column(const seine_config_node *n)
{
    return n ? n->yaml.col : 0;
}

bool
seine_config_is_null(const seine_config_node *n)
{
    return sn_yaml_is_null(yaml_of(n));
}

void
seine_config_wrong(seine_config *c, const seine_config_node *at, const char *text)
{
    if (c && text)
        tell(c, yaml_of(at), text);
}

void
seine_config_wrong_key(seine_config *c, const seine_config_node *at, const char *text)
{
    const sn_yaml *y = yaml_of(at);

    if (c && text)
        tell(c, y && y->key ? y->key : y, text);
}

static bool
is_known(sn_str key, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (sn_yaml_same_key(key, sn_str_of(words[i])))
            return true;
    return false;
}

bool
seine_config_knows(seine_config *c, const seine_config_node *at, const char *where,
                   const char *const *words, const char *hint)
{
    const sn_yaml *y = yaml_of(at);
    char text[SEINE_DIAG_TEXT];

    if (!c || !y || !y->key || !where || !words)
        return false;
    sn_str key = y->key->text;
    if (is_known(key, words))
        return true;
    const char *near = sn_near_word(key, words);
    snprintf(text, sizeof text, "unknown key '%.*s' in %.40s%s%.60s",
             key.len < 30 ? (int)key.len : 30, key.ptr, where,
             near || hint ? "; try " : "",
             near   ? near
             : hint ? hint
                    : "");
    tell(c, y->key, text);
    return false;
}

const seine_diag *
seine_config_mistake(const seine_config *c, size_t i)
{
    return c && i < c->mistakes.count && i < SEINE_DIAG_MAX ? &c->wrong[i] : NULL;
}
