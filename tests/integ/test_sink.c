/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs on a real file system and through real pipes: what is refused, what is kept
 * when there is no room, who waits for whom. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <seine/plumbing.h>
#include <seine/sink.h>

#include "check.h"
#include "diag_line.h"
#include "failing.h"

static char dir[] = "/tmp/seine-sink-XXXXXX";

__attribute__((constructor)) static void
enter(void)
{
    if (!mkdtemp(dir) || chdir(dir) != 0)
        exit(2);
}

__attribute__((destructor)) static void
leave(void)
{
    if (chdir("/") == 0)
        rmdir(dir);
}

static seine_err
try_open(const char *path, bool append, bool overwrite, seine_diag *diag)
{
    seine_sinks *s = NULL;

    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    *diag = (seine_diag)SEINE_DIAG;
    seine_err e = seine_sinks_open(s,
                                   &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                      .path = path,
                                                      .append = append,
                                                      .overwrite = overwrite},
                                   diag);
    seine_sinks_free(s);
    return e;
}

static void
make_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static char *
read_file(const char *path, size_t *out_n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st = {0};

    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    char *text = calloc(1, (size_t)st.st_size + 1);
    CHECK_EQ(read(fd, text, (size_t)st.st_size), st.st_size);
    close(fd);
    if (out_n)
        *out_n = (size_t)st.st_size;
    return text;
}

static void
check_file(const char *path, const char *want)
{
    char *text = read_file(path, NULL);

    CHECK_STR(text, want);
    free(text);
}

/* Opens, writes n small records, closes. */
static seine_err
write_some(seine_sink_opts opts, int n, seine_diag *diag)
{
    seine_sinks *s = NULL;

    *diag = (seine_diag)SEINE_DIAG;
    CHECK_EQ(seine_members_parse("seq,url", &opts.fields, NULL), SEINE_OK);
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    seine_err e = seine_sinks_open(s, &opts, diag);
    if (e == SEINE_OK)
        e = seine_sinks_start(s, 1);
    for (int i = 0; i < n && e == SEINE_OK; i++)
        e = seine_sinks_put(s, 0, &(seine_record){.url = {"u", 1}, .content_length = -1});
    if (e == SEINE_OK)
        e = seine_sinks_close(s);
    if (e != SEINE_OK && diag->text[0] == '\0')
        seine_sinks_err(s, diag);
    seine_sinks_free(s);
    return e;
}

TEST(sink_file_that_exists_is_left_alone)
{
    seine_diag diag = SEINE_DIAG;

    make_file("there.jsonl", "{}\n");
    CHECK_EQ(try_open("there.jsonl", false, false, &diag), SEINE_E_ALREADY);
    CHECK_STR(diag_line(&diag), "there.jsonl exists (3 B)");
    check_file("there.jsonl", "{}\n");
    CHECK_EQ(truncate("there.jsonl", 1258291), 0); /* 1.2 * 1024 * 1024 */
    CHECK_EQ(try_open("there.jsonl", false, false, &diag), SEINE_E_ALREADY);
    CHECK_STR(diag_line(&diag), "there.jsonl exists (1.1 MB)");
    CHECK_EQ(truncate("there.jsonl", 1258292), 0);
    CHECK_EQ(try_open("there.jsonl", false, false, &diag), SEINE_E_ALREADY);
    CHECK_STR(diag_line(&diag), "there.jsonl exists (1.2 MB)");
    unlink("there.jsonl");
}

TEST(sink_that_never_started_changed_nothing)
{
    seine_diag diag = SEINE_DIAG;

    make_file("old.jsonl", "{\"old\":1}\n");
    CHECK_EQ(try_open("old.jsonl", false, true, &diag), SEINE_OK);
    check_file("old.jsonl", "{\"old\":1}\n"); /* not emptied yet */
    CHECK_EQ(try_open("new.jsonl", false, false, &diag), SEINE_OK);
    CHECK_EQ(access("new.jsonl", F_OK), -1); /* taken away again */
    unlink("old.jsonl");
}

