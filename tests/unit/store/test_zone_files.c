/* SPDX-License-Identifier: Apache-2.0 */
#include "store/zone_files.h"

#include <stdio.h>

#include "check.h"
#include "failing.h"
#include "seine/calendar.h"

static int64_t
noon_of(int year, int month, int day)
{
    return seine_calendar_days(year, month, day) * SEINE_DAY_SECONDS + 12 * 3600;
}

TEST(zone_files_know_the_zones_of_this_machine)
{
    static const struct {
        const char *name;
        int year, month, minutes;
    } rows[] = {
        {"America/New_York", 2024, 7, -240}, {"America/New_York", 2024, 12, -300},
        {"Europe/Berlin", 2026, 1, 60},      {"Europe/Berlin", 2060, 7, 120},
        {"Asia/Kolkata", 2024, 7, 330},      {"Asia/Kathmandu", 2024, 7, 345},
        {"Etc/GMT+5", 2024, 7, -300},        {"UTC", 2024, 7, 0},
        {"Europe/Moscow", 2012, 7, 240}, /* as it was then */
    };
    sn_zone_files z = {.count = 0};
    int64_t offset = 7;

    EACH_ROW(i, rows) {
        CHECK(sn_zone_files_offset(&z, sn_str_of(rows[i].name),
                                   noon_of(rows[i].year, rows[i].month, 1), &offset));
        CHECK_EQ(offset, rows[i].minutes * 60);
    }
    sn_zone_files_fini(&z);
}

TEST(zone_files_are_those_of_their_folder_alone)
{
    static const char *const rows[] = {"",
                                       "Europe/Nowhere",
                                       "europe/berlin",
                                       "Europe",
                                       "/etc/localtime",
                                       "../../../etc/localtime",
                                       "Europe/../Europe/Berlin",
                                       "Europe//Berlin",
                                       "Europe/Berlin/",
                                       "Europe/Berlin.",
                                       "tzdata.zi",
                                       "right/Europe/Berlin"};
    sn_zone_files z = {.count = 0};

    EACH_ROW(i, rows)
        CHECK(!sn_zone_files_has(&z, sn_str_of(rows[i])));
    CHECK(!sn_zone_files_has(&z, (sn_str){"Europe/Berlin\0x", 15}));
    sn_zone_files_fini(&z);
}

TEST(zone_files_hold_some_and_find_all)
{
    sn_zone_files z = {.count = 0};
    char name[32];

    for (int round = 0; round < 2; round++)
        for (int i = -12; i <= 14; i++) {
            int64_t offset = 0;

            snprintf(name, sizeof name, "Etc/GMT%+d", -i);
            CHECK(sn_zone_files_offset(&z, sn_str_of(name), 0, &offset));
            CHECK_EQ(offset, i * 3600);
        }
    CHECK_EQ(z.count, SN_ZONE_FILES);
    sn_zone_files_fini(&z);
}
