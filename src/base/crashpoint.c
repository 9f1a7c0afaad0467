/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crashpoint.h"

#ifdef SEINE_CRASHPOINTS
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is this the place of the plan, and the time? */
static bool
is_due(const char *name)
{
    static _Atomic unsigned long times;
    const char *plan = secure_getenv("SEINE_CRASH");
    size_t n = plan ? strcspn(plan, "@") : 0;

    if (!plan || strlen(name) != n || strncmp(plan, name, n) != 0)
        return false;
    unsigned long at = plan[n] == '@' ? strtoul(plan + n + 1, NULL, 10) : 1;
    return atomic_fetch_add(&times, 1) + 1 == at;
}

void
sn_crashpoint(const char *name)
{
    if (is_due(name))
        (void)kill(getpid(), SIGKILL);
}

void
sn_crashpoint_half(const char *name, int fd, const char *bytes, size_t n)
{
    if (!is_due(name))
        return;
    (void)!write(fd, bytes, n / 2 + n % 2);
    (void)kill(getpid(), SIGKILL);
}
#else
typedef int sn_crashpoint_is_off; /* a file is not empty */
#endif
