/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crashpoint.h"

#ifdef SEINE_CRASHPOINTS
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
sn_crashpoint(const char *name)
{
    static _Atomic unsigned long times;
    const char *plan = secure_getenv("SEINE_CRASH");
    size_t n = plan ? strcspn(plan, "@") : 0;

    if (!plan || strlen(name) != n || strncmp(plan, name, n) != 0)
        return;
    unsigned long at = plan[n] == '@' ? strtoul(plan + n + 1, NULL, 10) : 1;
    if (atomic_fetch_add(&times, 1) + 1 == at)
        (void)kill(getpid(), SIGKILL);
}
#else
typedef int sn_crashpoint_is_off; /* a file is not empty */
#endif
