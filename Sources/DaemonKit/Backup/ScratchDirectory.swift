import Glibc
import MerchantCore

/// A temporary directory for a copy of a database: beside a given file if possible, else in /var/tmp.
struct ScratchDirectory {
    static let prefix = ".merchantkeyd-verification-"

    let path: String

    /// - Parameter bytes: the size of the database.
    /// - Throws: `backupFailed`.
    init(near file: String, bytes: Int) throws(MerchantError) {
        let beside = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        for parent in [beside.isEmpty ? "/" : beside, "/var/tmp"] {
            var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { continue }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let free = Self.freeSpace(in: path)
            // Space for the copy, and for its log while the schema is migrated.
            let needed = bytes + bytes / 4 + (4 << 20)
            guard free >= needed else {
                rmdir(path)
                throw MerchantError(
                    .backupFailed,
                    "\(parent) has \(free) free bytes, expected \(needed) for a copy of the database; make room"
                )
            }
            return
        }
        throw MerchantError(
            .backupFailed,
            "no directory for a copy of the database can be created in \(beside) or /var/tmp: \(String(cString: strerror(errno)))"
        )
    }

    /// How many bytes can still be written; 0 if unknown.
    static func freeSpace(in directory: String) -> Int {
        var found = statvfs()
        guard statvfs(directory, &found) == 0 else { return 0 }
        return Int(found.f_bavail) * Int(found.f_frsize)
    }

    func remove() { Self.remove(path) }

    /// Removes the directories that killed verifications left.
    static func removeLeftovers(in directory: String) {
        for name in DirectoryListing.names(in: directory) where name.hasPrefix(prefix) {
            remove("\(directory)/\(name)")
        }
    }

    private static func remove(_ path: String) {
        for name in DirectoryListing.names(in: path) { unlink("\(path)/\(name)") }
        rmdir(path)
    }
}
