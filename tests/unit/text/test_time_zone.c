/* SPDX-License-Identifier: Apache-2.0 */
#include "text/time_zone.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "seine/calendar.h"

/* "2024-03-10 02:30" as seconds; -1: none. */
static int64_t
local(const char *text)
{
    seine_date d = {.second = 0};

    d.year = (int)strtol(text, NULL, 10);
    d.month = (int)strtol(text + 5, NULL, 10);
    d.day = (int)strtol(text + 8, NULL, 10);
    d.hour = (int)strtol(text + 11, NULL, 10);
    d.minute = (int)strtol(text + 14, NULL, 10);
    if (strlen(text) > 16)
        d.second = (int)strtol(text + 17, NULL, 10);
    return seine_calendar_seconds(&d);
}

/* A file in the making */

typedef struct file {
    char bytes[1024];
    size_t n;
} file;

static void
put(file *f, uint64_t value, size_t width)
{
    while (width-- > 0)
        f->bytes[f->n++] = (char)(width < 8 ? value >> (8 * width) : 0);
}

static void
put_head(file *f, char version, uint32_t leaps, uint32_t times, uint32_t kinds)
{
    memcpy(f->bytes + f->n, "TZif", 4);
    f->n += 4;
    f->bytes[f->n++] = version;
    put(f, 0, 8), put(f, 0, 7);
    const uint32_t all[] = {0, 0, leaps, times, kinds, 4};
    for (size_t i = 0; i < 6; i++)
        put(f, all[i], 4);
}

/* Two changes, +1 h to +2 h and back, an hour apart from noon of 2000-01-02 on, then a
 * rule. */
#define NOON INT64_C(946814400)

static file
make_file(char version, const char *rule)
{
    file f = {.n = 0};

    if (version > '1') { /* the first part is for old readers */
        put_head(&f, version, 0, 0, 1);
        put(&f, 0, 6), put(&f, 0, 4);
    }
    put_head(&f, version, 0, 2, 2);
    size_t width = version > '1' ? 8 : 4;
    put(&f, NOON, width), put(&f, NOON + 7200, width);
    put(&f, 1, 1), put(&f, 0, 1);
    put(&f, 3600, 4), put(&f, 0, 2);
    put(&f, 7200, 4), put(&f, 0, 2);
    put(&f, 0, 4); /* the names */
    if (version > '1') {
        f.bytes[f.n++] = '\n';
        memcpy(f.bytes + f.n, rule, strlen(rule));
        f.n += strlen(rule);
        f.bytes[f.n++] = '\n';
    }
    return f;
}

TEST(time_zone_takes_the_later_offset_where_the_clock_is_put)
{
    static const struct {
        int64_t local;
        int32_t want;
    } rows[] = {
        {NOON, 3600}, /* an hour before the change, by the clock */
        {NOON + 3599, 3600},
        {NOON + 3600, 7200}, /* the hour that is missing … */
        {NOON + 7199, 7200},
        {NOON + 7200, 7200}, /* … and what follows */
        {NOON + 7200 + 3599, 7200},
        {NOON + 7200 + 3600, 3600}, /* the hour that comes twice: its second time */
        {NOON + 7200 + 7200, 3600},
        {INT64_MIN, 3600},
        {INT64_MAX, 3600},
    };

    for (int version = '1'; version <= '3'; version++) {
        file f = make_file((char)version, "");
        sn_time_zone z;

        CHECK(sn_time_zone_read(&z, (sn_str){f.bytes, f.n}));
        EACH_ROW(i, rows)
            CHECK_EQ(sn_time_zone_offset(&z, rows[i].local), rows[i].want);
    }
}

TEST(time_zone_follows_its_rule_after_the_last_change)
{
    file f = make_file('2', "CET-1CEST,M3.5.0,M10.5.0/3");
    sn_time_zone z;

    CHECK(sn_time_zone_read(&z, (sn_str){f.bytes, f.n}));
    CHECK_EQ(sn_time_zone_offset(&z, NOON + 8 * 3600), 3600);
    CHECK_EQ(sn_time_zone_offset(&z, local("2037-07-01 00:00")), 7200);
    CHECK_EQ(sn_time_zone_offset(&z, local("9999-12-31 00:00")), 3600);
}

