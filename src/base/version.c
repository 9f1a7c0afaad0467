/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/version.h"

#include "base/hash.h"
#include "base/json.h"

const char *
seine_version(void)
{
    return SEINE_VERSION_TEXT;
}

bool
seine_version_library_get(size_t i, const char **out_name, const char **out_version)
{
    if (!out_name || !out_version)
        return false;
    static const struct {
        const char *name, *(*version)(void);
    } libraries[] = {{"jansson", sn_json_version}, {"libcrypto", sn_hash_version}};

    if (i >= sizeof libraries / sizeof *libraries)
        return false;
    *out_name = libraries[i].name;
    *out_version = libraries[i].version();
    return true;
}
