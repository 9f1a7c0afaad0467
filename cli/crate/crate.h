/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crate.h - the parts of `seine crate`: what is known about a crate, and what follows.
 *
 * crate_analyse.c asks the registry and OSV through crate_client.c, and crate_answer.c
 * reads what they answer into a crate_facts. crate_judge.c is arithmetic on these facts:
 * the score, the status, the recommendation. crate_gate.c says what the user forbids.
 * crate_json.c, crate_table.c and crate_csv.c print.
 */
#ifndef CLI_CRATE_H
#define CLI_CRATE_H

#include <stdint.h>

#include <seine/plumbing.h>

#include "crate/advisory.h"
#include "crate/advisory_db.h"
#include "crate/crate_gate.h"
#include "options/fetch_settings.h"
#include "options/options.h"

typedef struct crate_settings {
    fetch_settings net; /* first: request.h looks there */
    bool insecure;
    const char *api, *osv_api, *advisory_db, *now, *fail_under;
    texts deny;
    uint64_t depth;
    bool stable, json, verbose;
    int format;
} crate_settings;

enum { CRATE_AUTO, CRATE_TEXT, CRATE_JSONL, CRATE_CSV };

/* The parts of the quality score, in hundredths. */
enum {
    SCORE_DOWNLOADS,
    SCORE_DOCUMENTATION,
    SCORE_REPOSITORY,
    SCORE_LICENSE,
    SCORE_KEYWORDS,
    SCORE_RECENT,
    SCORE_PARTS
};
extern const char *const crate_part_names[SCORE_PARTS];

typedef enum crate_status {
    STATUS_DEPRECATED,
    STATUS_ARCHIVED,
    STATUS_COMMUNITY,
    STATUS_ACTIVE
} crate_status;

typedef enum crate_verdict { VERDICT_USE, VERDICT_CAUTION, VERDICT_AVOID } crate_verdict;

typedef enum dep_kind { DEP_NORMAL, DEP_DEV, DEP_BUILD } dep_kind;

typedef struct crate_dep {
    dep_kind kind;
    const char *name, *req;
    const seine_json *features; /* a list of texts; NULL: none */
} crate_dep;

/* What the registry says. Texts are borrowed from the trees. */
typedef struct crate_facts {
    seine_json *crate, *version, *dependencies; /* the answers */
    char *name, *num;                           /* of the crate, and of its version */
    uint64_t downloads, recent;
    const char *documentation, *repository, *homepage, *license, *description;
    const seine_json *keywords, *categories; /* lists; NULL: none */
    const char *badge;                       /* of maintenance; NULL: none */
    bool is_yanked;                          /* every version is */
    int64_t released; /* when the newest version that is not yanked was; 0: unknown */
    crate_dep *deps;
    size_t n_deps, deps_cap;
} crate_facts;

/* What follows from them. */
typedef struct crate_judgement {
    unsigned parts[SCORE_PARTS], quality;
    bool is_audited;
    audit_score security;
    crate_status status;
    char status_reason[160];
    crate_verdict verdict;
    char **reasons;
    size_t n_reasons, reasons_cap;
} crate_judgement;

/* A crate that was analysed, or a package that was audited. */
typedef struct crate_report {
    crate_facts facts;
    advisory_list advisories;
    crate_judgement judged;
    const char *file; /* the lock file; NULL: it was typed */
} crate_report;

/* What a run has found, and how it went. */
typedef struct crate_run {
    const args *args;
    const crate_settings *set;
    crate_gate gate;
    advisory_db *db; /* NULL: none */
    int64_t now;     /* Unix time in seconds: ages are counted to here */
    int64_t clock;   /* when this run began, likewise */
    bool is_audit;
    crate_report **reports;
    size_t count, cap;
    size_t audited, elsewhere; /* of lock files: packages, and those of no registry */
    int code;                  /* the worst so far, by the order of exit codes */
} crate_run;

/* The exit code that outranks the other: 2, 3, a signal, 5, 6, 4, 1, 0. */
int crate_worse(int a, int b);
void crate_fail(crate_run *r, int code);

/* Reads what all of `seine crate` share; SAY_DONE, or the exit code after a message. */
int crate_run_open(crate_run *r, const args *a, bool is_audit);
void crate_run_free(crate_run *r);
void crate_report_add(crate_run *r, crate_report *give);
void crate_report_free(crate_report *report);

/* Sorts, prints, asks the gates; returns the exit code. */
int crate_run_finish(crate_run *r);

/* Analyses the crates that were typed, and their dependencies. */
int crate_analyse(const args *a);

/* Audits NAME@VERSION and the packages of lock files. */
int crate_audit(const args *a);

/* The members of answers. Each is false with `why` if the answer has another shape. */
bool crate_answer_crate(crate_facts *f, seine_json *give, const char *asked, reason *why);
bool crate_answer_version(crate_facts *f, seine_json *give, reason *why);
bool crate_answer_dependencies(crate_facts *f, seine_json *give, reason *why);

/* Adds the entries of a page of OSV. *out_next: the token of the next page, borrowed;
 * NULL: it was the last. */
bool crate_answer_osv(advisory_list *list, const seine_json *page, const char *name,
                      const char **out_next, reason *why);

/* The version to look at: the newest that fits the requirement, if there is one, else the
 * newest of all; a yanked one only where nothing else is there. NULL: `why` says why
 * there is none. Borrowed. */
const char *crate_pick_version(const crate_facts *f, const char *req, bool stable,
                               reason *why);

void crate_judge(const crate_facts *f, advisory_list *advisories, int64_t now,
                 crate_judgement *j);
/* Of advisories alone. */
void crate_judge_audit(advisory_list *advisories, crate_judgement *j);
void crate_judgement_fini(crate_judgement *j);
const char *crate_status_name(crate_status s);
const char *crate_verdict_name(crate_verdict v);

/* use before caution before avoid, then quality, downloads, name. */
int crate_order(const void *x, const void *y);

void crate_print_json(const crate_run *r, const crate_report *c);
void crate_print_table(const crate_run *r);
void crate_print_details(const crate_run *r, const crate_report *c);
void crate_print_csv(const crate_run *r);

#endif
