/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "store/sink.h"

TEST(sink_starts_and_ends)
{
    seine_sinks *s = NULL;

    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 2), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);
}