TEST(sink_overwrites_and_appends_when_told)
{
    seine_diag diag = SEINE_DIAG;

    make_file("o.jsonl", "{\"old\":1}\n{\"much\":\"longer than what comes\"}\n");
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "o.jsonl",
                                          .overwrite = true},
                        1, &diag),
             SEINE_OK);
    check_file("o.jsonl", "{\"seq\":1,\"url\":\"u\"}\n");
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "o.jsonl",
                                          .append = true},
                        1, &diag),
             SEINE_OK);
    check_file("o.jsonl", "{\"seq\":1,\"url\":\"u\"}\n{\"seq\":1,\"url\":\"u\"}\n");
    make_file("o.jsonl", "{\"whole\":1}"); /* only its newline is missing */
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "o.jsonl",
                                          .append = true},
                        1, &diag),
             SEINE_OK);
    check_file("o.jsonl", "{\"whole\":1}\n{\"seq\":1,\"url\":\"u\"}\n");
    make_file("o.jsonl", "{\"whole\":1}\n{\"cut\":"); /* nobody knows what it was */
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "o.jsonl",
                                          .append = true},
                        1, &diag),
             SEINE_E_OUTPUT_CHANGED);
    CHECK_STR(diag_line(&diag), "o.jsonl ends within a line");
    check_file("o.jsonl", "{\"whole\":1}\n{\"cut\":");
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "new.jsonl",
                                          .append = true},
                        1, &diag),
             SEINE_OK); /* to nothing, too */
    check_file("new.jsonl", "{\"seq\":1,\"url\":\"u\"}\n");
    unlink("o.jsonl");
    unlink("new.jsonl");
}

/* The text of a packed file, by somebody else's program. */
static char *
unpack(const char *program, const char *path)
{
    char *text = calloc(1, 1 << 20);
    int fds[2], status = -1;
    size_t n = 0;
    ssize_t got;

    CHECK_EQ(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        execlp(program, program, "-dc", path, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    while ((got = read(fds[0], text + n, (1 << 20) - 1 - n)) > 0)
        n += (size_t)got;
    close(fds[0]);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    return text;
}

static void
check_unpacked(const char *program, const char *path, const char *want)
{
    char *text = unpack(program, path);

    CHECK_STR(text, want);
    free(text);
}

static const struct {
    const char *program, *path;
} packed[] = {{"gzip", "p.jsonl.gz"}, {"zstd", "p.jsonl.zst"}};

#define ONE "{\"seq\":1,\"url\":\"u\"}\n"

TEST(sink_packs_lines_that_other_programs_unpack)
{
    seine_diag diag = SEINE_DIAG;

    EACH_ROW(i, packed) {
        const char *path = packed[i].path;

        CHECK_EQ(
            write_some((seine_sink_opts){.size = sizeof(seine_sink_opts), .path = path},
                       1, &diag),
            SEINE_OK);
        check_unpacked(packed[i].program, path, ONE);
        CHECK_EQ(
            write_some((seine_sink_opts){.size = sizeof(seine_sink_opts), .path = path},
                       1, &diag),
            SEINE_E_ALREADY);
        CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                              .path = path,
                                              .append = true},
                            1, &diag),
                 SEINE_OK);
        check_unpacked(packed[i].program, path, ONE ONE);
        CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                              .path = path,
                                              .overwrite = true},
                            1, &diag),
                 SEINE_OK);
        check_unpacked(packed[i].program, path, ONE);
        unlink(path);
    }
}

/* Cut after every byte: what was in whole members is there, once, and what is appended.
 */
