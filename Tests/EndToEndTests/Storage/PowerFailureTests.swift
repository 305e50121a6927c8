import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// A power failure: of the writes after a file's last sync, any part may be on the disk.
///
/// The daemon runs under load while a library records, in their order, every write and sync of the databases and every
/// successful response.
/// Then a script rebuilds the disk as a power failure at hundreds of points in time may leave it: all that was synced,
/// and a random part of the rest.
@Suite(.onlyOnSQLite) struct PowerFailureTests {
    static let isPossible =
        FailingCalls.isPossible && Installation.hasPythonSQLite

    @Test(.tags(.slow), .skippedInQuickRuns, .enabled(if: isPossible, "a C compiler or python3 is not installed"))
    func `a power failure loses no acknowledged change and does not damage the database`() throws {
        let installation = try Installation()
        let code = try installation.write(Self.recorder, "recorder.c")
        let library = installation.path("recorder.so")
        let built = try Installation.run(["cc", "-shared", "-fPIC", "-o", library, code, "-ldl", "-lpthread"])
        try #require(built.status == 0, "\(built.error)")
        try installation.start(environment: [
            "LD_PRELOAD": library, "RECORD_TO": installation.path("record"),
        ])
        let authority = try SandboxAuthority(createdAt: Timestamp(Date()))
        let workers = (0..<4).map {
            OnboardingWorker(socket: installation.adminSocket, prefix: "merchant.com.power\($0)", authority: authority)
        }
        let threads = workers.map { worker in BackgroundThread { worker.work() } }
        // Each write and response of the daemon extends the record.
        try installation.eventually("enough is recorded") {
            let size = try FileManager.default.attributesOfItem(atPath: installation.path("record"))[.size] as? Int
            return size ?? 0 > 8 << 20
        }
        installation.stop(SIGKILL)
        for thread in threads { thread.join() }

        let script = try #require(
            Bundle.module.url(forResource: "power_failure", withExtension: "py", subdirectory: "Scripts"))
        let checked = try Installation.run(
            ["python3", script.path, installation.path("record"), installation.path("disk"), "500"])
        #expect(checked.status == 0, "\(checked.output) \(checked.error)")
        print(checked.output)
    }

    /// Writes records of kind, file, offset, length and bytes. The kinds are `w`: a write, `t`: a truncation, `s`: the
    /// end of a sync, and `a`: an acknowledgement, which is a successful response.
    private static let recorder = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <pthread.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <sys/uio.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static int out = -1;
        static ssize_t (*next_write)(int, const void *, size_t);
        static int file_of(int fd) {
            char name[64], path[512] = {0};
            snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
            ssize_t n = readlink(name, path, sizeof path - 1);
            if (n < 8) return 0;
            if (!strcmp(path + n - 4, "-wal")) return 2;
            return !strcmp(path + n - 7, ".sqlite") ? 1 : 0;
        }
        static void note(char kind, int file, int64_t offset, const void *bytes, int64_t length) {
            if (out < 0) {
                next_write = dlsym(RTLD_NEXT, "write");
                out = open(getenv("RECORD_TO"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
            }
            char head[18] = {kind, (char)file};
            memcpy(head + 2, &offset, 8);
            memcpy(head + 10, &length, 8);
            next_write(out, head, 18);
            if (bytes) next_write(out, bytes, length);
        }
        #define NEXT(name) __typeof__(&name) next = dlsym(RTLD_NEXT, #name)
        ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) {
            NEXT(pwrite64);
            int file = file_of(fd);
            if (!file) return next(fd, b, n, o);
            pthread_mutex_lock(&lock);
            ssize_t done = next(fd, b, n, o);
            if (done > 0) note('w', file, o, b, done);
            pthread_mutex_unlock(&lock);
            return done;
        }
        ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { return pwrite64(fd, b, n, o); }
        int ftruncate64(int fd, off64_t n) {
            NEXT(ftruncate64);
            int file = file_of(fd);
            if (!file) return next(fd, n);
            pthread_mutex_lock(&lock);
            int done = next(fd, n);
            if (!done) note('t', file, n, 0, 0);
            pthread_mutex_unlock(&lock);
            return done;
        }
        int ftruncate(int fd, off_t n) { return ftruncate64(fd, n); }
        int fsync(int fd) {
            NEXT(fsync);
            int file = file_of(fd), done = next(fd);
            if (file && !done) { pthread_mutex_lock(&lock); note('s', file, 0, 0, 0); pthread_mutex_unlock(&lock); }
            return done;
        }
        int fdatasync(int fd) {
            NEXT(fdatasync);
            int file = file_of(fd), done = next(fd);
            if (file && !done) { pthread_mutex_lock(&lock); note('s', file, 0, 0, 0); pthread_mutex_unlock(&lock); }
            return done;
        }
        static void reply(const struct iovec *v, int count) {
            if (count < 1 || v[0].iov_len < 12 || strncmp(v[0].iov_base, "HTTP/1.1 20", 11)) return;
            int64_t length = 0;
            for (int i = 0; i < count; i++) length += v[i].iov_len;
            char *all = malloc(length), *end = all;
            for (int i = 0; i < count; i++) { memcpy(end, v[i].iov_base, v[i].iov_len); end += v[i].iov_len; }
            pthread_mutex_lock(&lock);
            note('a', 0, 0, all, length);
            pthread_mutex_unlock(&lock);
            free(all);
        }
        ssize_t write(int fd, const void *b, size_t n) {
            NEXT(write);
            struct iovec v = {(void *)b, n};
            reply(&v, 1);
            return next(fd, b, n);
        }
        ssize_t writev(int fd, const struct iovec *v, int count) {
            NEXT(writev);
            reply(v, count);
            return next(fd, v, count);
        }
        """
}
