/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advisory_db.h - a local copy of RustSec's advisory-db: a folder for each
 * crate, and a file for each advisory.
 *
 *     advisory_db *db;
 *     int code = advisory_db_open("advisory-db", &db);
 *     advisory_db_find(db, "smallvec", "1.6.0", &list);
 *     size_t bad = advisory_db_bad(db);      files that could not be used
 *     advisory_db_free(db);
 *
 * An advisory affects a version unless one of its `patched` or `unaffected` requirements
 * matches. A file that cannot be read is named on standard error, once, and counted.
 */
#ifndef CLI_ADVISORY_DB_H
#define CLI_ADVISORY_DB_H

#include "crate/advisory.h"
#include "verbs/jsonl.h"

typedef struct advisory_db advisory_db;

/* SAY_DONE; or the exit code after an error message. */
int advisory_db_open(const char *dir, advisory_db **out_db);
void advisory_db_free(advisory_db *db); /* NULL is fine */

/* Adds the advisories that affect the version, which is a valid one. */
void advisory_db_find(advisory_db *db, const char *name, const char *version,
                      advisory_list *list);
size_t advisory_db_bad(const advisory_db *db);

/* Reads the text of one file about the crate. *out_advisory is NULL if the version is not
 * affected, or the advisory is withdrawn. False: the file cannot be used, see `why`; true
 * with a text in `why`: it is used, but a requirement of it matches nothing. */
bool advisory_read(const char *text, size_t len, const char *name, const char *version,
                   advisory **out_advisory, reason *why);

#endif
