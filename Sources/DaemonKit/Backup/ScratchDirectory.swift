import Glibc
import MerchantCore
import Vocabulary

/// A temporary directory for the copy of a backup's database. A restore to PostgreSQL also writes a copy of the data
/// that it replaces to this directory.
///
/// It is in the directory of the backup, or in /var/tmp if no directory can be created there.
struct ScratchDirectory {
    static let prefix = ".merchantkeyd-verification-"

    let path: String

    /// - Parameters:
    ///   - backup: the path of the backup.
    ///   - bytes: the size of the backup's database, and of further databases that the directory must hold.
    /// - Throws: `backupFailed` if no directory can be created, or if the disk of the directory has too little space.
    init(near backup: String, bytes: Int) throws(MerchantError) {
        let backupDirectory = backup.lastIndex(of: "/").map { String(backup[..<$0]) } ?? "."
        for parent in [backupDirectory.isEmpty ? "/" : backupDirectory, "/var/tmp"] {
            var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { continue }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let free = Self.freeSpace(in: path)
            // Space for the copy, and for SQLite's write-ahead log while the schema of the copy is migrated to the
            // present version.
            let needed = bytes + bytes / 4 + (4 << 20)
            guard free >= needed else {
                rmdir(path)
                throw MerchantError(
                    .backupFailed,
                    "\(parent) has \(free.counted("free byte")), but a copy of the database needs \(needed); delete files to make space on the disk"
                )
            }
            return
        }
        throw MerchantError(
            .backupFailed,
            "no directory for a copy of the database can be created in \(backupDirectory) or /var/tmp: \(String(cString: strerror(errno)))"
        )
    }

    /// How many bytes the daemon's user can still write; 0 if unknown.
    static func freeSpace(in directory: String) -> Int { DiskSpace(of: directory)?.free ?? 0 }

    func remove() { Self.remove(path) }

    /// Removes the directories that remain because a program was killed while it verified or restored a backup.
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
