/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate_state.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "failing.h"

#define T0   SEINE_SECS(1000)
#define WALL SEINE_SECS(1790000000)

/* A folder of its own, and a gate of 1 token in 10 s, 10 at once. */
typedef struct rig {
    char folder[32], path[64];
    seine_gate_policy policy;
    seine_gate_opts opts;
    seine_gate *gate;
} rig;

static void
restart(rig *r)
{
    seine_gate_free(r->gate);
    r->gate = NULL;
    r->opts.policies = &r->policy;
    CHECK_EQ(seine_gate_new(&r->opts, &r->gate, NULL), SEINE_OK);
}

static void
open_rig(rig *r)
{
    *r = (rig){.folder = "/tmp/gate_state.XXXXXX",
               .policy = SEINE_GATE_POLICY,
               .opts = SEINE_GATE_OPTS};
    CHECK(mkdtemp(r->folder) != NULL);
    snprintf(r->path, sizeof r->path, "%s/state", r->folder);
    r->policy.rate = (seine_rate){1, SEINE_SECS(10), 10};
    r->opts.n_policies = 1;
    restart(r);
}

static void
close_rig(rig *r)
{
    seine_gate_free(r->gate);
    unlink(r->path);
    CHECK_EQ(rmdir(r->folder), 0); /* no temporary file is left */
}

static uint32_t
take(rig *r, unsigned client, unsigned n, seine_time now)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_answer a = {0};

    in.sin_addr.s_addr = htonl(0x0a000000 + client);
    req.peer = (struct sockaddr *)&in;
    for (unsigned i = 0; i < n; i++)
        seine_gate_check(r->gate, &req, now, &a);
    return a.allowed ? a.left : UINT32_MAX;
}

static void
save(rig *r, seine_time now, int64_t wall)
{
    seine_diag d;

    CHECK_EQ(seine_gate_save(r->gate, r->path, now, wall, &d), SEINE_OK);
}

static seine_gate_loaded
load(rig *r, seine_time now, int64_t wall)
{
    seine_gate_loaded was = {0};
    seine_diag d = SEINE_DIAG;

    CHECK_EQ(seine_gate_load(r->gate, r->path, now, wall, &was, &d), SEINE_OK);
    CHECK_STR(d.text, "");
    return was;
}

TEST(gate_state_brings_every_debt_back_less_what_time_has_paid)
{
    rig r;

    open_rig(&r);
    for (unsigned i = 0; i < 500; i++)
        take(&r, i, i % 5, T0);
    save(&r, T0, WALL);
    restart(&r);
    /* Another monotonic clock, 15 s later: who took one owes nothing any more. */
    seine_gate_loaded was = load(&r, SEINE_SECS(7), WALL + SEINE_SECS(15));
    CHECK_EQ(was.age, SEINE_SECS(15));
    CHECK_EQ(was.clients, 300);
    CHECK_EQ(was.left_out, 0);
    for (unsigned i = 0; i < 500; i++) /* 10 - taken + 1.5, less the one of now */
        CHECK_EQ(take(&r, i, 1, SEINE_SECS(7)), i % 5 < 2 ? 9 : 10 - i % 5);
    close_rig(&r);
}

TEST(gate_state_never_lets_a_clock_that_was_set_back_admit_more)
{
    rig r;

    open_rig(&r);
    take(&r, 1, 4, T0);
    save(&r, T0, WALL);
    restart(&r);
    CHECK_EQ(load(&r, T0, WALL - SEINE_SECS(86400)).age, 0);
    CHECK_EQ(take(&r, 1, 1, T0), 5);
    close_rig(&r);
}

TEST(gate_state_keeps_tokens_when_the_rate_has_changed)
{
    rig r;

    open_rig(&r);
    take(&r, 1, 4, T0); /* 6 of 10 are left */
    save(&r, T0, WALL);
    r.policy.rate = (seine_rate){1, SEINE_SECS(1), 30};
    restart(&r);
    CHECK_EQ(load(&r, T0, WALL).clients, 1);
    CHECK_EQ(take(&r, 1, 1, T0), 5);
    CHECK_EQ(take(&r, 2, 1, T0), 29); /* unknown: full */
    close_rig(&r);
}

