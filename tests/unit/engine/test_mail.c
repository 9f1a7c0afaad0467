/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/mail.h"

#include <pthread.h>
#include <stdio.h>

#include "check.h"
#include "failing.h"

static sn_link
link_to(const char *url, const char *parent, uint32_t line)
{
    return (sn_link){.url = sn_str_of(url),
                     .parent = sn_str_of(parent),
                     .number = line * UINT64_C(10000000000),
                     .line = line,
                     .depth = line + 1,
                     .moved = 3,
                     .ceiling = 2,
                     .tag = 4,
                     .attr = 5,
                     .kind = 1};
}

TEST(mail_is_read_as_it_was_written)
{
    static const char *const parents[] = {"http://p.test/", "http://p.test/", "",
                                          "http://q.test/", "http://p.test/"};
    sn_post *post = NULL;
    sn_link l;
    char url[5][32];
    size_t at = 0;

    EACH_ROW(i, parents) {
        snprintf(url[i], sizeof url[i], "http://u.test/%zu", i);
        l = link_to(url[i], parents[i], (uint32_t)i);
        CHECK_EQ(sn_mail_write(&post, &l), SEINE_OK);
    }
    CHECK_EQ(post->n, 5);
    EACH_ROW(i, parents) {
        CHECK(sn_mail_read(post, &at, &l));
        CHECK(sn_str_eq(l.url, sn_str_of(url[i])));
        CHECK(sn_str_eq(l.parent, sn_str_of(parents[i])));
        CHECK_EQ(l.number, i * UINT64_C(10000000000));
        CHECK_EQ(l.line, i);
        CHECK_EQ(l.depth, i + 1);
        CHECK(l.moved == 3 && l.ceiling == 2 && l.tag == 4 && l.attr == 5 && l.kind == 1);
    }
    CHECK(!sn_mail_read(post, &at, &l));
    sn_mail_free(post);
}

TEST(mail_says_the_parent_of_links_in_a_row_once)
{
    sn_post *post = NULL;
    sn_link l = link_to("/", "http://a-rather-long-parent.test/index.html", 1);

    CHECK_EQ(sn_mail_write(&post, &l), SEINE_OK);
    uint32_t first = post->used;
    CHECK_EQ(sn_mail_write(&post, &l), SEINE_OK);
    CHECK_EQ(post->used - first, first - l.parent.len);
    sn_mail_free(post);
}

TEST(mail_comes_out_of_the_box_in_the_order_it_was_put)
{
    sn_box box = {NULL};
    sn_link l = link_to("http://u.test/", "", 0);

    CHECK(!sn_mail_take_all(&box));
    for (uint32_t i = 0; i < 3; i++) {
        sn_post *post = NULL;
        l.line = i;
        CHECK_EQ(sn_mail_write(&post, &l), SEINE_OK);
        CHECK_EQ(sn_mail_put(&box, post), i == 0); /* wake the owner once */
    }
    sn_post *p = sn_mail_take_all(&box);
    for (uint32_t i = 0; i < 3; i++) {
        sn_post *next = p->next;
        size_t at = 0;
        CHECK(sn_mail_read(p, &at, &l));
        CHECK_EQ(l.line, i);
        sn_mail_free(p);
        p = next;
    }
    CHECK(!p && !sn_mail_take_all(&box));
}

TEST(mail_without_memory_stays_as_it_was)
{
    FAIL_EACH(n)
    {
        sn_post *post = NULL;
        sn_link l = link_to("http://u.test/", "http://p.test/", 1), got;
        uint32_t written = 0;
        size_t at = 0;

        for (int i = 0; i < 200; i++)
            written += sn_mail_write(&post, &l) == SEINE_OK;
        while (post && sn_mail_read(post, &at, &got))
            written--;
        CHECK_EQ(written, 0);
        sn_mail_free(post);
    }
}

enum { SENDERS = 3, POSTS = 500 };

static void *
put_many(void *arg)
{
    sn_box *box = arg;
    sn_link l = link_to("http://u.test/", "http://p.test/", 1);

    for (int i = 0; i < POSTS; i++) {
        sn_post *post = NULL;
        if (sn_mail_write(&post, &l) == SEINE_OK)
            sn_mail_put(box, post);
    }
    return NULL;
}

TEST_THREADS(no_mail_is_lost_between_threads)
{
    sn_box box = {NULL};
    pthread_t senders[SENDERS];
    int got = 0;

    for (int i = 0; i < SENDERS; i++)
        CHECK_EQ(pthread_create(&senders[i], NULL, put_many, &box), 0);
    while (got < SENDERS * POSTS)
        for (sn_post *p = sn_mail_take_all(&box), *next; p; p = next) {
            next = p->next;
            got += (int)p->n;
            sn_mail_free(p);
        }
    for (int i = 0; i < SENDERS; i++)
        pthread_join(senders[i], NULL);
    CHECK_EQ(got, SENDERS * POSTS);
    CHECK(!sn_mail_take_all(&box));
}
