#pragma once
#include <stddef.h>

// free(3) and realloc(3) of the program that links this target: they overwrite a block before they release it.
//
// So no copy of a secret stays in released memory, whichever library made the copy. The copies that SQLite, libcrypto, Foundation
// and the Swift runtime make cannot be wiped one by one.
//
// Shared libraries use these functions too, because a program's symbols take precedence over glibc's. Blocks are still allocated by
// glibc. Written in C, because Swift reserves the two names.

void free(void *block);

// Replaced too, because glibc's moves the content without calling `free`. Like glibc's, it frees and returns null for size zero.
void *realloc(void *block, size_t size);
