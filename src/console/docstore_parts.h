/* SPDX-License-Identifier: Apache-2.0 */
/* docstore_parts.h - the statements of a docstore, for docstore*.c. */
#ifndef SN_DOCSTORE_PARTS_H
#define SN_DOCSTORE_PARTS_H

#include "console/docstore.h"

/* clang-format off */
#define SN_DOC_STATEMENTS(X) \
    X(BEGIN,        "BEGIN IMMEDIATE") \
    X(COMMIT,       "COMMIT") \
    X(ROLLBACK,     "ROLLBACK") \
    X(MARK,         "SAVEPOINT job") \
    X(KEEP_MARK,    "RELEASE job") \
    X(DROP_MARK,    "ROLLBACK TO job") \
    X(DOC_ADD,      "INSERT INTO doc VALUES (?, ?, ?, ?, ?, ?, ?, NULL)") \
    X(DOC_GET,      "SELECT id, kind, title, version, epoch, created_ms, modified_ms FROM doc WHERE id = ? AND deleted_ms IS NULL") \
    X(DOC_LIST,     "SELECT id, kind, title, version, epoch, created_ms, modified_ms, (SELECT t.name FROM doc_update u JOIN token t ON t.id = u.user WHERE u.doc_id = doc.id AND u.version = doc.version) FROM doc WHERE deleted_ms IS NULL AND id > ? ORDER BY id LIMIT ?") \
    X(DOC_GROW,     "UPDATE doc SET version = ?, modified_ms = ? WHERE id = ?") \
    X(DOC_TITLE,    "UPDATE doc SET title = ?, modified_ms = ? WHERE id = ?") \
    X(DOC_DELETE,   "UPDATE doc SET deleted_ms = ? WHERE id = ?") \
    X(UPDATE_ADD,   "INSERT INTO doc_update VALUES (?, ?, ?, ?, ?, ?, ?)") \
    X(UPDATE_FROM,  "SELECT version, client, seq, user, changes, created_ms FROM doc_update WHERE doc_id = ? AND version > ? AND version <= ? ORDER BY version") \
    X(UPDATE_BACK,  "SELECT version, client, seq, user, changes, u.created_ms, t.name FROM doc_update u LEFT JOIN token t ON t.id = u.user WHERE doc_id = ? AND version < ? ORDER BY version DESC LIMIT ?") \
    X(CLIENT_SET,   "INSERT INTO doc_client VALUES (?, ?, ?, ?, ?) ON CONFLICT(doc_id, client) DO UPDATE SET seq = excluded.seq, seen_ms = excluded.seen_ms") \
    X(CLIENT_LIST,  "SELECT client, seq, user, seen_ms FROM doc_client WHERE doc_id = ? ORDER BY seen_ms DESC LIMIT 1024") \
    X(SNAP_ADD,     "INSERT INTO doc_snapshot VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(doc_id, version) DO UPDATE SET label = coalesce(excluded.label, label), author = coalesce(excluded.author, author)") \
    X(SNAP_LAST,    "SELECT version, text, sha256 FROM doc_snapshot WHERE doc_id = ? AND version <= ? ORDER BY version DESC LIMIT 2") \
    X(LABELS,       "SELECT version, label, author, s.created_ms, t.name FROM doc_snapshot s LEFT JOIN token t ON t.id = s.author WHERE doc_id = ? AND label IS NOT NULL ORDER BY version DESC LIMIT 200") \
    X(OLD_DOCS,     "DELETE FROM doc WHERE deleted_ms < ?") \
    X(OLD_UPDATES,  "DELETE FROM doc_update WHERE created_ms < ? AND version <= coalesce((SELECT s.version FROM doc_snapshot s WHERE s.doc_id = doc_update.doc_id ORDER BY s.version DESC LIMIT 1 OFFSET 1), 0)") \
    X(OLD_SNAPS,    "DELETE FROM doc_snapshot WHERE label IS NULL AND version < (SELECT s.version FROM doc_snapshot s WHERE s.doc_id = doc_snapshot.doc_id AND s.version <= coalesce((SELECT min(u.version) - 1 FROM doc_update u WHERE u.doc_id = doc_snapshot.doc_id), (SELECT max(t.version) FROM doc_snapshot t WHERE t.doc_id = doc_snapshot.doc_id)) ORDER BY s.version DESC LIMIT 1)") \
    X(OLD_CLIENTS,  "DELETE FROM doc_client WHERE seen_ms < ? AND NOT EXISTS (SELECT 1 FROM doc_update u WHERE u.doc_id = doc_client.doc_id AND u.client = doc_client.client)") \
    X(OLD_PAGES,    "DELETE FROM page WHERE used_ms < ?") \
    X(MANY_PAGES,   "DELETE FROM page WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER w AS n, sum(length(body)) OVER w AS total FROM page WINDOW w AS (ORDER BY used_ms DESC, id DESC)) WHERE n > 200 OR total > 268435456)") \
    X(PAGE_ADD,     "INSERT INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") \
    X(PAGE_GET,     "SELECT id, url, final_url, status, content_type, charset, body, sha256, fetched_ms FROM page WHERE id = ?") \
    X(PAGE_USE,     "UPDATE page SET used_ms = ? WHERE id = ?") \
    X(TOKEN_ADD,    "INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING") \
    X(TOKEN_REVOKE, "UPDATE token SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL") \
    X(TOKEN_GET,    "SELECT 1 FROM token WHERE id = ?") \
    X(TOKEN_LIST,   "SELECT id, hash, role, name, created_ms, expires_ms, revoked_ms FROM token ORDER BY id") \
    X(AUDIT_ADD,    "INSERT INTO audit(at_ms, user, peer, action, target, code, detail) VALUES (?, ?, ?, ?, ?, ?, ?)") \
    X(AUDIT_LIST,   "SELECT seq, at_ms, user, peer, action, target, code, detail FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?") \
    X(CHANGED,      "SELECT changes()")
/* clang-format on */

#define X(id, sql) SN_Q_##id,
typedef enum sn_doc_query { SN_DOC_STATEMENTS(X) SN_Q_COUNT } sn_doc_query;
#undef X

struct sn_docstore {
    sn_sqlite *db;
    sn_sqlite_stmt *stmts[SN_Q_COUNT];
};

sn_sqlite_row sn_docstore_bind(sn_docstore *s, sn_doc_query q);
/* Runs a statement without values. */
SEINE_MUST_CHECK seine_err sn_docstore_run(sn_docstore *s, sn_doc_query q);
/* How many rows the last statement changed. */
SEINE_MUST_CHECK seine_err sn_docstore_changed(sn_docstore *s, int64_t *out_n);

/* Copies a column, cut to the room and terminated. */
void sn_docstore_copy(sn_str text, char *out, size_t room);

#endif