TEST(gate_state_leaves_out_who_has_no_policy_or_no_place)
{
    rig r;

    open_rig(&r);
    for (unsigned i = 0; i < 100; i++)
        take(&r, i, 2, T0);
    save(&r, T0, WALL);
    r.opts.max_keys = 40;
    restart(&r);
    seine_gate_loaded was = load(&r, T0, WALL);
    CHECK_EQ(was.clients, 40);
    CHECK_EQ(was.left_out, 60);
    r.policy.name = "other";
    restart(&r);
    CHECK_EQ(load(&r, T0, WALL).left_out, 100);
    r.policy.name = "default";
    r.policy.header = "X-Api-Key";
    restart(&r);
    CHECK_EQ(load(&r, T0, WALL).left_out, 100);
    r.policy.header = NULL;
    r.opts.v4_prefix = 24;
    restart(&r);
    CHECK_EQ(load(&r, T0, WALL).left_out, 100);
    close_rig(&r);
}

TEST(gate_state_keeps_the_longest_name_of_a_field_that_a_policy_may_have)
{
    char name[258];
    rig r;

    memset(name, 'x', sizeof name);
    name[255] = '\0';
    open_rig(&r);
    r.policy.header = name;
    restart(&r);
    take(&r, 1, 4, T0);
    save(&r, T0, WALL);
    restart(&r);
    CHECK_EQ(load(&r, T0, WALL).clients, 1);
    name[255] = 'x';
    name[256] = '\0';
    seine_gate *longer = NULL;
    CHECK_EQ(seine_gate_new(&r.opts, &longer, NULL), SEINE_E_CONFIG);
    seine_gate_free(longer);
    close_rig(&r);
}

TEST(gate_state_of_nobody_is_a_file_too)
{
    rig r;
    struct stat st;

    open_rig(&r);
    save(&r, T0, WALL);
    CHECK_EQ(load(&r, T0, WALL).clients, 0);
    CHECK_EQ(stat(r.path, &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    close_rig(&r);
}

static size_t
read_file(const char *path, char *bytes, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, bytes, cap);

    close(fd);
    return n > 0 ? (size_t)n : 0;
}

static void
write_file(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK_EQ(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

static seine_err
try_load(rig *r)
{
    seine_gate_loaded was;
    seine_gate_stats t;
    seine_diag d = SEINE_DIAG;

    restart(r);
    seine_err e = seine_gate_load(r->gate, r->path, T0, WALL, &was, &d);
    seine_gate_stats_get(r->gate, &t);
    CHECK_EQ(t.keys, e == SEINE_OK ? 20 : 0); /* all of it, or none */
    if (e != SEINE_OK)
        CHECK(d.text[0] && strstr(d.file, "state"));
    return e;
}

/* Every byte that is cut off or flipped is noticed. */
TEST(gate_state_refuses_a_file_that_is_damaged_anywhere)
{
    char whole[4096], bad[4096];
    rig r;

    open_rig(&r);
    for (unsigned i = 0; i < 20; i++)
        take(&r, i, 2, T0);
    save(&r, T0, WALL);
    size_t n = read_file(r.path, whole, sizeof whole);
    CHECK(n > 300 && n < sizeof whole);
    CHECK_EQ(try_load(&r), SEINE_OK);
    for (size_t i = 0; i < n; i++) {
        write_file(r.path, whole, i);
        CHECK_EQ(try_load(&r), i < 16 ? SEINE_E_STATE_FOREIGN : SEINE_E_STATE_CORRUPT);
        memcpy(bad, whole, n);
        bad[i] = (char)(bad[i] ^ 0x20);
        write_file(r.path, bad, n);
        CHECK_EQ(try_load(&r), i < 11   ? SEINE_E_STATE_FOREIGN
                               : i < 16 ? SEINE_E_STATE_NEWER
                                        : SEINE_E_STATE_CORRUPT);
    }
    whole[n] = 0;
    write_file(r.path, whole, n + 1); /* something behind the end */
    CHECK_EQ(try_load(&r), SEINE_E_STATE_CORRUPT);
    close_rig(&r);
}

TEST(gate_state_says_what_cannot_be_read_or_written)
{
    seine_gate_loaded was;
    seine_diag d = SEINE_DIAG;
    rig r;

    open_rig(&r);
    CHECK_EQ(seine_gate_load(r.gate, r.path, T0, WALL, &was, &d), SEINE_E_UNKNOWN);
    CHECK_EQ(seine_gate_load(r.gate, r.folder, T0, WALL, &was, &d), SEINE_E_IO);
    CHECK_EQ(seine_gate_save(r.gate, "/nonexistent/x", T0, WALL, &d), SEINE_E_IO);
    CHECK_STR(d.text, "no such file or directory");
    close_rig(&r);
}