TEST(time_zone_refuses_what_is_no_file_of_zones)
{
    file whole = make_file('2', "UTC0"), f;
    sn_time_zone z;

    for (size_t n = 0; n < whole.n; n++) /* cut anywhere */
        CHECK(!sn_time_zone_read(&z, (sn_str){whole.bytes, n}));
    CHECK(sn_time_zone_read(&z, (sn_str){whole.bytes, whole.n}));
    f = make_file('2', "no rule");
    CHECK(!sn_time_zone_read(&z, (sn_str){f.bytes, f.n}));
    f = make_file('1', "");
    f.bytes[44 + 8] = 2; /* an offset that is not there */
    CHECK(!sn_time_zone_read(&z, (sn_str){f.bytes, f.n}));
    f = make_file('1', "");
    memcpy(f.bytes + 44, f.bytes + 48, 4); /* changes that do not follow each other */
    CHECK(!sn_time_zone_read(&z, (sn_str){f.bytes, f.n}));
    f = make_file('1', "");
    f.bytes[44 + 10] = 1; /* half a year east of UTC */
    CHECK(!sn_time_zone_read(&z, (sn_str){f.bytes, f.n}));
    f = (file){.n = 0};
    put_head(&f, '1', 0, 0, 0);
    put(&f, 0, 4);
    CHECK(!sn_time_zone_read(&z, (sn_str){f.bytes, f.n})); /* no offset at all */
    f = (file){.n = 0};
    put_head(&f, '1', 1, 0, 1);
    put(&f, 0, 64);
    CHECK(!sn_time_zone_read(&z, (sn_str){f.bytes, f.n})); /* leap seconds */
}

/* Years that the rules of POSIX decide; gaps and double hours at -1, 0 and +1 s. */
TEST(time_zone_rules_are_those_of_posix)
{
    static const struct {
        const char *rule, *local;
        int32_t hours_times_60;
    } rows[] = {
        {"UTC0", "2024-07-01 00:00", 0},
        {"<+0530>-5:30", "2024-07-01 00:00", 330},
        {"EST5EDT,M3.2.0,M11.1.0", "2024-03-10 01:59:59", -300},
        {"EST5EDT,M3.2.0,M11.1.0", "2024-03-10 02:00", -240}, /* the gap */
        {"EST5EDT,M3.2.0,M11.1.0", "2024-03-10 02:30", -240},
        {"EST5EDT,M3.2.0,M11.1.0", "2024-03-10 03:00", -240},
        {"EST5EDT,M3.2.0,M11.1.0", "2024-11-03 00:59:59", -240},
        {"EST5EDT,M3.2.0,M11.1.0", "2024-11-03 01:00", -300}, /* the hour that is twice */
        {"EST5EDT,M3.2.0,M11.1.0", "2024-11-03 01:59:59", -300},
        {"EST5EDT,M3.2.0,M11.1.0", "2024-11-03 02:00", -300},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29 01:59:59", 60},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29 02:00", 120},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25 01:59:59", 120},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25 02:00", 60},
        {"NZST-12NZDT,M9.5.0,M4.1.0/3", "2024-01-01 00:00", 780}, /* the south */
        {"NZST-12NZDT,M9.5.0,M4.1.0/3", "2024-07-01 00:00", 720},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", "2024-12-25 12:00", 0}, /* winter is the change */
        {"IST-1GMT0,M10.5.0,M3.5.0/1", "2024-07-01 12:00", 60},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2024-03-30 21:59:59", -120},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2024-03-30 23:00", -60}, /* the eve */
        {"AAA3BBB,J60/0,J300/0", "2024-02-29 12:00",
         -180}, /* J60 is the first of March */
        {"AAA3BBB,J60/0,J300/0", "2024-03-01 00:00", -120},
        {"AAA3BBB,J60/0,J300/0", "2023-03-01 00:00", -120},
        {"AAA3BBB,59/0,300/0", "2024-02-29 00:00", -120}, /* 59 is the 60th day */
        {"AAA3BBB2:30,59/0,300/0", "2024-07-01 00:00", -150},
        {"XXX3YYY4,0/0,J365/23", "2024-12-31 23:30", -240}, /* summer all year */
        {"XXX3YYY4,0/0,J365/23", "2024-01-01 00:00", -240},
    };

    EACH_ROW(i, rows) {
        sn_time_zone z = {.offsets = {"\0\0\0\0\0\0", 6}, .width = 8, .has_rule = true};

        CHECK(sn_zone_rule_read(&z.rule, sn_str_of(rows[i].rule)));
        for (int64_t n = -700000000; n <= 700000000; n += 100000000) /* of 400 years */
            CHECK_EQ(sn_time_zone_offset(&z, local(rows[i].local) + n * 146097 * 86400),
                     rows[i].hours_times_60 * 60);
    }
}

TEST(time_zone_knows_a_rule_from_none)
{
    static const char *const rows[] = {"",
                                       "5",
                                       "AB5",
                                       "EST",
                                       "EST25",
                                       "EST5EDT",
                                       "EST5EDT,M3.2.0",
                                       "EST5EDT,M13.2.0,M11.1.0",
                                       "EST5EDT,M3.6.0,M11.1.0",
                                       "EST5EDT,M3.0.0,M11.1.0",
                                       "EST5EDT,M3.2.7,M11.1.0",
                                       "EST5EDT,J0,J2",
                                       "EST5EDT,366,1",
                                       "EST5EDT,M3.2.0/168,M11.1.0",
                                       "EST5EDT,M3.2.0,M11.1.0x",
                                       "<EST5",
                                       "EST5:60"};
    sn_zone_rule rule;

    EACH_ROW(i, rows)
        CHECK(!sn_zone_rule_read(&rule, sn_str_of(rows[i])));
}
