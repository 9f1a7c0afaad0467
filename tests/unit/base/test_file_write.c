/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* Each test has a directory of its own, and works in it. */
typedef struct home {
    char path[64];
} home;

static home
enter(void)
{
    home h = {"/tmp/seine-file_write-XXXXXX"};

    CHECK(mkdtemp(h.path) != NULL);
    CHECK_EQ(chdir(h.path), 0);
    return h;
}

static void
put(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static const char *
text_of(const char *name)
{
    static char text[64];
    int fd = open(name, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);

    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static int
count_files(void)
{
    DIR *dir = opendir(".");
    int n = 0;

    for (struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] != '.' || strncmp(d->d_name, ".seine", 6) == 0;
    closedir(dir);
    return n;
}

static void
leave(home h, const char *const *names)
{
    for (; *names; names++)
        unlink(*names);
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(rmdir(h.path), 0);
}

#define LEAVE(h, ...) leave(h, (const char *const[]){__VA_ARGS__, NULL})

static bool
replace(const char *path, const char *text)
{
    return sn_file_replace(path, text, strlen(text), SN_FILE_QUICK);
}

TEST(file_write_replaces_a_file_and_leaves_nothing_beside_it)
{
    home h = enter();

    put("a", "old");
    CHECK(replace("a", "new"));
    CHECK_STR(text_of("a"), "new");
    CHECK(sn_file_replace("./b", "synced", 6, SN_FILE_SYNCED));
    CHECK_STR(text_of("b"), "synced");
    CHECK_EQ(count_files(), 2);
    LEAVE(h, "a", "b");
}

TEST(file_write_replaces_a_link_and_never_what_it_leads_to)
{
    home h = enter();
    struct stat st;

    put("victim", "precious");
    CHECK_EQ(symlink("victim", "a"), 0);
    CHECK(replace("a", "new"));
    CHECK_STR(text_of("victim"), "precious");
    CHECK(lstat("a", &st) == 0 && S_ISREG(st.st_mode));
    CHECK_EQ(symlink("nowhere", "b"), 0);
    CHECK(replace("b", "new"));
    CHECK_EQ(access("nowhere", F_OK), -1);
    LEAVE(h, "a", "b", "victim");
}

TEST(file_write_replaces_a_hard_link_and_not_the_other_name)
{
    home h = enter();

    put("victim", "precious");
    CHECK_EQ(link("victim", "a"), 0);
    CHECK(replace("a", "new"));
    CHECK_STR(text_of("victim"), "precious");
    LEAVE(h, "a", "victim");
}

TEST(file_write_that_is_given_up_leaves_the_old_file)
{
    home h = enter();
    sn_file_new f;

    put("a", "old");
    CHECK(sn_file_begin(&f, "a", 0600));
    CHECK(sn_file_write(f.fd, "half", 4));
    CHECK_EQ(count_files(), 2);
    errno = ENOSPC;
    CHECK(!sn_file_end(&f, false, SN_FILE_SYNCED));
    CHECK_EQ(errno, ENOSPC);
    CHECK_STR(text_of("a"), "old");
    CHECK_EQ(count_files(), 1);
    LEAVE(h, "a");
}

TEST(file_write_says_why_there_is_no_file)
{
    home h = enter();

    CHECK_EQ(mkdir("d", 0700), 0);
    CHECK(!replace("d", "x"));
    CHECK_EQ(errno, EISDIR);
    CHECK(!replace("d/", "x"));
    CHECK_EQ(errno, EISDIR);
    CHECK(!replace("no/a", "x"));
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(count_files(), 1);
    CHECK_EQ(rmdir("d"), 0);
    LEAVE(h, "a");
}

TEST(file_write_goes_to_devices_and_descriptors_themselves)
{
    home h = enter();
    struct stat st;
    int ends[2];
    char path[32], got[8] = "";

    CHECK(replace("/dev/null", "x"));
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    CHECK_EQ(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    CHECK(replace(path, "pipe"));
    CHECK(read(ends[0], got, sizeof got - 1) == 4);
    CHECK_STR(got, "pipe");
    int fd = sn_file_append(path);
    CHECK(fd >= 0 && fd != ends[1]);
    close(fd);
    close(ends[0]);
    close(ends[1]);
    LEAVE(h, "a");
}

TEST(file_write_appends_to_files_and_not_through_links)
{
    home h = enter();

    put("log", "one ");
    int fd = sn_file_append("log");
    CHECK(sn_file_write(fd, "two", 3));
    close(fd);
    CHECK_STR(text_of("log"), "one two");
    CHECK_EQ(symlink("log", "link"), 0);
    CHECK_EQ(sn_file_append("link"), -1);
    CHECK_EQ(errno, ELOOP);
    CHECK_EQ(symlink("nowhere", "lost"), 0);
    CHECK_EQ(sn_file_append("lost"), -1);
    CHECK_EQ(errno, ELOOP);
    CHECK_EQ(access("nowhere", F_OK), -1);
    LEAVE(h, "log", "link", "lost");
}
