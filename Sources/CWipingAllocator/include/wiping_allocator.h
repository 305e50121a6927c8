#pragma once
#include <stddef.h>

// Replaces free(3) and realloc(3) in each program that links this target. These versions overwrite a block before they
// release it.
//
// So no copy of a secret stays in released memory, whichever library made the copy. Without this, the daemon could not
// wipe the copies that SQLite, libcrypto, Foundation and the Swift runtime make.
//
// Shared libraries call these versions, too, because a program's symbols take precedence over glibc's. glibc still
// allocates the blocks. Written in C, because Swift does not permit functions with these two names.

void free(void *block);

// glibc's realloc(3) may move a block without a call of free(3), so it is replaced, too. For size zero, this version
// frees the block and returns null, as glibc's does.
void *realloc(void *block, size_t size);