TEST(sink_goes_on_behind_the_last_whole_member)
{
    char *whole;
    seine_diag diag = SEINE_DIAG;
    size_t first, both;

    EACH_ROW(i, packed) {
        const char *path = packed[i].path;

        CHECK_EQ(
            write_some((seine_sink_opts){.size = sizeof(seine_sink_opts), .path = path},
                       1, &diag),
            SEINE_OK);
        free(read_file(path, &first));
        CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                              .path = path,
                                              .append = true},
                            1, &diag),
                 SEINE_OK);
        whole = read_file(path, &both);
        for (size_t n = 0; n < both; n += n % 7 == 0 ? 1 : 3) {
            int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

            CHECK_EQ(write(fd, whole, n), (ssize_t)n);
            close(fd);
            CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                  .path = path,
                                                  .append = true},
                                1, &diag),
                     SEINE_OK);
            check_unpacked(packed[i].program, path, n < first ? ONE : ONE ONE);
        }
        free(whole);
        unlink(path);
    }
}

static void
pack_file(const char *text, const char *path)
{
    int status = -1;

    make_file("plain", text);
    pid_t pid = fork();
    if (pid == 0) {
        int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

        dup2(to, STDOUT_FILENO);
        execlp("gzip", "gzip", "-c", "plain", (char *)NULL);
        _exit(127);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    unlink("plain");
}

TEST(sink_appends_to_no_packed_file_it_does_not_understand)
{
    static char many[600000];
    seine_diag diag = SEINE_DIAG;
    size_t n;
    seine_sink_opts to = {
        .size = sizeof(seine_sink_opts), .path = "f.jsonl.gz", .append = true};

    make_file("f.jsonl.gz", "{\"plain\":1}\n");
    CHECK_EQ(write_some(to, 1, &diag), SEINE_E_OUTPUT_CHANGED);
    CHECK_STR(diag_line(&diag), "f.jsonl.gz is damaged at byte 0");
    check_file("f.jsonl.gz", "{\"plain\":1}\n");

    pack_file("{\"half\":", "f.jsonl.gz");
    CHECK_EQ(write_some(to, 1, &diag), SEINE_E_OUTPUT_CHANGED);
    CHECK_STR(diag_line(&diag), "f.jsonl.gz ends within a line");

    for (size_t i = 0; i + 10 < sizeof many; i += 10) /* lines that do not shrink much */
        snprintf(many + i, 11, "%09u\n", (unsigned)(i * 2654435761u) % 1000000000);
    pack_file(many, "f.jsonl.gz");
    CHECK_EQ(write_some(to, 1, &diag), SEINE_OK); /* whole: fine */
    pack_file(many, "f.jsonl.gz");
    free(read_file("f.jsonl.gz", &n));
    CHECK_EQ(truncate("f.jsonl.gz", (off_t)n - 1), 0);
    CHECK_EQ(write_some(to, 1, &diag), SEINE_E_OUTPUT_CHANGED);
    CHECK_STR(diag_line(&diag), "f.jsonl.gz is cut off at its end");

    pack_file("a,b\n", "f.csv.gz");
    to.path = "f.csv.gz";
    CHECK_EQ(write_some(to, 1, &diag), SEINE_E_OUTPUT_CHANGED);
    CHECK_STR(diag_line(&diag), "f.csv.gz has other columns");
    unlink("f.jsonl.gz");
    unlink("f.csv.gz");
}

TEST(sink_file_is_one_output_only)
{
    seine_diag diag = SEINE_DIAG;
    seine_sinks *s = NULL;

    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(
                 s,
                 &(seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "t.jsonl"},
                 &diag),
             SEINE_OK);
    CHECK_EQ(seine_sinks_open(
                 s,
                 &(seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "./t.jsonl"},
                 &diag),
             SEINE_E_INVAL);
    CHECK_STR(diag_line(&diag), "./t.jsonl is an output already");
    CHECK_EQ(seine_sinks_open(
                 s, &(seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "t.csv"},
                 &diag),
             SEINE_OK);
    seine_sinks_free(s);
    CHECK_EQ(access("t.jsonl", F_OK), -1);
}

static const char head[] =
    "seq,ts,input,url,final_url,outcome,status,attempts,content_type,content_length,"
    "bytes_body,time_ms,title,error_kind,error_message";

