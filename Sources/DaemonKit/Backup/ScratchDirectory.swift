import Glibc
import MerchantCore

/// A directory of our own for a copy of a database: beside a file where that can be, else in /var/tmp.
struct ScratchDirectory {
    static let prefix = ".merchantkeyd-verification-"

    let path: String

    /// - Parameter bytes: what must fit into it.
    /// - Throws: `backupFailed`, saying how much room was found and how much was expected.
    init(near file: String, bytes: Int) throws(MerchantError) {
        let beside = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        for parent in [beside.isEmpty ? "/" : beside, "/var/tmp"] {
            var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { continue }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let room = Self.room(in: path)
            // The copy, and some for its log while the schema is brought up to date.
            let needed = bytes + bytes / 4 + (4 << 20)
            guard room >= needed else {
                rmdir(path)
                throw MerchantError(
                    .backupFailed, "\(parent) has room for \(room) bytes, expected \(needed) for a copy of the database"
                )
            }
            return
        }
        throw MerchantError(
            .backupFailed,
            "neither \(beside) nor /var/tmp takes a directory for a copy of the database: \(String(cString: strerror(errno)))"
        )
    }

    /// Bytes that we may still write there; 0 where it cannot be told.
    static func room(in directory: String) -> Int {
        var found = statvfs()
        guard statvfs(directory, &found) == 0 else { return 0 }
        return Int(found.f_bavail) * Int(found.f_frsize)
    }

    func remove() { Self.remove(path) }

    /// What a daemon that was killed in a verification left in a directory.
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

enum DirectoryListing {
    /// In no order; empty where the directory cannot be read.
    static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
