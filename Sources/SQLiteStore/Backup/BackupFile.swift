import Crypto
import FoundationEssentials
import Glibc
package import MerchantCore
import Vocabulary

/// A backup file: an SQLite database, a line feed, and the manifest as one line of JSON.
///
/// SQLite ignores the bytes after the database's last page, so SQLite can open the file. `tail -n 1` prints the
/// manifest.
package struct BackupFile: Sendable {
    /// The longest manifest, in bytes.
    static let longestManifest = 65_536
    /// How many bytes one call of pread(2) reads at most.
    private static let chunkSize = 1 << 20

    package let path: String
    package let manifest: BackupManifest

    /// Reads and checks the manifest. Does not check the database in the file: ``copyDatabase(to:)`` does.
    ///
    /// - Throws: `backupFailed` if the file cannot be read, does not end with a manifest, or has a length that
    ///   contradicts the manifest.
    package init(reading path: String) throws(MerchantError) {
        let (file, size) = try Self.openFile(path)
        defer { close(file) }
        // The manifest is the last line, between the last two line feeds.
        let tailLength = min(size, Self.longestManifest)
        var tail = [UInt8](repeating: 0, count: tailLength)
        guard pread(file, &tail, tailLength, off_t(size - tailLength)) == tailLength else {
            throw Self.failure("cannot read the backup \(path)")
        }
        guard tail.last == UInt8(ascii: "\n"), let databaseEnd = tail.dropLast().lastIndex(of: UInt8(ascii: "\n")),
            let text = try? JSONDecoder().decode(ManifestText.self, from: Data(tail[(databaseEnd + 1)...].dropLast())),
            let manifest = text.manifest
        else {
            throw MerchantError(
                .backupFailed,
                "\(path) does not end with a backup manifest: the file is truncated, damaged, or was not written by 'backup create'; use another backup"
            )
        }
        // The manifest's number is only compared and not used in a calculation. In a damaged manifest it can be any
        // number, so a calculation could overflow.
        let expected = size - (tailLength - databaseEnd)
        guard expected > 0, manifest.databaseBytes == expected else {
            throw MerchantError(
                .backupFailed,
                "the manifest of \(path) says that the database has \(manifest.databaseBytes.counted("byte")), expected \(expected), which is the number of bytes before the manifest: the file is damaged, use another backup"
            )
        }
        self.path = path
        self.manifest = manifest
    }

    /// Copies the database to a new file with mode 0600, and compares its SHA-256 with the manifest's. The new file is
    /// synced to the disk on return.
    ///
    /// - Throws: `backupFailed`. A new file that is not complete is removed.
    package func copyDatabase(to target: String) throws(MerchantError) {
        let (source, _) = try Self.openFile(path)
        defer { close(source) }
        let file = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.failure("cannot create \(target)") }
        defer { close(file) }
        do throws(MerchantError) {
            let digest = try Self.digest(
                ofFirst: manifest.databaseBytes, from: source, named: path, copyingTo: (file, target))
            guard digest == manifest.sha256 else {
                throw MerchantError(
                    .backupFailed,
                    "the backup \(path) is damaged: the SHA-256 of its database is \(Hex.encode(digest)), expected \(Hex.encode(manifest.sha256)); use another backup"
                )
            }
            guard fchmod(file, 0o600) == 0, fsync(file) == 0 else { throw Self.failure("cannot write \(target)") }
        } catch {
            unlink(target)
            throw error
        }
    }

    /// - Returns: the descriptor, which the caller must close, and the file's length in bytes.
    private static func openFile(_ path: String) throws(MerchantError) -> (file: Int32, size: Int) {
        // O_NONBLOCK: opening a FIFO would otherwise block until another process writes to it.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw failure("cannot open the backup \(path)") }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw MerchantError(.backupFailed, "\(path) is not a regular file, so it is no backup: check the path")
        }
        return (file, Int(found.st_size))
    }

    /// Reads the first `count` bytes of `source`, and also writes them to `target` unless `target` is nil.
    ///
    /// - Parameter sourceName: the path of `source`, for the error.
    /// - Returns: the SHA-256 of the bytes.
    static func digest(
        ofFirst count: Int, from source: Int32, named sourceName: String,
        copyingTo target: (file: Int32, name: String)? = nil
    ) throws(MerchantError) -> [UInt8] {
        var hasher = SHA256()
        var buffer = [UInt8](repeating: 0, count: chunkSize)
        var offset = 0
        while offset < count {
            let read = pread(source, &buffer, min(chunkSize, count - offset), off_t(offset))
            guard read > 0 else { throw failure("cannot read \(sourceName)") }
            hasher.update(data: buffer[..<read])
            if let target { try write(buffer[..<read], to: target.file, named: target.name) }
            offset += read
        }
        return Array(hasher.finalize())
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to file: Int32, named name: String) throws(MerchantError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure("cannot write \(name)") }
            rest = rest.dropFirst(written)
        }
    }

    /// The error for a failed system call, with the system's error message.
    static func failure(_ attempt: String) -> MerchantError {
        MerchantError(.backupFailed, "\(attempt): \(String(cString: strerror(errno)))")
    }
}
