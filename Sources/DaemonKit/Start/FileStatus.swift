import CLinux
import Glibc

/// The attributes of a file, see stat(2).
struct FileStatus: Equatable {
    enum Kind { case regular, directory, symbolicLink, socket, other }

    let device: UInt64
    let inode: UInt64
    /// In bytes.
    let size: Int
    let kind: Kind
    /// The permission bits.
    let mode: UInt32
    let uid: UInt32
    let gid: UInt32
    /// When the content last changed, in nanoseconds since 1970.
    let modified: Int64
    /// When the content or the attributes last changed, in nanoseconds since 1970.
    let changed: Int64

    /// Nil if the file does not exist or cannot be examined; `errno` contains the reason.
    init?(of path: String, followsLinks: Bool = false) {
        var file = clinux_file()
        guard (followsLinks ? clinux_stat(path, &file) : clinux_lstat(path, &file)) == 0 else { return nil }
        self.init(file)
    }

    /// The file that is open as `descriptor`. Nil if it cannot be examined; `errno` contains the reason.
    init?(descriptor: CInt) {
        var file = clinux_file()
        guard clinux_fstat(descriptor, &file) == 0 else { return nil }
        self.init(file)
    }

    private init(_ file: clinux_file) {
        (device, inode, size) = (file.device, file.inode, Int(file.size))
        (uid, gid, mode) = (file.uid, file.gid, file.mode & 0o7777)
        (modified, changed) = (file.modified_ns, file.changed_ns)
        switch file.mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .symbolicLink
        case S_IFSOCK: kind = .socket
        default: kind = .other
        }
    }

    /// Whether both describe the same file, even if the file has two names.
    func isSameFile(as other: FileStatus) -> Bool { (device, inode) == (other.device, other.inode) }
}
