#pragma once
#include <sys/prctl.h>

// prctl(2) is variadic, which Swift cannot call. Returns 0, or -1 with errno.
static inline int clinux_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

#include <spawn.h>

// Declared by <spawn.h> for _GNU_SOURCE only (glibc 2.34), which Swift's Glibc module does not define.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

static inline int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}
