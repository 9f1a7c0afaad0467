/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what a run was like: figures gathered from its records, and their forms.
 *
 * A report takes entries one by one and keeps sums, histograms and the first or the worst
 * of each kind. Memory does not grow with the number of records: about 15 MB at most.
 *
 *     report *r = report_new();
 *     entry e = {0};
 *     report_add(r, &e);                             once per record
 *     report_rank(r);
 *     textbuf out = {0};
 *     report_html(r, &out);
 *     report_free(r);
 *
 * Hosts: 4,096 are told apart. When there are more, the quieter half of them is counted
 * as "other hosts", so that the busiest ones stay (lossy counting).
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <seine/plumbing.h>

#include "report/entry.h"
#include "report/latency.h"
#include "report/report_load.h"
#include "report/report_settings.h"
#include "screen/textbuf.h"

enum {
    REPORT_HOSTS = 4096,  /* told apart … */
    REPORT_SHOWN = 200,   /* … and shown */
    REPORT_MOMENTS = 120, /* bins over time, at most */
    REPORT_KINDS = 32,    /* of failures, of media types */
    REPORT_FIRST = 20,    /* URLs of a kind of failure */
    REPORT_TOP = 20,      /* slowest URLs, redirects */
    REPORT_SIZES = 24,    /* bins of bodies: 0, then powers of four from 64 bytes … */
    REPORT_TEXT = 300     /* bytes of a foreign text that are kept */
};

/* What became of a URL, in the words of status classes. */
typedef enum report_class {
    CLASS_OK, /* 1xx and 2xx, and other statuses that were accepted */
    CLASS_3XX,
    CLASS_4XX,
    CLASS_5XX,
    CLASS_NONE, /* no answer, or none that counts */
    CLASSES
} report_class;

/* What time is spent on: our own waits, the network, the server. */
typedef enum report_part {
    PART_QUEUE,
    PART_THROTTLE,
    PART_BACKOFF,
    PART_RETRY_BUDGET,
    PART_DNS,
    PART_CONNECT,
    PART_TLS,
    PART_TTFB,
    PART_BODY,
    PART_EARLIER, /* attempts before the last, and redirects */
    PART_OTHER,   /* of a URL that had neither: this machine was busy, or nobody knows */
    PARTS
} report_part;

typedef struct report_moment {
    uint64_t classes[CLASSES], skipped, bytes;
    seine_span parts[PARTS];
    latency latency;
} report_moment;

/* Figures over time. When the time outgrows the bins, each becomes twice as wide. */
typedef struct report_times {
    int64_t from; /* of the first bin; a multiple of the width */
    seine_span width;
    size_t n; /* bins that are used: the last one has an entry */
    int64_t first, last;
    report_moment *all;
} report_times;

typedef struct report_host {
    char *name;
    uint64_t hash;
    uint64_t urls, requests, ok, failed, skipped, bytes;
    latency latency;
} report_host;

typedef struct report_url {
    char *url, *other; /* the page that links there, or where a redirect leads; NULL */
    uint32_t line;
    unsigned status;
    seine_span took;
    uint64_t bytes;
} report_url;

typedef struct report_group {
    char name[48];
    char *hint, *message; /* of the first that had one; NULL */
    uint64_t n;
    report_url first[REPORT_FIRST];
    size_t kept;
} report_group;

typedef struct report_groups {
    report_group *all; /* the last of REPORT_KINDS is "others" */
    size_t n;
} report_groups;

typedef struct report_top {
    report_url all[REPORT_TOP];
    size_t n;
} report_top;

typedef struct report {
    char title[160];   /* what it is about: the job, the first file */
    char job[132];     /* ""; none */
    const char *state; /* the directory of the job; borrowed */
    char *command;     /* as it was typed; NULL */
    uint64_t pending;  /* of the job */
    bool is_unfinished;

    uint64_t total, ok, failed, blocked, skipped, bad_lines;
    uint64_t fates[SEINE_FATE_ROOM], statuses[1000];
    uint64_t attempts, retries, bytes_in, bytes_body;
    uint64_t nameless; /* records of earlier runs, of which the job kept no URL */
    uint64_t items_good, items_bad, links;
    uint64_t sizes[REPORT_SIZES];
    seine_span parts[PARTS], waits[SEINE_WAIT_ROOM];
    latency latency;
    report_times times;
    report_host **hosts;
    report_host others; /* hosts that are not told apart */
    uint32_t *slots;    /* of a hash table; 0: free, else 1 + place in hosts */
    size_t n_hosts;
    bool has_others;
    report_groups failures, skips, types, verdicts, redirects;
    uint64_t redirected, longest_chain;
    report_top slowest, largest;
    seine_json *summary; /* the last one; NULL: none */
    report_load load;    /* of its timeline; n 0: there is none */
    report_settings settings;
    const char *job_state; /* "running"; NULL: no job */
    bool is_resumed;   /* some records are those that the job has kept of earlier runs */
    bool is_bare;      /* the records come from the state of the job */
    const char *where; /* the condition that chose the records; NULL: all */
    uint64_t summaries;
    entry_reader reader;
} report;

report *report_new(void);
void report_free(report *r);
void report_add(report *r, const entry *e);

/* Takes a line of records: results, skips, links, items and the summary. */
void report_line(report *r, seine_view line);

/* Puts the busiest hosts and the largest groups first; called before anything below. */
void report_rank(report *r);

/* Figures of what was taken */

const char *report_class_name(report_class c); /* "2xx" */
const char *report_part_name(report_part p);   /* "waiting for the first byte" */
const char *report_part_word(report_part p);   /* "ttfb" */
seine_span report_spent(const report *r);      /* on everything */
seine_span report_wall(const report *r);       /* from the first record to the last */

/* The part of the time that is largest, and the one setting that would help most. */
typedef struct report_advice {
    report_part part;
    double share;      /* of the whole */
    char head[96];     /* "93 % waiting for the server" */
    char text[400];    /* a sentence; "": there is nothing to advise */
    char setting[160]; /* "--per-host 8"; "": none would help */
} report_advice;
report_advice report_advise(const report *r);

/* One sentence: how it went. */
void report_verdict(const report *r, textbuf *out);

/* What to type next; nothing if there is nothing to do. */
void report_next(const report *r, textbuf *out);

/* A member of the summary, 0 or "" if there is none. */
uint64_t report_fact(const report *r, const char *name);
const char *report_word(const report *r, const char *name);
const seine_json *report_top_host(const report *r, const char *host);

/* Of a recipe: is there anything to say of items; expectations that are not met. */
bool report_items_any(const report *r);
const seine_json *report_unmet(const report *r);

/* A field of the items: of so many rows so many have it, and so many a value that is
 * wrong. */
typedef struct report_field {
    const char *kind, *name;
    uint64_t rows, filled, errors;
} report_field;

/* False: there is no field `i`. */
bool report_field_at(const report *r, size_t i, report_field *out);

/* Forms */

void report_text(const report *r, const screen *s, textbuf *out);
void report_json(const report *r, textbuf *out);
void report_junit(const report *r, textbuf *out);
void report_markdown(const report *r, textbuf *out);
void report_html(const report *r, textbuf *out);

#endif
