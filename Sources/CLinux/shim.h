#pragma once
#include <sys/prctl.h>

// Forbids core dumps and debuggers of this process: PR_SET_DUMPABLE in prctl(2). Returns 0, or -1 with errno set. A C
// function, because prctl(2) is variadic, and Swift cannot call variadic functions.
static inline int clinux_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

#include <spawn.h>

// <spawn.h> declares these two functions only if _GNU_SOURCE is defined, and Swift's Glibc module does not define it.
// glibc has the first function since 2.34, the second since 2.29.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

static inline int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

static inline int clinux_spawn_change_directory(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

#include <stdint.h>
#include <sys/stat.h>

// The result of stat(2); times are in nanoseconds since 1970. This type exists because the members of `struct stat`
// cannot be used reliably from Swift: Swift attributes them to the C module that it loads first, which depends on the
// order of source files.
struct clinux_file {
    uint64_t device, inode;
    int64_t size, modified_ns, changed_ns;
    uint32_t mode, uid, gid;
};

// Copies the fields of `found`, if the call of stat(2) returned 0. Returns 0 or -1, as that call did.
static inline int clinux_file_of(int result, const struct stat *found, struct clinux_file *file) {
    if (result != 0) return -1;
    file->device = found->st_dev;
    file->inode = found->st_ino;
    file->size = found->st_size;
    file->modified_ns = found->st_mtim.tv_sec * INT64_C(1000000000) + found->st_mtim.tv_nsec;
    file->changed_ns = found->st_ctim.tv_sec * INT64_C(1000000000) + found->st_ctim.tv_nsec;
    file->mode = found->st_mode;
    file->uid = found->st_uid;
    file->gid = found->st_gid;
    return 0;
}

// stat(2), lstat(2) and fstat(2). They return 0, or -1 with errno set.
static inline int clinux_stat(const char *path, struct clinux_file *file) {
    struct stat found;
    return clinux_file_of(stat(path, &found), &found, file);
}

static inline int clinux_lstat(const char *path, struct clinux_file *file) {
    struct stat found;
    return clinux_file_of(lstat(path, &found), &found, file);
}

static inline int clinux_fstat(int descriptor, struct clinux_file *file) {
    struct stat found;
    return clinux_file_of(fstat(descriptor, &found), &found, file);
}

#include <malloc.h>

// The number of bytes that are allocated with malloc(3) and not freed yet: mallinfo2(3). C functions, because Swift's
// Glibc module does not contain <malloc.h>.
static inline size_t clinux_allocated_bytes(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

// Returns freed memory to the system: malloc_trim(3). Returns 1 if any memory was returned.
static inline int clinux_return_free_memory(void) { return malloc_trim(0); }
