import Glibc

/// A temporary directory with mode 0700 beside the path of a socket. ``UnixListener`` creates the socket in this
/// directory and then moves it to its path with rename(2).
struct PrivateDirectory {
    /// The name of the socket in this directory.
    static let socketName = "socket"

    let descriptor: CInt
    private let path: String

    /// - Parameter file: the path of the socket.
    init(beside file: String) throws(SocketFault) {
        let parent: String =
            switch file.lastIndex(of: "/") {
            case .none: "."
            case .some(file.startIndex): ""
            case .some(let slash): String(file[..<slash])
            }
        var template = Array("\(parent)/.socket-XXXXXX".utf8CString)
        let isCreated = template.withUnsafeMutableBufferPointer { text in
            text.baseAddress.map { mkdtemp($0) != nil } ?? false
        }
        guard isCreated else { throw .system("cannot create a directory beside \(file)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // The error is created before rmdir(2) is called, because rmdir(2) may change `errno`.
            let fault = SocketFault.system("cannot open the directory created beside \(file)")
            rmdir(path)
            throw fault
        }
    }

    /// Identifies the file of the socket. The identity stays the same when the file is moved.
    func socketIdentity() throws(SocketFault) -> FileIdentity {
        var found = stat()
        guard fstatat(descriptor, Self.socketName, &found, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw .system("cannot read the status of the new socket in \(path)")
        }
        return FileIdentity(found)
    }

    /// Removes the directory and its content.
    func remove() {
        unlinkat(descriptor, Self.socketName, 0)
        close(descriptor)
        rmdir(path)
    }
}
