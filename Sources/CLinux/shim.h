#pragma once
#include <sys/prctl.h>

// Swift cannot call prctl(2), because it is variadic. Returns 0, or -1 with errno set.
static inline int clinux_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

#include <spawn.h>

// <spawn.h> declares these only with _GNU_SOURCE (glibc 2.34 and 2.29), which Swift's Glibc module does not define.
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

// What stat(2) reports. Swift attributes the members of `struct stat` to whichever C module it loads first, so that their use in
// Swift compiles or not depending on the order of files.
struct clinux_file {
    uint64_t device, inode;
    int64_t size, modified_ns, changed_ns;
    uint32_t mode, uid, gid;
};

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

// stat(2), lstat(2) and fstat(2): 0, or -1 with errno set.
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