TEST(sink_csv_has_its_column_names_once)
{
    char want[1024];
    seine_diag diag = SEINE_DIAG;
    static const char row[] = "1,1970-01-01T00:00:00.000000Z,,u,,ok,,0,,,,0,,,\n";

    CHECK_EQ(
        write_some((seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "c.csv"}, 0,
                   &diag),
        SEINE_OK);
    snprintf(want, sizeof want, "%s\n", head);
    check_file("c.csv", want); /* also without any record */
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "c.csv",
                                          .append = true},
                        1, &diag),
             SEINE_OK);
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "c.csv",
                                          .append = true},
                        1, &diag),
             SEINE_OK);
    snprintf(want, sizeof want, "%s\n%s%s", head, row, row);
    check_file("c.csv", want);

    CHECK_EQ(write_some(
                 (seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "c.csv.zst"},
                 1, &diag),
             SEINE_OK);
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "c.csv.zst",
                                          .append = true},
                        1, &diag),
             SEINE_OK);
    check_unpacked("zstd", "c.csv.zst", want);
    unlink("c.csv.zst");

    make_file("c.csv", "a,b\n1,2\n");
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "c.csv",
                                          .append = true},
                        1, &diag),
             SEINE_E_OUTPUT_CHANGED);
    CHECK_STR(diag_line(&diag), "c.csv has other columns");
    make_file("c.csv", "");
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "c.csv",
                                          .append = true},
                        1, &diag),
             SEINE_OK);
    snprintf(want, sizeof want, "%s\n%s", head, row);
    check_file("c.csv", want);
    snprintf(want, sizeof want, "%s\n%s\"cut", head, row);
    make_file("c.csv", want);
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "c.csv",
                                          .append = true},
                        1, &diag),
             SEINE_E_OUTPUT_CHANGED);
    unlink("c.csv");
}

TEST(sink_names_that_cannot_be_are_told_in_one_line)
{
    static const struct {
        const char *path;
        seine_err err;
        const char *why;
    } rows[] = {
        {"x.txt", SEINE_E_INVAL,
         "x.txt: no format has that ending: try .jsonl, .csv, .sqlite or .warc.gz"},
        {"x", SEINE_E_INVAL,
         "x: no format has that ending: try .jsonl, .csv, .sqlite or .warc.gz"},
        {"x.gz", SEINE_E_INVAL,
         "x.gz: no format has that ending: try .jsonl, .csv, .sqlite or .warc.gz"},
        {"x.sqlite.gz", SEINE_E_INVAL,
         "x.sqlite.gz: no format has that ending: try .jsonl, .csv, .sqlite or .warc.gz"},
        {"x.html", SEINE_E_INVAL,
         "x.html: the program makes reports as HTML: try .jsonl"},
        {"no/such/x.csv", SEINE_E_IO,
         "cannot open no/such/x.csv: no such file or directory"},
        {"d.csv", SEINE_E_IO, "cannot open d.csv: is a directory"},
        {"link.jsonl", SEINE_E_IO,
         "link.jsonl is a symbolic link: not followed; try its target"},
        {"lost.jsonl", SEINE_E_IO, "cannot open lost.jsonl: no such file or directory"},
        {"\x1b[31m.jsonl/x.jsonl", SEINE_E_IO,
         "cannot open ?[31m.jsonl/x.jsonl: no such file or directory"},
    };

    CHECK_EQ(mkdir("d.csv", 0777), 0);
    make_file("target.jsonl", "{}\n");
    CHECK_EQ(symlink("target.jsonl", "link.jsonl"), 0);
    CHECK_EQ(symlink("nowhere", "lost.jsonl"), 0);
    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(try_open(rows[i].path, true, false, &diag), rows[i].err);
        CHECK_STR(diag_line(&diag), rows[i].why);
    }
    check_file("target.jsonl", "{}\n");
    rmdir("d.csv");
    unlink("target.jsonl");
    unlink("link.jsonl");
    unlink("lost.jsonl");
}

