/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_schema.h - the tables of a database of records, and whether a file has them.
 *
 *     e = sn_schema_make(db, repeats);          an empty file gets all tables
 *     e = sn_schema_check(db, &is_unique);      OUTPUT_CHANGED: other tables
 *
 * A file may come from a stranger, with anything under the names of our tables: a view
 * whose query never ends, a virtual table, columns that compute. So a table is ours only
 * if it was declared in our very words. Tables, views and indexes of other names belong
 * to the user and do not matter; triggers and views never run (sqlite.c).
 *
 * Time    plays no part.
 * Memory  SQLite's own.
 * Threads one owner.
 */
#ifndef SN_SQLITE_SCHEMA_H
#define SN_SQLITE_SCHEMA_H

#include "store/sqlite.h"

#define SN_SCHEMA         1
#define SN_APPLICATION_ID 0x5345494E /* SEIN */

/* Makes the tables and marks the file as ours. `repeats`: a key may come twice. */
SEINE_MUST_CHECK seine_err sn_schema_make(sn_sqlite *db, bool repeats);

/* OUTPUT_CHANGED: a table is missing or is another one. */
SEINE_MUST_CHECK seine_err sn_schema_check(sn_sqlite *db, bool *out_is_unique);

/* Makes the table `target`, if it is not there. OUTPUT_CHANGED: it is another one. */
SEINE_MUST_CHECK seine_err sn_schema_make_target(sn_sqlite *db);

/* Makes the table `timeline`, if it is not there. OUTPUT_CHANGED: it is another one. */
SEINE_MUST_CHECK seine_err sn_schema_make_timeline(sn_sqlite *db);

/* *out_is_there: there is one, and it is ours. */
SEINE_MUST_CHECK seine_err sn_schema_find_timeline(sn_sqlite *db, bool *out_is_there);

#endif
