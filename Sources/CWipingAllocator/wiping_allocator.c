#include "wiping_allocator.h"

#include <malloc.h>
#include <string.h>

// glibc's own malloc(3) and free(3), under glibc's internal names.
void *__libc_malloc(size_t size);
void __libc_free(void *block);

void free(void *block) {
    if (block == NULL) return;
    explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    if (block == NULL) return __libc_malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t held = malloc_usable_size(block);
    // Keeps the block if at least half of it is still used. Otherwise the content moves to a new block.
    if (size <= held && size >= held / 2) {
        explicit_bzero((char *)block + size, held - size);
        return block;
    }
    void *moved = __libc_malloc(size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, size < held ? size : held);
    free(block);
    return moved;
}
