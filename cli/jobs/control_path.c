/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/control_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>

int
control_path(const char *dir, struct sockaddr_un *out_address)
{
    int fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    *out_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (fd >= 0)
        snprintf(out_address->sun_path, sizeof out_address->sun_path,
                 "/proc/self/fd/%d/" CONTROL_NAME, fd);
    return fd;
}