TEST(sink_file_without_memory_is_not_left_behind)
{
    make_file("m.csv", "");
    FAIL_EACH(n)
    {
        static const char *const paths[] = {"a.jsonl", "m.csv"};
        seine_sinks *s = NULL;
        seine_diag diag = SEINE_DIAG;
        seine_err e = seine_sinks_new(NULL, &s);

        for (int i = 0; i < 2 && e == SEINE_OK; i++)
            e = seine_sinks_open(s,
                                 &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                    .path = paths[i],
                                                    .append = i == 1},
                                 &diag);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_sinks_free(s);
        CHECK_EQ(access("a.jsonl", F_OK), -1);
    }
    unlink("m.csv");
}

TEST(sink_file_has_one_writer_at_a_time)
{
    seine_sinks *s = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(
                 s,
                 &(seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "l.jsonl"},
                 &diag),
             SEINE_OK);
    CHECK_EQ(try_open("l.jsonl", true, false, &diag), SEINE_E_STATE_LOCKED);
    CHECK_STR(diag_line(&diag), "l.jsonl is being written by another process");
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    CHECK_EQ(try_open("l.jsonl", false, true, &diag), SEINE_E_STATE_LOCKED);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    CHECK_EQ(try_open("l.jsonl", true, false, &diag), SEINE_OK);
    seine_sinks_free(s);
    unlink("l.jsonl");
}

TEST(sink_devices_are_written_without_being_asked)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "/dev/null",
                                          .format = SEINE_SINK_CSV},
                        10, &diag),
             SEINE_OK);
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .path = "/dev/full",
                                          .format = SEINE_SINK_JSONL},
                        10, &diag),
             SEINE_E_DISK_FULL);
    CHECK_STR(diag_line(&diag),
              "cannot write /dev/full: no space left on device; 0 records are safe");
}

/* In a child, because the limit is the process's: a file that may have `room` bytes. */
static void
fill_up(seine_sink_format format, const char *path, rlim_t room, int n)
{
    struct rlimit limit = {room, room};
    seine_sinks *s = NULL;
    seine_diag diag = SEINE_DIAG;
    seine_err e;

    setrlimit(RLIMIT_FSIZE, &limit);
    if (seine_sinks_new(NULL, &s) != SEINE_OK ||
        seine_sinks_open(s,
                         &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                            .path = path,
                                            .format = format},
                         &diag) != SEINE_OK ||
        seine_sinks_start(s, 1) != SEINE_OK)
        _exit(10);
    for (int i = 0; i < n; i++) {
        seine_record r = {
            .url = {"a\n\"b\"", 5}, .title = {",\n", 2}, .content_length = -1};

        if (seine_sinks_put(s, 0, &r) != SEINE_OK)
            _exit(11);
        if (i % 7 == 0 && seine_sinks_drain(s) == SEINE_E_INVAL)
            _exit(14);
    }
    e = seine_sinks_close(s);
    seine_sinks_err(s, &diag);
    if (e == SEINE_E_DISK_FULL && !strstr(diag_line(&diag), "file too large"))
        _exit(12);
    seine_sinks_free(s);
    _exit(e == SEINE_E_DISK_FULL ? 1 : e == SEINE_OK ? 0 : 13);
}

static int
run_child(seine_sink_format format, const char *path, rlim_t room, int n)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        fill_up(format, path, room, n);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Whole lines, and as many as fit: the file that had room begins with it. */
static void
check_cut(seine_sink_format format, const char *path)
{
    size_t whole_n, n;

    CHECK_EQ(run_child(format, path, 1 << 20, 30), 0);
    char *whole = read_file(path, &whole_n);
    unlink(path);
    for (size_t room = 0; room <= whole_n; room += room < 1200 ? 13 : 97) {
        CHECK_EQ(run_child(format, path, room, 30), room < whole_n);
        char *text = read_file(path, &n);

        CHECK(n <= room);
        CHECK(memcmp(text, whole, n) == 0);
        CHECK(n == 0 || text[n - 1] == '\n');
        if (format == SEINE_SINK_CSV) {
            size_t quotes = 0; /* a newline inside of quotes ends no row */

            for (size_t i = 0; i < n; i++)
                quotes += text[i] == '"';
            CHECK_EQ(quotes % 2, 0);
        }
        free(text);
        unlink(path);
    }
    free(whole);
}

