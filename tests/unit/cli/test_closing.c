/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/closing.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "screen/progress.h"
#include "verbs/outputs.h"

/* The line of a closing, which is too large for the stack. */
static void
check_line(const closing *c, const char *want)
{
    textbuf out = {0};

    closing_line(c, &out);
    CHECK_STR(out.text, want);
    textbuf_free(&out);
}

TEST(closing_line_adds_up_what_became_of_the_urls)
{
    seine_fetch_opts opts = SEINE_FETCH_OPTS;
    closing *c = calloc(1, sizeof *c);

    c->opts = &opts;
    c->stopped_by = "done";
    c->wall = SEINE_MS(200);
    c->sums.total = c->sums.ok = 1;
    check_line(c, "done: 1 URL, 1 ok in 200 ms");
    c->sums.total = 6;
    c->sums.fates[SEINE_FATE_HTTP_ERROR] = 5;
    c->sums.statuses[404] = 3;
    c->sums.statuses[500] = 2;
    check_line(c, "done: 6 URLs, 1 ok, 5 http_error (404 ×3, 500 ×2) in 200 ms");
    c->sums.statuses[500] = 0;
    c->sums.statuses[404] = 5;
    check_line(c, "done: 6 URLs, 1 ok, 5 http_error (404) in 200 ms");
    c->stats.duplicates = 1;
    c->stopped_by = "signal";
    check_line(c, "done: 6 URLs, 1 ok, 5 http_error (404), 1 duplicate in 200 ms, "
                  "stopped by a signal");
    free(c);
}

TEST(closing_line_names_the_four_most_frequent_statuses)
{
    seine_fetch_opts opts = SEINE_FETCH_OPTS;
    closing *c = calloc(1, sizeof *c);

    c->opts = &opts;
    c->stopped_by = "done";
    c->wall = SEINE_SECS(1);
    c->sums.total = c->sums.fates[SEINE_FATE_HTTP_ERROR] = 15;
    for (unsigned i = 1; i <= 5; i++)
        c->sums.statuses[400 + i] = i;
    check_line(c,
               "done: 15 URLs, 0 ok, 15 http_error (405 ×5, 404 ×4, 403 ×3, 402 ×2, …) "
               "in 1 s");
    free(c);
}

/* Requests that took from microseconds to minutes. */
TEST(closing_table_keeps_within_the_screen)
{
    seine_fetch_opts opts = SEINE_FETCH_OPTS;
    closing *c = calloc(1, sizeof *c);
    uint64_t bins[OUTPUTS_BINS];

    for (size_t i = 0; i < OUTPUTS_BINS; i++)
        bins[i] = i + 1;
    c->opts = &opts;
    c->bins = bins;
    c->wall = SEINE_SECS(60);
    c->sums.total = c->stats.requests = 1000000;
    c->sums.fates[SEINE_FATE_OK] = 999000;
    c->sums.fates[SEINE_FATE_HTTP_ERROR] = 1000;
    for (unsigned i = 0; i < 30; i++)
        c->sums.statuses[400 + i] = 33;
    for (size_t width = 80; width <= 140; width += 5) {
        screen s = {.width = width, .blocks = true};
        textbuf out = {0};

        closing_table(c, &s, &out);
        for (char *line = out.text, *feed; (feed = strchr(line, '\n')); line = feed + 1) {
            *feed = '\0';
            CHECK(progress_columns(line) <= width);
        }
        textbuf_free(&out);
    }
    free(c);
}

TEST(closing_line_of_skips_begins_with_the_most_frequent_reason)
{
    seine_fetch_opts opts = SEINE_FETCH_OPTS;
    closing *c = calloc(1, sizeof *c);

    c->opts = &opts;
    c->stopped_by = "done";
    c->wall = SEINE_SECS(1);
    c->sums.total = c->sums.skipped = 212;
    c->sums.skips[SEINE_SKIP_ROBOTS] = 14;
    c->sums.skips[SEINE_SKIP_BAD_URL] = 198;
    check_line(c, "done: 212 URLs, 0 ok, 212 skipped (198 bad_url, 14 robots) in 1 s");
    free(c);
}
