/* SPDX-License-Identifier: Apache-2.0 */
#include "console/docstore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define ID    "01JD2Z6W9N0000000000000001"
#define EPOCH "01JD2Z6W9N0000000000000002"
#define USER  "01JD2Z6W9N0000000000000003"
#define T0    INT64_C(1763234401123)
#define DAY   ((int64_t)24 * 60 * 60 * 1000)

/* A store in a directory of its own. */
typedef struct place {
    char dir[64], path[128];
    sn_docstore *s;
} place;

static void
open_place(place *p)
{
    seine_diag diag;

    snprintf(p->dir, sizeof p->dir, "/tmp/docstore-XXXXXX");
    CHECK(mkdtemp(p->dir));
    snprintf(p->path, sizeof p->path, "%s/console.db", p->dir);
    CHECK_EQ(sn_docstore_open(p->path, SN_SQLITE_WRITE, &p->s, &diag), SEINE_OK);
}

static void
reopen(place *p)
{
    seine_diag diag;

    sn_docstore_close(p->s);
    p->s = NULL;
    CHECK_EQ(sn_docstore_open(p->path, SN_SQLITE_WRITE, &p->s, &diag), SEINE_OK);
}

static void
end_place(place *p)
{
    char name[160];

    sn_docstore_close(p->s);
    for (size_t i = 0; i < 3; i++) {
        static const char *const endings[] = {"", "-wal", "-shm"};

        snprintf(name, sizeof name, "%s%s", p->path, endings[i]);
        (void)unlink(name);
    }
    CHECK_EQ(rmdir(p->dir), 0);
}

static void
create(place *p, const char *text)
{
    sn_doc_facts f = {
        .id = ID, .epoch = EPOCH, .title = "books", .created_ms = T0, .modified_ms = T0};

    CHECK_EQ(sn_docstore_create(p->s, &f, sn_str_of(text)), SEINE_OK);
}

/* Appends one letter as version `v` to a text of `v - 1` letters. */
static seine_err
append(place *p, uint64_t v, const char *client, uint64_t seq, int64_t ms)
{
    char changes[64];

    if (v == 1)
        snprintf(changes, sizeof changes, "[[0,\"a\"]]");
    else
        snprintf(changes, sizeof changes, "[%u,[0,\"a\"]]", (unsigned)v - 1);
    sn_doc_update_row row = {v, seq, client, USER, sn_str_of(changes), ms, NULL};
    return sn_docstore_append(p->s, ID, &row, 1);
}

static void
exec(place *p, const char *sql)
{
    sn_sqlite *db;

    CHECK_EQ(sn_sqlite_open(p->path, SN_SQLITE_WRITE, &db), SEINE_OK);
    CHECK_EQ(sn_sqlite_exec(db, sql), SEINE_OK);
    sn_sqlite_close(db);
}

TEST(docstore_keeps_text_version_and_history_over_a_restart)
{
    place p;
    sn_doc_loaded got;

    open_place(&p);
    create(&p, "");
    for (uint64_t v = 1; v <= 5; v++)
        CHECK_EQ(append(&p, v, v % 2 ? "ann" : "bob", (v + 1) / 2, T0 + (int64_t)v),
                 SEINE_OK);
    reopen(&p);
    CHECK_EQ(sn_docstore_load(p.s, ID, &got), SEINE_OK);
    CHECK_STR(got.doc->text.bytes, "aaaaa");
    CHECK_EQ(got.doc->version, 5);
    CHECK_EQ(got.doc->committed, 5);
    CHECK_EQ(got.doc->units, 5);
    CHECK_EQ(got.facts.version, 5);
    CHECK_EQ(got.facts.modified_ms, T0 + 5);
    CHECK_STR(got.facts.epoch, EPOCH);
    CHECK(!got.damage);
    CHECK_EQ(sn_doc_client(got.doc, "ann", false)->seq, 3);
    CHECK_EQ(sn_doc_client(got.doc, "bob", false)->seq, 2);
    CHECK_STR(sn_doc_client(got.doc, "bob", false)->user, USER);
    CHECK_STR(sn_doc_update(got.doc, 4)->id, "bob");
    sn_doc_free(got.doc);
    end_place(&p);
}

