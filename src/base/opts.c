/* SPDX-License-Identifier: Apache-2.0 */
#include "base/opts.h"

#include <string.h>

#define MOST 65536 /* a size beyond this is garbage, and its bytes are not looked at */

bool
sn_opts_fit(const void *opts, size_t size)
{
    const char *bytes = opts;
    size_t given;

    if (!opts)
        return false;
    memcpy(&given, bytes, sizeof given);
    if (given < size || given > MOST)
        return false;
    for (size_t i = size; i < given; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

bool
sn_opts_read(void *own, size_t size, size_t first, const void *given)
{
    size_t has;

    if (!given)
        return false;
    memcpy(&has, given, sizeof has);
    if (has < first || (has > size && !sn_opts_fit(given, size)))
        return false;
    memset(own, 0, size);
    memcpy(own, given, has < size ? has : size);
    memcpy(own, &size, sizeof size);
    return true;
}
