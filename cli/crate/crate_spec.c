/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/crate_spec.h"

#include <stdlib.h>
#include <string.h>

#include <seine/semver.h>

#include "screen/say.h"
#include "screen/xalloc.h"

enum { LONGEST_NAME = 64 };

static bool
is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_';
}

bool
crate_name_is_valid(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_name_char(name[i]))
            return false;
    return len > 0 && len <= LONGEST_NAME;
}

bool
crate_version_is_valid(const char *text, size_t len)
{
    seine_semver v;

    return seine_semver_parse(text, len, &v) == SEINE_OK;
}

static int
folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        c = (char)(c - 'A' + 'a');
    return c == '-' ? '_' : (unsigned char)c;
}

int
crate_name_cmp(const char *a, const char *b)
{
    while (*a && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return folded(*a) - folded(*b);
}

bool
crate_name_is_same(const char *a, const char *b)
{
    return crate_name_cmp(a, b) == 0;
}

bool
crate_spec_read(const char *word, crate_spec *out, reason *why)
{
    size_t n = strcspn(word, "@");
    const char *version = word[n] ? word + n + 1 : NULL;

    if (!crate_name_is_valid(word, n))
        return reason_set(why,
                          "'%s': the name of a crate has letters, digits, - and _, at "
                          "most 64 of them",
                          show(word).text);
    if (version && !crate_version_is_valid(version, strlen(version)))
        return reason_set(why, "'%s': '%s' is no version like 1.2.3", show(word).text,
                          show(version).text);
    *out = (crate_spec){xalloc_copy(word, n),
                        version ? xalloc_copy(version, strlen(version)) : NULL};
    return true;
}

void
crate_spec_fini(crate_spec *spec)
{
    free(spec->name);
    free(spec->version);
    *spec = (crate_spec){NULL, NULL};
}
