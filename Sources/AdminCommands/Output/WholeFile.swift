import Glibc

/// Writes a file completely or not at all. New files on a file system without hard links are an exception: see
/// ``write(to:overwrites:mode:link:content:)``.
package enum WholeFile {
    package enum Outcome: Equatable, Sendable {
        case written
        /// The file exists, and may not be overwritten.
        case exists
        /// The file can't be written; `code` is the errno.
        case failed(code: Int32)
    }

    /// link(2): gives a file a second name. Returns 0, or -1 with errno set; fails with EEXIST if the name exists.
    package typealias Link = (_ path: String, _ newPath: String) -> Int32

    /// Writes a file.
    ///
    /// The file is first written under a temporary name, so that no other program reads an incomplete file. On a file
    /// system without hard links, such as FAT, a new file is then written under its own name. There, another program
    /// can read an incomplete file, and an incomplete file remains if this program is killed.
    ///
    /// - Parameters:
    ///   - overwrites: whether to replace an existing file.
    ///   - mode: the permissions of the file, before the umask is applied.
    ///   - link: link(2); tests replace it.
    ///   - content: writes the content to a descriptor, and returns 0, or errno if this failed. Can be called twice.
    package static func write(
        to path: String, overwrites: Bool, mode: UInt32 = 0o644, link: Link = { Glibc.link($0, $1) },
        content: (Int32) -> Int32
    ) -> Outcome {
        let temporaryPath = "\(path).\(getpid()).new"
        let temporaryCode = create(temporaryPath, mode, content)
        guard temporaryCode == 0 else { return .failed(code: temporaryCode) }
        defer { unlink(temporaryPath) }
        if overwrites { return rename(temporaryPath, path) == 0 ? .written : .failed(code: errno) }
        // rename(2) would overwrite a file that another program has created meanwhile. renameat2(2) has a flag that
        // prevents this, but Swift's Glibc module does not declare renameat2.
        if link(temporaryPath, path) == 0 { return .written }
        let linkCode = errno
        switch linkCode {
        case EEXIST: return .exists
        case EPERM, EOPNOTSUPP, ENOSYS: return createInPlace(path, mode, content)
        default: return .failed(code: linkCode)
        }
    }

    /// Creates a file under its own name, and waits until its content is on stable storage, so that a later power
    /// failure leaves no incomplete file.
    private static func createInPlace(_ path: String, _ mode: mode_t, _ content: (Int32) -> Int32) -> Outcome {
        let code = create(path, mode) { descriptor in
            let code = content(descriptor)
            guard code == 0 else { return code }
            return fsync(descriptor) == 0 ? 0 : errno
        }
        return switch code {
        case 0: .written
        case EEXIST: .exists
        default: .failed(code: code)
        }
    }

    /// Creates a file that must not exist, and removes it if the content can't be written.
    ///
    /// - Returns: 0, or errno if this failed; EEXIST if the file exists.
    private static func create(_ path: String, _ mode: mode_t, _ content: (Int32) -> Int32) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return errno }
        var code = content(descriptor)
        if close(descriptor) != 0, code == 0 { code = errno }
        if code != 0 { unlink(path) }
        return code
    }
}