TEST(sink_disk_full_at_any_byte_leaves_whole_lines)
{
    check_cut(SEINE_SINK_JSONL, "full.jsonl");
    check_cut(SEINE_SINK_CSV, "full.csv");
}

TEST(sink_reader_that_has_gone_is_told_and_nobody_is_killed)
{
    seine_diag diag = SEINE_DIAG;
    int ends[2];

    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .fd = ends[1],
                                          .format = SEINE_SINK_JSONL},
                        100, &diag),
             SEINE_E_OUTPUT_CLOSED);
    CHECK_STR(diag_line(&diag), "the output was closed by its reader after 0 records");
    close(ends[1]);
}

static seine_time
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return SEINE_SECS(t.tv_sec) + t.tv_nsec;
}

static void
count_room(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* Nobody reads: the lane fills up and says so, memory does not grow; then it is read, and
 * everything is there. */
TEST(sink_slow_reader_holds_up_the_lane)
{
    atomic_int rooms = 0;
    seine_sinks_opts o = SEINE_SINKS_OPTS;
    seine_sinks *s = NULL;
    int ends[2], before = 0; /* rooms that were told while it still took records */
    size_t put = 0, lines = 0;
    char chunk[65536];

    o.room = count_room;
    o.arg = &rooms;
    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    CHECK_EQ(seine_sinks_new(&o, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .fd = ends[1],
                                                 .format = SEINE_SINK_JSONL},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    for (seine_time since = now(); now() - since < SEINE_MS(100);)
        if (seine_sinks_poll(s, 0)) {
            before = atomic_load(&rooms);
            CHECK_EQ(seine_sinks_put(s, 0, &(seine_record){.url = {"u", 1}}), SEINE_OK);
            put++;
            since = now(); /* until it is not ready for 100 ms on end */
        }
    CHECK(put < 6000); /* a pipe of 64 KiB, a buffer of 256, half a lane of 1 MiB */
    while (lines < put) {
        ssize_t n = read(ends[0], chunk, sizeof chunk);

        for (ssize_t i = 0; i < n; i++)
            lines += chunk[i] == '\n';
    }
    CHECK_EQ(seine_sinks_drain(s), SEINE_OK);
    CHECK(seine_sinks_poll(s, 0));
    CHECK(atomic_load(&rooms) > before);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);
    close(ends[0]);
    close(ends[1]);
}

TEST(sink_record_is_seen_within_50_ms)
{
    seine_sinks *s = NULL;
    int ends[2];

    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .fd = ends[1],
                                                 .format = SEINE_SINK_JSONL},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    int late = 0;
    for (int i = 0; i < 40; i++) {
        char line[1024];
        struct pollfd in = {.fd = ends[0], .events = POLLIN};

        CHECK_EQ(seine_sinks_put(s, 0, &(seine_record){.url = {"u", 1}}), SEINE_OK);
        late += poll(&in, 1, 50) != 1;
        ssize_t n = read(ends[0], line, sizeof line);
        CHECK(n > 0 && line[n - 1] == '\n');
    }
    CHECK(late < 40); /* all are, if they wait for a commit; some, on a busy machine */
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);
    close(ends[0]);
    close(ends[1]);
}

/* Starts a program that reads the pipe to its end, and ends with 0 if it got `lines`. */
static pid_t
start_reader(const int ends[2], size_t lines)
{
    pid_t child = fork();

    if (child == 0) {
        char chunk[4096];
        size_t got = 0;

        close(ends[1]);
        for (ssize_t n; (n = read(ends[0], chunk, sizeof chunk)) > 0;)
            for (ssize_t i = 0; i < n; i++)
                got += chunk[i] == '\n';
        _exit(got == lines ? 0 : 1);
    }
    close(ends[0]);
    return child;
}

