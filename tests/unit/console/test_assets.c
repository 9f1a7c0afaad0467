/* SPDX-License-Identifier: Apache-2.0 */
#include "console/assets.h"

#include "check.h"

TEST(asset_is_packed_for_clients_that_take_gzip)
{
    static const struct {
        const char *field;
        bool takes;
    } rows[] = {
        {"gzip", true},      {"br, gzip;q=0.1", true}, {"GZIP", true},   {"*", true},
        {"gzip;q=0", false}, {"*, gzip; q=0", false},  {"*;q=0", false}, {"br", false},
        {"", false},         {"gzip;q=0.001", true},   {"xgzip", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_asset_takes_gzip(sn_str_of(rows[i].field)), rows[i].takes);
}

TEST(asset_that_is_not_there_is_not_found)
{
    CHECK(sn_asset_find(SN_STR("")) == NULL);
    CHECK(sn_asset_find(SN_STR("../token")) == NULL);
    CHECK(sn_asset_find(SN_STR("main.js")) == NULL);
}