TEST(docstore_file_is_for_its_owner_alone)
{
    place p;
    struct stat st;

    open_place(&p);
    CHECK_EQ(stat(p.path, &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    end_place(&p);
}

TEST(docstore_refuses_a_version_that_does_not_follow)
{
    place p;

    open_place(&p);
    create(&p, "");
    CHECK_EQ(append(&p, 2, "ann", 1, T0), SEINE_E_INVAL);
    CHECK_EQ(append(&p, 1, "ann", 1, T0), SEINE_OK);
    CHECK_EQ(append(&p, 1, "ann", 2, T0), SEINE_E_INVAL);
    /* the number of an update is taken once */
    CHECK(append(&p, 2, "ann", 1, T0) != SEINE_OK);
    end_place(&p);
}

TEST(docstore_reads_the_text_of_any_version_that_is_kept)
{
    place p;
    seine_text text;

    open_place(&p);
    create(&p, "");
    for (uint64_t v = 1; v <= 6; v++)
        CHECK_EQ(append(&p, v, "ann", v, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 4, SN_STR("aaaa"), NULL, NULL, T0), SEINE_OK);
    for (uint64_t v = 0; v <= 6; v++) {
        CHECK_EQ(sn_docstore_text(p.s, ID, v, &text), SEINE_OK);
        CHECK_EQ(text.len, v);
        seine_text_free(&text);
    }
    CHECK_EQ(sn_docstore_text(p.s, ID, 7, &text), SEINE_E_RANGE);
    CHECK_EQ(sn_docstore_text(p.s, EPOCH, 0, &text), SEINE_E_UNKNOWN);
    end_place(&p);
}

/* Damage: the text of a snapshot, an update that is missing, a version that is wrong. */
TEST(docstore_freezes_what_is_damaged_and_says_so)
{
    static const char *const harms[] = {
        "UPDATE doc_snapshot SET text = 'bbbb' WHERE version = 4",
        "DELETE FROM doc_update WHERE version = 5",
        "UPDATE doc SET version = 9",
        "UPDATE doc_update SET changes = '[77,[0,\"a\"]]' WHERE version = 6",
    };

    EACH_ROW(i, harms) {
        place p;
        sn_doc_loaded got;

        open_place(&p);
        create(&p, "");
        for (uint64_t v = 1; v <= 6; v++)
            CHECK_EQ(append(&p, v, "ann", v, T0), SEINE_OK);
        CHECK_EQ(sn_docstore_snapshot(p.s, ID, 4, SN_STR("aaaa"), NULL, NULL, T0),
                 SEINE_OK);
        sn_docstore_close(p.s);
        p.s = NULL;
        exec(&p, "DELETE FROM doc_snapshot WHERE version = 0");
        exec(&p, harms[i]);
        reopen(&p);
        CHECK_EQ(sn_docstore_load(p.s, ID, &got), SEINE_OK);
        CHECK(got.damage);
        CHECK(got.doc);
        sn_doc_free(got.doc);
        end_place(&p);
    }
}

TEST(docstore_reads_past_a_damaged_older_snapshot)
{
    place p;
    sn_doc_loaded got;

    open_place(&p);
    create(&p, "");
    for (uint64_t v = 1; v <= 6; v++)
        CHECK_EQ(append(&p, v, "ann", v, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 4, SN_STR("aaaa"), NULL, NULL, T0), SEINE_OK);
    sn_docstore_close(p.s);
    p.s = NULL;
    exec(&p, "UPDATE doc_snapshot SET text = 'x' WHERE version = 0");
    reopen(&p);
    CHECK_EQ(sn_docstore_load(p.s, ID, &got), SEINE_OK);
    CHECK(!got.damage);
    CHECK_EQ(got.doc->first, 4);
    CHECK_STR(got.doc->text.bytes, "aaaaaa");
    sn_doc_free(got.doc);
    end_place(&p);
}

TEST(docstore_refuses_files_of_others_and_of_the_future)
{
    static const struct {
        const char *sql;
        seine_err want;
    } rows[] = {
        {"PRAGMA user_version = 2", SEINE_E_STATE_NEWER},
        {"PRAGMA application_id = 7", SEINE_E_STATE_FOREIGN},
        /* the same mark, other tables: a database of records */
        {"ALTER TABLE page ADD COLUMN x TEXT", SEINE_E_STATE_FOREIGN},
        {"DROP TABLE audit", SEINE_E_STATE_FOREIGN},
    };

    EACH_ROW(i, rows) {
        place p;
        sn_docstore *s = NULL;
        seine_diag diag;

        open_place(&p);
        sn_docstore_close(p.s);
        p.s = NULL;
        exec(&p, rows[i].sql);
        CHECK_EQ(sn_docstore_open(p.path, SN_SQLITE_WRITE, &s, &diag), rows[i].want);
        CHECK(strstr(diag.text, "nothing was changed"));
        CHECK(!s);
        end_place(&p);
    }
}

static bool
count_update(const sn_doc_update_row *u, void *arg)
{
    uint64_t *least = arg;

    *least = u->version;
    return true;
}

TEST(docstore_forgets_old_updates_behind_the_snapshot_before_last)
{
    place p;
    uint64_t least = 0;
    seine_text text;
    sn_doc_loaded got;

    open_place(&p);
    create(&p, "");
    for (uint64_t v = 1; v <= 6; v++)
        CHECK_EQ(append(&p, v, "ann", v, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 1, SN_STR("a"), "first", USER, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 3, SN_STR("aaa"), NULL, NULL, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 5, SN_STR("aaaaa"), NULL, NULL, T0), SEINE_OK);
    /* a day is not over */
    CHECK_EQ(sn_docstore_retain(p.s, T0 + DAY), SEINE_OK);
    CHECK_EQ(sn_docstore_history(p.s, ID, 100, 100, count_update, &least), SEINE_OK);
    CHECK_EQ(least, 1);
    CHECK_EQ(sn_docstore_retain(p.s, T0 + DAY + 1), SEINE_OK);
    CHECK_EQ(sn_docstore_history(p.s, ID, 100, 100, count_update, &least), SEINE_OK);
    CHECK_EQ(least, 4);
    CHECK_EQ(sn_docstore_load(p.s, ID, &got), SEINE_OK);
    CHECK_EQ(got.doc->first, 3);
    CHECK_STR(got.doc->text.bytes, "aaaaaa");
    CHECK_EQ(sn_doc_client(got.doc, "ann", false)->seq, 6);
    sn_doc_free(got.doc);
    /* labelled versions are kept for ever, others are gone */
    CHECK_EQ(sn_docstore_text(p.s, ID, 1, &text), SEINE_OK);
    seine_text_free(&text);
    CHECK_EQ(sn_docstore_text(p.s, ID, 2, &text), SEINE_E_RANGE);
    CHECK_EQ(sn_docstore_text(p.s, ID, 3, &text), SEINE_OK);
    seine_text_free(&text);
    end_place(&p);
}

TEST(docstore_remembers_a_client_for_30_days)
{
    place p;
    sn_doc_loaded got;

    open_place(&p);
    create(&p, "");
    CHECK_EQ(append(&p, 1, "ann", 1, T0), SEINE_OK);
    CHECK_EQ(append(&p, 2, "bob", 1, T0 + 40 * DAY), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 2, SN_STR("aa"), NULL, NULL, T0), SEINE_OK);
    CHECK_EQ(append(&p, 3, "bob", 2, T0 + 40 * DAY), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 3, SN_STR("aaa"), NULL, NULL, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_retain(p.s, T0 + 30 * DAY), SEINE_OK);
    CHECK_EQ(sn_docstore_load(p.s, ID, &got), SEINE_OK);
    CHECK(sn_doc_client(got.doc, "ann", false));
    sn_doc_free(got.doc);
    CHECK_EQ(sn_docstore_retain(p.s, T0 + 30 * DAY + 1), SEINE_OK);
    CHECK_EQ(sn_docstore_load(p.s, ID, &got), SEINE_OK);
    CHECK(!sn_doc_client(got.doc, "ann", false));
    CHECK(sn_doc_client(got.doc, "bob", false));
    sn_doc_free(got.doc);
    end_place(&p);
}

static bool
see_label(const sn_doc_label_row *l, void *arg)
{
    snprintf(arg, 64, "%u %s %s", (unsigned)l->version, l->label, l->author);
    return true;
}

TEST(docstore_labels_a_version_and_a_later_label_replaces_it)
{
    place p;
    char seen[64] = "";

    open_place(&p);
    create(&p, "");
    CHECK_EQ(append(&p, 1, "ann", 1, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 1, SN_STR("a"), "draft", USER, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 1, SN_STR("a"), NULL, NULL, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_labels(p.s, ID, see_label, seen), SEINE_OK);
    CHECK_STR(seen, "1 draft " USER);
    CHECK_EQ(sn_docstore_snapshot(p.s, ID, 1, SN_STR("a"), "good", USER, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_labels(p.s, ID, see_label, seen), SEINE_OK);
    CHECK_STR(seen, "1 good " USER);
    end_place(&p);
}

static bool
see_name(const sn_doc_update_row *u, void *arg)
{
    char *seen = arg;
    size_t n = strlen(seen);

    snprintf(seen + n, 64 - n, "%llu %s ", (unsigned long long)u->version,
             u->name ? u->name : "?");
    return true;
}

static bool
see_by(const sn_doc_facts *f, void *arg)
{
    snprintf(arg, 64, "%.60s", f->by);
    return true;
}

TEST(docstore_history_names_who_made_a_change)
{
    place p;
    char seen[64] = "", by[64] = "";
    sn_token_row token = {.id = USER, .role = "editor", .name = "kitchen"};

    open_place(&p);
    create(&p, "");
    CHECK_EQ(append(&p, 1, "ann", 1, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_history(p.s, ID, UINT64_MAX, 9, see_name, seen), SEINE_OK);
    CHECK_STR(seen, "1 ? "); /* nobody of that id is known */
    CHECK_EQ(sn_docstore_list(p.s, "", 9, see_by, by), SEINE_OK);
    CHECK_STR(by, "");
    CHECK_EQ(sn_docstore_put_token(p.s, &token), SEINE_OK);
    CHECK_EQ(sn_docstore_revoke(p.s, USER, T0), SEINE_OK); /* and still known */
    CHECK_EQ(append(&p, 2, "ann", 2, T0), SEINE_OK);
    seen[0] = '\0';
    CHECK_EQ(sn_docstore_history(p.s, ID, UINT64_MAX, 9, see_name, seen), SEINE_OK);
    CHECK_STR(seen, "2 kitchen 1 kitchen ");
    CHECK_EQ(sn_docstore_list(p.s, "", 9, see_by, by), SEINE_OK);
    CHECK_STR(by, "kitchen");
    end_place(&p);
}

TEST(docstore_hides_a_deleted_document_and_removes_it_after_30_days)
{
    place p;
    sn_doc_facts f;
    seine_text text;

    open_place(&p);
    create(&p, "x");
    CHECK_EQ(sn_docstore_delete(p.s, ID, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_find(p.s, ID, &f), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_docstore_delete(p.s, EPOCH, T0), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_docstore_retain(p.s, T0 + 30 * DAY), SEINE_OK);
    sn_docstore_close(p.s);
    p.s = NULL;
    exec(&p, "UPDATE doc SET deleted_ms = NULL");
    reopen(&p);
    CHECK_EQ(sn_docstore_text(p.s, ID, 0, &text), SEINE_OK);
    seine_text_free(&text);
    CHECK_EQ(sn_docstore_delete(p.s, ID, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_retain(p.s, T0 + 30 * DAY + 1), SEINE_OK);
    sn_docstore_close(p.s);
    p.s = NULL;
    exec(&p, "UPDATE doc SET deleted_ms = NULL");
    reopen(&p);
    CHECK_EQ(sn_docstore_find(p.s, ID, &f), SEINE_E_UNKNOWN);
    end_place(&p);
}

TEST(docstore_takes_back_a_part_of_a_transaction)
{
    place p;
    sn_doc_facts f;

    open_place(&p);
    create(&p, "");
    CHECK_EQ(sn_docstore_begin(p.s), SEINE_OK);
    CHECK_EQ(sn_docstore_mark(p.s), SEINE_OK);
    CHECK_EQ(append(&p, 1, "ann", 1, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_unmark(p.s, true), SEINE_OK);
    CHECK_EQ(sn_docstore_mark(p.s), SEINE_OK);
    CHECK_EQ(append(&p, 2, "ann", 2, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_unmark(p.s, false), SEINE_OK);
    CHECK_EQ(sn_docstore_commit(p.s), SEINE_OK);
    CHECK_EQ(sn_docstore_find(p.s, ID, &f), SEINE_OK);
    CHECK_EQ(f.version, 1);
    end_place(&p);
}

static void
see_page(const sn_page_row *page, void *arg)
{
    snprintf(arg, 64, "%s %d %.*s", page->final_url, page->status, SN_FMT(page->body));
}

TEST(docstore_keeps_200_pages_for_a_week)
{
    place p;
    char seen[64] = "";
    sn_page_row page = {.url = "http://a.example/",
                        .final_url = "http://a.example/x",
                        .content_type = "text/html",
                        .status = 200,
                        .body = SN_STR("<p>")};

    open_place(&p);
    for (int i = 0; i < 201; i++) {
        snprintf(page.id, sizeof page.id, "01JD2Z6W9N0000000000000%03d", i);
        page.fetched_ms = T0 + i;
        CHECK_EQ(sn_docstore_put_page(p.s, &page), SEINE_OK);
    }
    CHECK_EQ(sn_docstore_get_page(p.s, "01JD2Z6W9N0000000000000000", see_page, seen),
             SEINE_E_UNKNOWN);
    CHECK_EQ(sn_docstore_get_page(p.s, "01JD2Z6W9N0000000000000200", see_page, seen),
             SEINE_OK);
    CHECK_STR(seen, "http://a.example/x 200 <p>");
    CHECK_EQ(sn_docstore_use_page(p.s, "01JD2Z6W9N0000000000000007", T0 + 8 * DAY),
             SEINE_OK);
    CHECK_EQ(sn_docstore_retain(p.s, T0 + 8 * DAY), SEINE_OK);
    CHECK_EQ(sn_docstore_get_page(p.s, "01JD2Z6W9N0000000000000200", see_page, seen),
             SEINE_E_UNKNOWN);
    CHECK_EQ(sn_docstore_get_page(p.s, "01JD2Z6W9N0000000000000007", see_page, seen),
             SEINE_OK);
    end_place(&p);
}

static bool
see_token(const sn_token_row *t, void *arg)
{
    snprintf(arg, 256, "%s %s %s %d", t->id, t->role, t->name, t->revoked_ms != 0);
    return true;
}

TEST(docstore_keeps_the_hash_of_a_token_once)
{
    place p;
    char seen[256] = "";
    sn_token_row t = {.id = ID, .role = "editor", .name = "desk", .created_ms = T0};

    open_place(&p);
    CHECK_EQ(sn_docstore_put_token(p.s, &t), SEINE_OK);
    CHECK_EQ(sn_docstore_put_token(p.s, &t), SEINE_E_ALREADY);
    CHECK_EQ(sn_docstore_tokens(p.s, see_token, seen), SEINE_OK);
    CHECK_STR(seen, ID " editor desk 0");
    CHECK_EQ(sn_docstore_revoke(p.s, ID, T0), SEINE_OK);
    CHECK_EQ(sn_docstore_revoke(p.s, EPOCH, T0), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_docstore_tokens(p.s, see_token, seen), SEINE_OK);
    CHECK_STR(seen, ID " editor desk 1");
    end_place(&p);
}

static bool
see_audit(const sn_audit_row *a, void *arg)
{
    char *all = arg;
    size_t n = strlen(all);

    snprintf(all + n, 96 - n, "%u:%s ", (unsigned)a->seq, a->action);
    return true;
}

TEST(docstore_pages_audit_rows_the_newest_first)
{
    place p;
    char seen[96] = "";

    open_place(&p);
    for (int i = 0; i < 4; i++) {
        sn_audit_row a = {.at_ms = T0,
                          .user = USER,
                          .peer = "127.0.0.1",
                          .action = i % 2 ? "two" : "one",
                          .code = 200};

        CHECK_EQ(sn_docstore_audit(p.s, &a), SEINE_OK);
    }
    CHECK_EQ(sn_docstore_audits(p.s, 0, 2, see_audit, seen), SEINE_OK);
    CHECK_STR(seen, "4:two 3:one ");
    CHECK_EQ(sn_docstore_audits(p.s, 3, 9, see_audit, seen), SEINE_OK);
    CHECK_STR(seen, "4:two 3:one 2:two 1:one ");
    end_place(&p);
}
