#pragma once
#include <sys/prctl.h>

// prctl(2) is variadic, which Swift cannot call. Returns 0, or -1 with errno.
static inline int clinux_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
