/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advisory.h - the advisories about one version of a crate, from several sources.
 *
 * Databases describe the same flaw under several ids. Entries that share an id or an
 * alias become one advisory, with the highest severity that one of them states. It is a
 * vulnerability if one of them says so; the other kinds are informational.
 *
 *     advisory_list list = {0};
 *     advisory *a = advisory_new("RUSTSEC-2021-0003");
 *     advisory_add_id(a, "CVE-2021-25900");
 *     a->kinds = ADVISORY_VULNERABILITY;
 *     advisory_list_give(&list, a);
 *     audit_score score = advisory_score(&list);
 *     advisory_list_fini(&list);
 */
#ifndef CLI_ADVISORY_H
#define CLI_ADVISORY_H

#include <stdbool.h>
#include <stddef.h>

#include <seine/cvss.h>

enum {
    ADVISORY_VULNERABILITY = 1,
    ADVISORY_UNSOUND = 2,
    ADVISORY_NOTICE = 4,
    ADVISORY_UNMAINTAINED = 8
};

/* Of one crate: more entries, or more ids of one entry, are no answer. */
enum { ADVISORY_MOST = 2000, ADVISORY_IDS = 64 };

typedef struct advisory {
    char **ids; /* the first is its name */
    size_t n_ids, ids_cap;
    unsigned kinds;
    seine_severity severity;
    int tenths;     /* of the CVSS vector; -1: none */
    char *cvss;     /* the vector; NULL: none */
    char *title;    /* NULL: none */
    char **patched; /* requirements */
    size_t n_patched, patched_cap;
} advisory;

typedef struct advisory_list {
    advisory **items;
    size_t count, cap;
    bool is_answered; /* a source has been asked, and has answered */
} advisory_list;

advisory *advisory_new(const char *id);
void advisory_free(advisory *a);                   /* NULL is fine */
void advisory_add_id(advisory *a, const char *id); /* an alias; known ones are ignored */
void advisory_add_patched(advisory *a, const char *req);

/* Takes a CVSS vector; other than 3.0 and 3.1 are ignored. */
void advisory_rate(advisory *a, const char *vector, size_t len);

/* Merges the entry with those that share an id. */
void advisory_list_give(advisory_list *list, advisory *give);
void advisory_list_fini(advisory_list *list);

/* Sorts by severity, the worst first, then by id. */
void advisory_list_sort(advisory_list *list);

/* "vulnerability", "unsound", "notice" or "unmaintained": the worst of its kinds. */
const char *advisory_kind(const advisory *a);

/* unmaintained alone says something about the status, and is not listed. */
bool advisory_is_listed(const advisory *a);

typedef struct audit_score {
    size_t vulnerabilities;
    unsigned hundredths;
} audit_score;
audit_score advisory_score(const advisory_list *list);

/* Of the list: an advisory that says unmaintained; NULL: none. */
const advisory *advisory_unmaintained(const advisory_list *list);

#endif
