import LocalSocket

/// Decides which socket from systemd is used for which socket of the daemon, by the name of the descriptor (`admin`,
/// `decryptor`, `issuer`) or by the path.
struct SocketAssignment {
    /// By the names `admin`, `decryptor` and `issuer`. Empty if systemd passed no sockets.
    private(set) var inherited: [String: InheritedSocket] = [:]
    /// Why the start is refused.
    private(set) var problems: [String]

    /// - Parameter paths: the paths of the settings `sockets.admin.path`, `sockets.decryptor.path` and, if there is an
    ///   issuer socket, `sockets.issuer.path`.
    init(of passed: InheritedSockets, to paths: [(name: String, path: String)]) {
        problems = passed.problems
        for socket in passed.sockets {
            guard
                let (name, path) = paths.first(where: { $0.name == socket.name })
                    ?? paths.first(where: { PathAccess.isSamePlace($0.path, socket.path) })
            else {
                guard socket.name != "issuer" else {
                    problems.append(
                        "systemd passed the socket 'issuer' at \(socket.path), but the settings define no in-app provisioning; set 'provisioning.enabled', or disable the socket unit"
                    )
                    continue
                }
                problems.append(
                    "systemd passed the socket \(socket.path), which is not one of the daemon's sockets \(paths.map { $0.path }.joined(separator: " and ")); remove its unit from Sockets= of the daemon's unit"
                )
                continue
            }
            guard PathAccess.isSamePlace(path, socket.path) else {
                problems.append(
                    "'sockets.\(name).path' is \(path), but systemd passed the socket '\(name)' at \(socket.path); set ListenStream= of the socket unit and the setting to the same path"
                )
                continue
            }
            guard inherited[name] == nil else {
                problems.append("systemd passed two sockets for 'sockets.\(name).path'; remove one of the socket units")
                continue
            }
            inherited[name] = socket
        }
    }
}
