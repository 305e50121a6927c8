#pragma once
#include <sys/prctl.h>

// prctl(2) is variadic, which Swift cannot call. Returns 0, or -1 with errno.
static inline int clinux_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// glibc's settings of its allocator, in a header that Swift does not import.
#include <malloc.h>

// Whether free(3) overwrites what it takes back; small blocks that it keeps at hand excepted.
static inline void clinux_overwrite_freed(int is_on) { mallopt(M_PERTURB, is_on ? 0x5A : 0); }
// Gives whole free pages back to the kernel, which hands them out again as zeros.
static inline void clinux_return_free_pages(void) { malloc_trim(0); }
