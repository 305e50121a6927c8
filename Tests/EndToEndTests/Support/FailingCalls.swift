import Foundation
import MerchantTestSupport
import Testing

/// A library that the daemon loads first. It makes system calls on write-ahead logs fail; a file names these calls.
enum FailingCalls {
    static let isPossible = ChildProcess.succeeds("cc", "--version")

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int fails(const char *call, int fd) {
            char name[64], path[512] = {0}, named[64] = {0};
            snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
            if (readlink(name, path, sizeof path - 1) < 5 || !strstr(path, "-wal")) return 0;
            const char *file = getenv("FAILING_CALLS");
            FILE *f = file ? fopen(file, "r") : NULL;
            if (!f) return 0;
            size_t n = fread(named, 1, sizeof named - 1, f);
            fclose(f);
            if (!n || !strstr(named, call)) return 0;
            errno = strstr(named, "EROFS") ? EROFS : EIO;
            return 1;
        }
        int fsync(int fd) {
            int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
            return fails("fsync", fd) ? -1 : next(fd);
        }
        int fdatasync(int fd) {
            int (*next)(int) = dlsym(RTLD_NEXT, "fdatasync");
            return fails("fsync", fd) ? -1 : next(fd);
        }
        ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) {
            ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
            return fails("write", fd) ? -1 : next(fd, b, n, o);
        }
        ssize_t pwrite(int fd, const void *b, size_t n, off_t o) {
            ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
            return fails("write", fd) ? -1 : next(fd, b, n, o);
        }
        """

    /// The name of the file that lists the failing calls and their error: "fsync EIO", "write EIO" or "write EROFS".
    /// Without this file, no call fails.
    static let file = "failing-calls"

    /// - Returns: the environment in which a program loads the library.
    static func environment(in installation: Installation) throws -> [String: String] {
        let code = try installation.write(source, "failing.c")
        let library = installation.path("failing.so")
        let built = try Installation.run(["cc", "-shared", "-fPIC", "-o", library, code, "-ldl"])
        try #require(built.status == 0, "\(built.error)")
        return ["LD_PRELOAD": library, "FAILING_CALLS": installation.path(file)]
    }
}
