#pragma once
#include <stddef.h>

// free(3) and realloc(3) for the program that this is linked into: what a block held is overwritten when the block is given back.
//
// So no copy of a secret, or of what a secret can be opened from, outlives its owner in memory, whichever library made the copy.
// Wiping each by hand is not possible for those that SQLite, libcrypto, Foundation and the runtime make.
//
// Every shared library takes these in place of glibc's, since a program's symbols come first. Blocks come from glibc's allocator
// as before. In C, because Swift reserves these two names.

void free(void *block);

// glibc's own moves the content without a call of `free`. A size of zero frees and returns null, as glibc's does.
void *realloc(void *block, size_t size);
