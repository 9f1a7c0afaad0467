/* SPDX-License-Identifier: Apache-2.0 */
/* A fetch to which any piece of memory may be refused: what is told as whole is whole. */
#include "failing.h"
#include "told.h"

static void
fetch_them(told *to)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_fetch *f = NULL;
    bool given[TOLD_URLS] = {0};

    memset(to, 0, sizeof *to);
    told_teach(s);
    told_set(&o, to);
    o.keep |= SEINE_KEEP_WIRE;
    script_tighten(s);
    seine_err e = sn_fetch_open(&o, script_net(s), &f, NULL);
    CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
    for (int i = 0; f && i < TOLD_URLS; i++) {
        e = seine_fetch_add(f, &told_asks[i], NULL);
        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
        given[i] = e == SEINE_OK;
    }
    if (f)
        CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_free(f);
    for (int i = 0; i < TOLD_URLS; i++)
        CHECK_EQ(to->n[i], given[i]);
    told_check_sent(s);
    seine_cookie_jar_free(o.jar);
    script_free(s);
}

/* Of a response that is whole, or of a URL that was refused. */
static bool
names_the_lack(const told *t, int i)
{
    return t->code[i] == SEINE_E_NOMEM ||
           strstr(t->text[i], "no memory to match a pattern") ||
           strstr(t->text[i], "\"extract\":{\"error\":{\"kind\":\"nomem\"");
}

TEST(whatever_memory_is_refused_a_record_is_the_whole_one_or_names_the_lack)
{
    told *whole = calloc(1, sizeof *whole), *got = calloc(1, sizeof *got);

    fetch_them(whole);
    CHECK_EQ(whole->fate[0], SEINE_FATE_OK);
    CHECK_EQ(whole->fate[1], SEINE_FATE_OK);
    CHECK_EQ(whole->type[2], SEINE_RECORD_SKIP);
    CHECK_EQ(whole->type[3], SEINE_RECORD_SKIP);
    CHECK_EQ(whole->code[4], SEINE_E_TOO_MANY_REDIRECTS);
    CHECK_EQ(whole->type[5], SEINE_RECORD_SKIP);
    FAIL_EACH(round)
    {
        fetch_them(got);
        for (int i = 0; i < TOLD_URLS; i++)
            if (got->n[i] > 0 && !names_the_lack(got, i))
                told_check_same(got->text[i], whole->text[i]);
    }
    free(whole);
    free(got);
}
