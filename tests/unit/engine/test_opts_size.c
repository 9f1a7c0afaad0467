/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/call.h"
#include "seine/convert.h"
#include "seine/crawl.h"
#include "seine/explain.h"
#include "seine/fetch.h"
#include "seine/input.h"
#include "seine/keyed.h"
#include "seine/links.h"
#include "seine/log.h"
#include "seine/pool.h"
#include "seine/retry.h"
#include "seine/retry_budget.h"
#include "seine/seen.h"
#include "seine/shared.h"
#include "seine/sink.h"
#include "seine/sitemap.h"
#include "seine/throttle.h"
#include "seine/tree.h"
#include "seine/warc.h"

#include "check.h"

static seine_fault
succeed(seine_ctx *ctx, uint32_t number, void *arg)
{
    (void)ctx, (void)number, (void)arg;
    return (seine_fault)SEINE_FAULT;
}

static bool
ignore_entry(const seine_sitemap_entry *entry, void *arg)
{
    (void)entry, (void)arg;
    return true;
}

/* Options as their initialiser makes them, but without their size. */
#define SIZELESS(type, name, initialiser) \
    type name = initialiser;              \
    name.size = 0

TEST(opts_size_is_asked_for_by_every_guard)
{
    seine_clock *clock;
    seine_ctx *ctx = NULL;
    void *out = NULL;

    CHECK_EQ(seine_clock_fake_new(0, 0, 1, &clock), SEINE_OK);
    CHECK_EQ(seine_ctx_root(clock, &ctx), SEINE_OK);
    SIZELESS(seine_breaker_opts, breaker, SEINE_BREAKER_OPTS);
    CHECK_EQ(seine_breaker_init(&(seine_breaker){0}, &breaker), SEINE_E_INVAL);
    SIZELESS(seine_keyed_opts, keyed, SEINE_KEYED_OPTS);
    CHECK_EQ(seine_keyed_new(&keyed, (seine_keyed **)&out), SEINE_E_INVAL);
    SIZELESS(seine_shared_opts, shared, SEINE_SHARED_OPTS);
    CHECK_EQ(seine_shared_new(&shared, 0, (seine_shared **)&out), SEINE_E_INVAL);
    SIZELESS(seine_seen_opts, seen, SEINE_SEEN_OPTS);
    CHECK_EQ(seine_seen_new(&seen, (seine_seen **)&out), SEINE_E_INVAL);
    SIZELESS(seine_pool_opts, pool, SEINE_POOL_OPTS);
    CHECK_EQ(seine_pool_new(&pool, ctx, (seine_pool **)&out), SEINE_E_INVAL);
    SIZELESS(seine_retry_opts, retry, SEINE_RETRY_OPTS);
    CHECK_EQ(seine_retry_check(&retry), SEINE_E_INVAL);
    SIZELESS(seine_retry_budget_opts, budget, SEINE_RETRY_BUDGET_OPTS);
    CHECK_EQ(seine_retry_budget_new(&budget, (seine_retry_budget **)&out), SEINE_E_INVAL);
    SIZELESS(seine_adapt_opts, adapt, SEINE_ADAPT_OPTS);
    CHECK_EQ(seine_throttle_init_adaptive(&(seine_throttle){0}, &adapt), SEINE_E_INVAL);
    SIZELESS(seine_call_opts, call, SEINE_CALL_OPTS);
    CHECK_EQ(seine_call(&call, ctx, seine_key_str("k"), succeed, NULL, NULL),
             SEINE_E_INVAL);
    CHECK(!out);
    seine_ctx_unref(ctx);
    seine_clock_fake_free(clock);
}

TEST(opts_size_is_asked_for_by_every_reader_and_writer)
{
    seine_tree *tree = NULL;
    seine_sinks *sinks = NULL;
    void *out = NULL;

    SIZELESS(seine_log_opts, log, SEINE_LOG_OPTS);
    CHECK_EQ(seine_log_new(&log, (seine_log **)&out), SEINE_E_INVAL);
    SIZELESS(seine_links_opts, links, SEINE_LINKS_OPTS);
    CHECK_EQ(seine_links_new(&links, (seine_links **)&out), SEINE_E_INVAL);
    SIZELESS(seine_sitemap_opts, sitemap, SEINE_SITEMAP_OPTS);
    CHECK_EQ(seine_sitemap_new(&sitemap, ignore_entry, NULL, (seine_sitemap **)&out),
             SEINE_E_INVAL);
    SIZELESS(seine_tree_opts, how, SEINE_TREE_OPTS);
    CHECK_EQ(seine_tree_new(&tree), SEINE_OK);
    CHECK_EQ(seine_tree_parse(tree, "<p>", 3, &how), SEINE_E_INVAL);
    seine_tree_free(tree);
    SIZELESS(seine_warc_opts, warc, SEINE_WARC_OPTS);
    CHECK_EQ(seine_warc_new(&warc, (seine_warc **)&out), SEINE_E_INVAL);
    SIZELESS(seine_input_opts, input, SEINE_INPUT_OPTS);
    input.path = "-";
    CHECK_EQ(seine_input_open(&input, (seine_input **)&out, NULL), SEINE_E_INVAL);
    SIZELESS(seine_sinks_opts, all, SEINE_SINKS_OPTS);
    CHECK_EQ(seine_sinks_new(&all, (seine_sinks **)&out), SEINE_E_INVAL);
    SIZELESS(seine_sink_opts, sink, SEINE_SINK_OPTS);
    CHECK_EQ(seine_sinks_new(NULL, &sinks), SEINE_OK);
    CHECK_EQ(seine_sinks_open(sinks, &sink, NULL), SEINE_E_INVAL);
    seine_sinks_free(sinks);
    SIZELESS(seine_convert_opts, convert, SEINE_CONVERT_OPTS);
    CHECK_EQ(seine_convert(&convert, &(seine_converted){0}, NULL), SEINE_E_INVAL);
    CHECK(!out);
}

TEST(opts_size_is_asked_for_by_the_engine_which_names_the_member)
{
    seine_fetch *fetch = NULL;
    seine_explain *explain = NULL;
    seine_diag diag = SEINE_DIAG;
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;

    SIZELESS(seine_fetch_opts, o, SEINE_FETCH_OPTS);
    CHECK_EQ(seine_fetch_new(&o, &fetch, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "size");
    o.crawl = &crawl;
    CHECK_EQ(seine_explain_new(&o, &explain, NULL), SEINE_E_INVAL);
    o.size = sizeof o;
    crawl.size = 0;
    CHECK_EQ(seine_fetch_new(&o, &fetch, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "crawl.size");
    crawl.size = sizeof crawl;
    SIZELESS(seine_revisit_opts, revisit, SEINE_REVISIT_OPTS);
    o.revisit = &revisit;
    CHECK_EQ(seine_fetch_new(&o, &fetch, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "revisit.size");
    revisit.size = sizeof revisit;
    CHECK_EQ(seine_fetch_new(&o, &fetch, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "revisit"); /* there is no job */
    CHECK(!fetch && !explain);
}
