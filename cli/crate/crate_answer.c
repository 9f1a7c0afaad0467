/* SPDX-License-Identifier: Apache-2.0 */
/* What the registry answers: three objects, of which unknown members are ignored. */
#include <stdlib.h>
#include <string.h>

#include <seine/semver.h>
#include <seine/timestamp.h>

#include "crate/crate.h"
#include "crate/crate_spec.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { NS = 1000000000 };

/* A member counts as present only if it is a text that is not empty. One with a zero in
 * it ends there. */
static const char *
text_of(const seine_json *object, const char *name)
{
    const char *text;
    size_t n;

    return seine_json_string(seine_json_get(object, name), &text, &n) && text[0] ? text
                                                                                 : NULL;
}

/* crates.io may say what is wrong in {"errors":[{"detail":"…"}]}. */
static const seine_json *
object_of(const seine_json *answer, const char *name, reason *why)
{
    const seine_json *o = seine_json_get(answer, name);
    const char *detail =
        text_of(seine_json_at(seine_json_get(answer, "errors"), 0), "detail");

    if (seine_json_type_of(o) == SEINE_JSON_OBJECT)
        return o;
    if (detail) {
        reason_set(why, "'%s'", show(detail).text);
        return NULL;
    }
    reason_set(why, "'%s' is %s where an object is wanted", name,
               o ? seine_json_type_name(seine_json_type_of(o)) : "missing");
    return NULL;
}

/* A count that may be missing: it is 0 then. */
static bool
count_of(const seine_json *object, const char *name, uint64_t *out, reason *why)
{
    const seine_json *value = seine_json_get(object, name);
    int64_t n = 0;

    if (seine_json_type_of(value) != SEINE_JSON_NULL &&
        (!seine_json_int(value, &n) || n < 0))
        return reason_set(why, "'%s' is no count", name);
    *out = (uint64_t)n;
    return true;
}

static bool
is_list(const seine_json *json)
{
    return seine_json_type_of(json) == SEINE_JSON_ARRAY;
}

/* The list of the crate, or else that at the top, whose elements are objects. */
static const seine_json *
list_of(const seine_json *answer, const seine_json *crate, const char *name)
{
    const seine_json *own = seine_json_get(crate, name);
    const seine_json *top = seine_json_get(answer, name);

    if (is_list(own))
        return own;
    return is_list(top) ? top : NULL;
}

/* The status of the badge "maintenance". */
static const char *
badge_of(const seine_json *crate)
{
    const seine_json *badges = seine_json_get(crate, "badges");

    for (size_t i = 0; is_list(badges) && i < seine_json_size(badges); i++) {
        const seine_json *one = seine_json_at(badges, i);
        const char *type = text_of(one, "badge_type");

        if (type && strcmp(type, "maintenance") == 0)
            return text_of(seine_json_get(one, "attributes"), "status");
    }
    return NULL;
}

/* Unix time in seconds; 0: no time. */
static int64_t
time_of(const seine_json *object, const char *name)
{
    const char *text = text_of(object, name), *end;
    seine_timestamp t;

    end = text ? seine_timestamp_rfc3339(text, &t) : NULL;
    return end && !*end ? t.wall / NS : 0;
}

static bool
is_true(const seine_json *object, const char *name)
{
    bool value;

    return seine_json_bool(seine_json_get(object, name), &value) && value;
}

/* The newest of the versions that are not yanked, and whether there is any. */
static void
read_versions(crate_facts *f, const seine_json *versions, const seine_json *crate)
{
    size_t n = is_list(versions) ? seine_json_size(versions) : 0, left = 0;

    for (size_t i = 0; i < n; i++) {
        const seine_json *v = seine_json_at(versions, i);
        int64_t at = time_of(v, "created_at");

        if (is_true(v, "yanked"))
            continue;
        left++;
        if (at > f->released)
            f->released = at;
    }
    f->is_yanked = is_true(crate, "yanked") || (n > 0 && left == 0);
}

bool
crate_answer_crate(crate_facts *f, seine_json *give, const char *asked, reason *why)
{
    seine_json_free(f->crate);
    f->crate = give;
    const seine_json *crate = object_of(give, "crate", why);
    const char *name = crate ? text_of(crate, "name") : NULL;

    if (!crate)
        return false;
    if (!name)
        name = text_of(crate, "id");
    if (!name)
        name = asked;
    if (!crate_name_is_valid(name, strlen(name)) || !crate_name_is_same(name, asked))
        return reason_set(why, "it is about '%s'", show(name).text);
    if (!seine_json_get(crate, "downloads"))
        return reason_set(why, "'downloads' is missing");
    if (!count_of(crate, "downloads", &f->downloads, why) ||
        !count_of(crate, "recent_downloads", &f->recent, why))
        return false;
    free(f->name);
    f->name = xalloc_copy(name, strlen(name));
    f->documentation = text_of(crate, "documentation");
    f->repository = text_of(crate, "repository");
    f->homepage = text_of(crate, "homepage");
    f->description = text_of(crate, "description");
    f->keywords = list_of(give, crate, "keywords");
    f->categories = list_of(give, crate, "categories");
    f->badge = badge_of(crate);
    read_versions(f, seine_json_get(give, "versions"), crate);
    return true;
}