/* Somebody else made the pipe non-blocking: it is waited for all the same. */
TEST(sink_waits_for_a_pipe_that_does_not_block)
{
    seine_diag diag = SEINE_DIAG;
    int ends[2], status = 0;

    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = start_reader(ends, 20000);
    CHECK_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    CHECK_EQ(write_some((seine_sink_opts){.size = sizeof(seine_sink_opts),
                                          .fd = ends[1],
                                          .format = SEINE_SINK_JSONL},
                        20000, &diag),
             SEINE_OK);
    close(ends[1]);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static seine_sinks *
open_pipe(int out_ends[2])
{
    seine_sinks *s = NULL;

    CHECK_EQ(pipe2(out_ends, O_CLOEXEC), 0);
    CHECK_EQ(fcntl(out_ends[1], F_SETPIPE_SZ, 4096), 4096);
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .fd = out_ends[1],
                                                 .format = SEINE_SINK_JSONL},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    return s;
}

/* Nobody reads, and the run must end: the output fails, with whole lines in the pipe. */
TEST(sink_that_must_hurry_does_not_wait_for_its_reader)
{
    char chunk[65536], line[SEINE_DIAG_ROOM];
    seine_diag diag = SEINE_DIAG;
    int ends[2];
    seine_sinks *s = open_pipe(ends);

    for (int i = 0; i < 100; i++)
        CHECK_EQ(seine_sinks_put(s, 0, &(seine_record){.url = {"u", 1}}), SEINE_OK);
    seine_sinks_hurry(s);
    CHECK_EQ(seine_sinks_close(s), SEINE_E_DEADLINE);
    CHECK_EQ(seine_sinks_err(s, &diag), SEINE_E_DEADLINE);
    seine_diag_print(&diag, NULL, line, sizeof line);
    CHECK(strncmp(line, "nobody reads the output; ", 25) == 0);
    seine_sinks_free(s);
    close(ends[1]);

    ssize_t n = read(ends[0], chunk, sizeof chunk);
    CHECK(n > 0 && n <= 4096 && chunk[n - 1] == '\n');
    close(ends[0]);
}

/* Returns true if it was quick enough to take 500 records from a sink that must hurry. */
static bool
reader_has_everything(void)
{
    int ends[2], status = 0;
    seine_sinks *s = open_pipe(ends);
    pid_t child = start_reader(ends, 500);

    seine_sinks_hurry(s);
    for (int i = 0; i < 500; i++)
        CHECK_EQ(seine_sinks_put(s, 0, &(seine_record){.url = {"u", 1}}), SEINE_OK);
    seine_err e = seine_sinks_close(s);
    CHECK(e == SEINE_OK || e == SEINE_E_DEADLINE);
    seine_sinks_free(s);
    close(ends[1]);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(e == SEINE_OK, status == 0);
    return status == 0;
}

/* On a machine that has other things to do a reader may be slow through no fault of its
 * own. */
TEST(sink_that_must_hurry_still_gives_a_reader_everything)
{
    int tries = 1;

    while (!reader_has_everything() && tries < 100)
        tries++;
    CHECK(tries < 100);
}

/* The thread writes, so it cannot rest yet; then it can. */
TEST(sink_halts_between_two_records)
{
    int ends[2];
    seine_sinks *s = open_pipe(ends);
    struct pollfd in = {.fd = ends[0], .events = POLLIN};

    CHECK(seine_sinks_halt(s, SEINE_SECS(5)));
    CHECK_EQ(seine_sinks_put(s, 0, &(seine_record){.url = {"u", 1}}), SEINE_OK);
    CHECK_EQ(poll(&in, 1, 50), 0);
    CHECK(!seine_sinks_halt(s, SEINE_MS(1))); /* it is kept */
    close(ends[0]);
    close(ends[1]);
    /* For ever: the thread stands, and nothing can be freed. */
}
