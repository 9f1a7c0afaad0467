/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/version.h"

#include "base/json.h"

const char *
seine_version(void)
{
    return SEINE_VERSION;
}

bool
seine_version_library(size_t i, const char **out_name, const char **out_version)
{
    if (i > 0)
        return false;
    *out_name = "jansson";
    *out_version = sn_json_version();
    return true;
}
