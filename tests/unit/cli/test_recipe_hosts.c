/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "recipes/recipe_state.h"

static void
begin(recipe_state *s)
{
    memset(s, 0, sizeof *s);
    CHECK_EQ(pthread_mutex_init(&s->lock, NULL), 0);
}

static void
end(recipe_state *s)
{
    for (size_t i = 0; i < s->n_hosts; i++)
        free(s->hosts[i].name);
    free(s->hosts);
    pthread_mutex_destroy(&s->lock);
}

/* What the recipe sends to a host that it names by https is not sent in plain. */
TEST(a_host_that_is_named_by_https_is_not_named_by_http)
{
    recipe_state s;

    begin(&s);
    recipe_know_host(&s, "https://a.example/list", true);
    recipe_know_host(&s, "http://b.example/list", true);
    recipe_know_host(&s, "https://c.example/", false);
    CHECK(recipe_knows_host(&s, "https://a.example/1", true));
    CHECK(!recipe_knows_host(&s, "http://a.example/1", true));
    CHECK(recipe_knows_host(&s, "http://a.example/1", false));
    CHECK(recipe_knows_host(&s, "http://b.example/1", true));
    CHECK(recipe_knows_host(&s, "https://b.example/1", true));
    CHECK(!recipe_knows_host(&s, "https://c.example/1", true));
    recipe_know_host(&s, "HTTP://a.example/other", true); /* by both */
    CHECK(recipe_knows_host(&s, "http://a.example/1", true));
    CHECK_EQ(s.n_hosts, 4);
    end(&s);
}
