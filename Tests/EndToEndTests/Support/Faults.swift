import Foundation
import Testing

/// A file system of its own in memory, small enough to be filled; gone when the value goes.
struct SmallDisk: ~Copyable {
    static let isPossible = geteuid() == 0 && (try? Installation.run(["mountpoint", "-q", "/proc"]).status) == 0

    let path: String

    init(at path: String, megabytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let mounted = try Installation.run(
            ["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0700", "tmpfs", path])
        try #require(mounted.status == 0, "\(mounted.error)")
    }

    /// Leaves no room for a single page.
    func fill() throws {
        let filled = try Installation.run([
            "dd", "if=/dev/zero", "of=\(path)/filler", "bs=4k", "oflag=append", "conv=notrunc",
        ])
        #expect(filled.status != 0, "the disk was to be full")
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(path)/filler") }

    func remount(_ option: String) throws {
        let done = try Installation.run(["mount", "-o", "remount,\(option)", path])
        try #require(done.status == 0, "\(done.error)")
    }

    deinit { _ = try? Installation.run(["umount", "-l", path]) }
}

/// A library loaded before the others, which makes system calls on the write-ahead log fail once a file says so.
enum FailingCalls {
    static let isPossible = (try? Installation.run(["cc", "--version"]).status) == 0

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
            char name[64], path[512] = {0}, order[64] = {0};
            snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
            if (readlink(name, path, sizeof path - 1) < 5 || !strstr(path, "-wal")) return 0;
            const char *file = getenv("FAILING_CALLS");
            FILE *f = file ? fopen(file, "r") : NULL;
            if (!f) return 0;
            size_t n = fread(order, 1, sizeof order - 1, f);
            fclose(f);
            if (!n || !strstr(order, call)) return 0;
            errno = strstr(order, "EROFS") ? EROFS : EIO;
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

    /// - Returns: the environment that loads it; the calls fail that `orders`, a file, names.
    static func environment(in installation: Installation) throws -> [String: String] {
        let code = try installation.write(source, "failing.c")
        let library = installation.path("failing.so")
        let built = try Installation.run(["cc", "-shared", "-fPIC", "-o", library, code, "-ldl"])
        try #require(built.status == 0, "\(built.error)")
        return ["LD_PRELOAD": library, "FAILING_CALLS": installation.path("orders")]
    }
}

extension Installation {
    /// Runs statements on the database as somebody with its file can; the daemon must not run.
    func sql(_ script: String) throws -> String {
        let code = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            for statement in sys.argv[2].split(";"):
                for row in db.execute(statement): print(*row)
            """
        let done = try Self.run(["python3", "-c", code, path("state/merchantkeyd.sqlite"), script])
        try #require(done.status == 0, "\(done.error)")
        return done.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The base point of P-256, for a symmetric key of whichever key pair.
    static let ephemeral =
        #"{"ephemeralPublicKey": "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q=="}"#

    /// The statuses of resolving a key and of restoring a symmetric key with it.
    func uses(_ hash: String) throws -> [String] {
        [
            try curl(decryptorSocket, "/v1/keys/\(pathSpelling(hash))").output,
            try curl(decryptorSocket, "/v1/keys/\(pathSpelling(hash))/symmetric-key", "-d", Self.ephemeral).output,
        ]
    }

    /// `merchantkeyctl status --check`: number and line.
    func check() throws -> (status: Int32, line: String) {
        let outcome = try ctl("status", "--check")
        return (outcome.status, outcome.output)
    }

    /// The codes of the findings that `merchantkeyctl status` reports.
    func findings() throws -> Set<String> {
        let items = try ctlJSON("status")["findings"] as? [[String: Any]] ?? []
        return Set(items.compactMap { $0["code"] as? String })
    }

    func health() throws -> (status: String, body: String) {
        (try curl(decryptorSocket, "/v1/health").output, try curlBody(decryptorSocket, "/v1/health").output)
    }
}
