/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_disk.h - the disk below the job of a simulated run: real files, whose writes fail
 * when they are told to. It stands between SQLite and the system.
 *
 *     FULL  a write does nothing
 *     BAD   likewise, with another error
 *     TORN  the first of them writes half of its bytes
 *
 * From the first failure on every write fails, until the disk is mended.
 */
#ifndef SIM_JOB_DISK_H
#define SIM_JOB_DISK_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sim_write_failure { WRITE_FULL, WRITE_BAD, WRITE_TORN } sim_write_failure;

/* For all databases that are opened from now on. */
void sim_job_disk_install(void);

/* After so many good writes. */
void sim_job_disk_fail(uint32_t good, sim_write_failure how);
bool sim_job_disk_has_failed(void);
void sim_job_disk_mend(void);

#endif
