/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts.h - were these options made by a program that this library understands?
 *
 * Every options struct of the contract begins with its size, which its initialiser sets.
 * A program that was compiled against a newer header has a longer struct: the library
 * takes it as long as the members that it does not know are zero. A program that was
 * compiled against an older header has a shorter one: sn_opts_read fills the rest with
 * zeros, which for every member that came later mean "as before". A struct that is
 * shorter than the first that was promised (docs/ABI.md), or that no initialiser made, is
 * refused.
 *
 *     static seine_err open_pool(const seine_pool_opts *opts)
 *     {
 *         return sn_opts_fit(opts, sizeof *opts) ? SEINE_OK : SEINE_E_INVAL;
 *     }
 *
 * Time    plays no part.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_OPTS_H
#define SN_OPTS_H

#include <stdbool.h>
#include <stddef.h>

/* `size` is what the library knows of the struct, and all of it is there. False for
 * NULL. */
bool sn_opts_fit(const void *opts, size_t size);

/* For a struct that has grown since it was promised: copies `given` to `own`, of `size`
 * bytes, with zeros for the members that the caller did not know. `first` is the size
 * that was promised. False, and `own` untouched: as sn_opts_fit. */
bool sn_opts_read(void *own, size_t size, size_t first, const void *given);

#endif