bool
crate_answer_version(crate_facts *f, seine_json *give, reason *why)
{
    seine_json_free(f->version);
    f->version = give;
    const seine_json *version = object_of(give, "version", why);
    const char *num = version ? text_of(version, "num") : NULL;

    if (!version)
        return false;
    if (num && strcmp(num, f->num) != 0)
        return reason_set(why, "it is about version '%s'", show(num).text);
    f->license = text_of(version, "license");
    if (f->released == 0 && !is_true(version, "yanked"))
        f->released = time_of(version, "created_at");
    return true;
}

static bool
is_list_of_texts(const seine_json *list)
{
    const char *text;
    size_t n;

    for (size_t i = 0; i < seine_json_size(list); i++)
        if (!seine_json_string(seine_json_at(list, i), &text, &n))
            return false;
    return is_list(list);
}

static bool
read_dependency(crate_facts *f, const seine_json *one, reason *why)
{
    static const char *const kinds[] = {"normal", "dev", "build"};
    const seine_json *features = seine_json_get(one, "features");
    const char *word = text_of(one, "kind");
    crate_dep d = {DEP_NORMAL, text_of(one, "crate_id"), text_of(one, "req"), NULL};

    if (!d.name || !d.req)
        return reason_set(why, "a dependency has no 'crate_id' and 'req'");
    if (seine_json_type_of(features) != SEINE_JSON_NULL) {
        if (!is_list_of_texts(features))
            return reason_set(why, "'features' of '%s' is no list of texts",
                              show(d.name).text);
        d.features = features;
    }
    for (int i = DEP_NORMAL; word && i <= DEP_BUILD; i++)
        if (strcmp(word, kinds[i]) == 0)
            d.kind = (dep_kind)i;
    f->deps = xalloc_room(f->deps, f->n_deps, &f->deps_cap, sizeof *f->deps);
    f->deps[f->n_deps++] = d;
    return true;
}

bool
crate_answer_dependencies(crate_facts *f, seine_json *give, reason *why)
{
    const seine_json *list = seine_json_get(give, "dependencies");

    seine_json_free(f->dependencies);
    f->dependencies = give;
    f->n_deps = 0;
    if (!is_list(list))
        return reason_set(why, "'dependencies' is no list");
    for (size_t i = 0; i < seine_json_size(list); i++)
        if (!read_dependency(f, seine_json_at(list, i), why))
            return false;
    return true;
}

/* Which versions of an answer count. */
typedef struct choice {
    const char *text; /* a requirement; NULL: every version fits */
    seine_semver_req req;
    bool with_yanked;
} choice;

/* A pre-release fits only a requirement that names one. */
static bool
fits(const choice *c, const seine_json *one, const char *num, seine_semver *out)
{
    if (!num || (!c->with_yanked && is_true(one, "yanked")) ||
        seine_semver_parse(num, strlen(num), out) != SEINE_OK)
        return false;
    return !c->text || ((!out->pre.ptr || strchr(c->text, '-')) &&
                        seine_semver_req_matches(&c->req, out));
}

static const char *
newest(const choice *c, const seine_json *versions)
{
    seine_semver v, best = {0};
    const char *found = NULL;

    for (size_t i = 0; is_list(versions) && i < seine_json_size(versions); i++) {
        const seine_json *one = seine_json_at(versions, i);
        const char *num = text_of(one, "num");

        if (fits(c, one, num, &v) && (!found || seine_semver_cmp(&v, &best) > 0)) {
            found = num;
            best = v;
        }
    }
    return found;
}

/* One that is not yanked, or else one that is. */
static const char *
newest_to_have(choice *c, const seine_json *versions)
{
    const char *found = newest(c, versions);

    c->with_yanked = true;
    return found ? found : newest(c, versions);
}

/* The version that the member names. crates.io names 0.0.0, which is none of the
 * versions, where all of them are yanked. */
static const char *
named(const seine_json *crate, const char *member, const seine_json *versions)
{
    const char *num = text_of(crate, member), *listed;
    bool is_there = !is_list(versions) || seine_json_size(versions) == 0;

    if (!num || !crate_version_is_valid(num, strlen(num)))
        return NULL;
    for (size_t i = 0; !is_there && i < seine_json_size(versions); i++) {
        listed = text_of(seine_json_at(versions, i), "num");
        is_there = listed && strcmp(listed, num) == 0;
    }
    return is_there ? num : NULL;
}

const char *
crate_pick_version(const crate_facts *f, const char *req, bool stable, reason *why)
{
    const seine_json *crate = seine_json_get(f->crate, "crate");
    const seine_json *versions = seine_json_get(f->crate, "versions");
    choice c = {0};
    const char *found = NULL;

    if (req && is_list(versions) && seine_json_size(versions) > 0 &&
        seine_semver_req_parse(req, strlen(req), &c.req) == SEINE_OK) {
        c.text = req;
        found = newest_to_have(&c, versions);
        if (!found)
            reason_set(why, "no version fits '%s'", show(req).text);
        return found;
    }
    if (stable)
        found = named(crate, "max_stable_version", versions);
    if (!found)
        found = named(crate, "max_version", versions);
    if (!found)
        found = newest_to_have(&c, versions);
    if (!found)
        reason_set(why, "the answer names no version");
    return found;
}
