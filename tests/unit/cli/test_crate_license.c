/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/crate_gate.h"

#include "check.h"

TEST(crate_license_is_denied_where_it_leaves_no_choice)
{
    static const struct {
        const char *expression, *denied;
        bool needs;
    } rows[] = {
        {"MIT", "MIT", true},
        {"MIT", "mit", true},
        {"MIT", "GPL-3.0", false},
        {"MIT OR GPL-3.0", "GPL-3.0", false},
        {"GPL-3.0 OR MIT", "GPL-3.0", false},
        {"MIT/GPL-3.0", "GPL-3.0", false},
        {"MIT / GPL-3.0", "MIT", false},
        {"MIT AND GPL-3.0", "GPL-3.0", true},
        {"MIT AND GPL-3.0", "MIT", true},
        {"GPL-3.0 OR GPL-3.0-or-later", "GPL-3.0", true},
        {"GPL-3.0-only", "GPL-3.0", true},
        {"GPL-3.0+", "GPL-3.0", true},
        {"GPL-3.0-or-later", "GPL-3.0", true},
        {"LGPL-3.0", "GPL-3.0", false},
        {"GPL-3.0", "GPL-3.0-only", false},
        {"GPL-30", "GPL-3", false},
        {"GPL-2.0 WITH Classpath-exception-2.0", "GPL-2.0", true},
        {"Apache-2.0 WITH LLVM-exception OR MIT", "Apache-2.0", false},
        {"MIT WITH GPL-3.0", "GPL-3.0", false}, /* the name of an exception */
        {"(MIT OR GPL-3.0) AND BSD-3-Clause", "GPL-3.0", false},
        {"(MIT OR GPL-3.0) AND BSD-3-Clause", "BSD-3-Clause", true},
        {"MIT OR (GPL-3.0 AND BSD-3-Clause)", "GPL-3.0", false},
        {"(MIT AND GPL-3.0) OR (GPL-3.0 AND X)", "GPL-3.0", true},
        {"mit or gpl-3.0", "GPL-3.0", false},
        /* No expressions: every word counts, and nothing hangs. */
        {"MIT GPL-3.0", "GPL-3.0", true},
        {"", "MIT", false},
        {"OR", "MIT", false},
        {"((((", "MIT", false},
        {"))))", "MIT", false},
        {"MIT)", "MIT", true},
        {"AND AND", "MIT", false},
        {"( / ) WITH", "MIT", false},
        {NULL, "MIT", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(crate_license_needs(rows[i].expression, rows[i].denied), rows[i].needs);
}
