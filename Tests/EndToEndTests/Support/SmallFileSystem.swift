import Foundation
import MerchantTestSupport
import Testing

/// A file system in memory, small enough to be filled. It is unmounted when this value is released.
struct SmallFileSystem: ~Copyable {
    static let isPossible = geteuid() == 0 && ChildProcess.succeeds("mountpoint", "-q", "/proc")

    let path: String

    init(at path: String, megabytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let mounted = try Installation.run(
            ["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0700", "tmpfs", path])
        try #require(mounted.status == 0, "\(mounted.error)")
    }

    /// Fills the file system, so that not a single page is free.
    func fill() throws {
        let filled = try Installation.run([
            "dd", "if=/dev/zero", "of=\(path)/filler", "bs=4k", "oflag=append", "conv=notrunc",
        ])
        #expect(filled.status != 0, "expected a full disk")
    }

    func freeSpace() throws { try FileManager.default.removeItem(atPath: "\(path)/filler") }

    func remount(_ option: String) throws {
        let done = try Installation.run(["mount", "-o", "remount,\(option)", path])
        try #require(done.status == 0, "\(done.error)")
    }

    deinit { _ = try? Installation.run(["umount", "-l", path]) }
}
