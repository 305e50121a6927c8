import Glibc
import LocalSocket

/// Checks the daemon's sockets. A start does this before it creates a file.
struct SocketPaths {
    private let settings: Settings
    private let sockets: [(name: String, path: String)]
    private let assignment: SocketAssignment

    /// - Parameter inherited: the sockets that systemd passed to this process.
    init(_ settings: Settings, inherited: InheritedSockets) {
        self.settings = settings
        var sockets = [
            (name: "admin", path: settings.adminSocket.path), (name: "decryptor", path: settings.decryptorSocket.path),
        ]
        if settings.provisioning != nil { sockets.append((name: "issuer", path: settings.issuerSocket.path)) }
        self.sockets = sockets
        assignment = SocketAssignment(of: inherited, to: sockets)
    }

    /// - Returns: where the daemon gets its sockets from.
    func check(_ findings: inout PreparationFindings) -> DaemonSockets {
        for problem in assignment.problems { findings.refuse(problem) }
        for (name, path) in sockets {
            if let problem = UnixListener.problem(withPath: path) {
                findings.refuse("'sockets.\(name).path': \(problem)")
                continue
            }
            // The daemon creates no file for an inherited socket.
            if assignment.inherited[name] == nil { checkDirectory(of: path, name, &findings) }
        }
        refuseSharedPaths(&findings)
        return DaemonSockets(
            admin: source("admin", settings.adminSocket, &findings),
            decryptor: source("decryptor", settings.decryptorSocket, &findings),
            issuer: settings.provisioning == nil ? nil : source("issuer", settings.issuerSocket, &findings))
    }

    private func refuseSharedPaths(_ findings: inout PreparationFindings) {
        for (index, socket) in sockets.enumerated() {
            for other in sockets[..<index] where PathAccess.isSamePlace(other.path, socket.path) {
                findings.refuse(
                    "'sockets.\(other.name).path' and 'sockets.\(socket.name).path' are the same file \(socket.path); set two different paths"
                )
            }
        }
    }

    private func checkDirectory(of path: String, _ name: String, _ findings: inout PreparationFindings) {
        let directory = PathAccess.directory(of: path)
        // A start creates a missing state directory.
        let isCreatedByStart =
            directory == settings.stateDirectory && FileStatus(of: directory, followsLinks: true) == nil
        guard !isCreatedByStart, let reason = PathAccess.whyNothingCanBeCreated(in: directory) else { return }
        let problem = "'sockets.\(name).path': the directory \(directory) \(reason)"
        // A check does not inherit the socket that systemd will pass to the daemon. An open socket may be that one.
        if UnixListener.isOpen(path) {
            findings.warn("\(problem), so the daemon starts only if systemd passes this socket to it")
        } else {
            findings.refuse(problem)
        }
    }

    private func source(
        _ name: String, _ socket: SocketSettings, _ findings: inout PreparationFindings
    ) -> SocketSource {
        let inherited = assignment.inherited[name]
        if inherited != nil, let file = FileStatus(of: socket.path), file.mode & 0o777 != socket.mode,
            geteuid() != 0, file.uid != geteuid()
        {
            findings.warn(
                "'sockets.\(name).mode': the daemon cannot change the mode of \(socket.path), because the file belongs to uid \(file.uid); set SocketUser= of the socket unit to the daemon's user, or SocketMode= to the mode in the setting"
            )
        }
        return SocketSource(path: socket.path, mode: socket.mode, inherited: inherited)
    }
}

extension DaemonSockets {
    /// - Throws: ``SettingsError`` if another process listens on one of the sockets that the daemon must create.
    func requireFree() throws {
        let problems = created.filter { UnixListener.isListenedOn($0.source.path) }.map(Self.problem)
        if !problems.isEmpty { throw SettingsError(problems: problems) }
    }

    /// Warns of each socket on which a process listens, for a check during which a daemon may run. The process may be
    /// systemd, which passes the socket to the daemon.
    ///
    /// - Parameter daemonSockets: the sockets on which the daemon of the state directory listens.
    func checkFree(in stateDirectory: String, except daemonSockets: [String], _ findings: inout PreparationFindings) {
        for (name, source) in created {
            let path = StateDirectory.absolutePath(source.path)
            guard !daemonSockets.contains(where: { PathAccess.isSamePlace($0, path) }), UnixListener.isOpen(path)
            else { continue }
            findings.warn(
                "'sockets.\(name).path': a process listens on \(source.path), so the daemon starts only if this is systemd's socket unit, which passes the socket to the daemon; give each daemon its own path. If the daemon listens, name its state directory with --state-directory (this check was made for \(stateDirectory))"
            )
        }
    }

    /// The absolute paths of all sockets.
    var paths: [String] { all.map { StateDirectory.absolutePath($0.source.path) } }

    private var all: [(name: String, source: SocketSource)] {
        [("admin", admin), ("decryptor", decryptor)] + (issuer.map { [("issuer", $0)] } ?? [])
    }

    /// The sockets that the daemon must create.
    private var created: [(name: String, source: SocketSource)] { all.filter { !$0.source.isInherited } }

    private static func problem(_ socket: (name: String, source: SocketSource)) -> String {
        "'sockets.\(socket.name).path': another process listens on \(socket.source.path); give each daemon its own path (if it is systemd's socket unit, start the daemon with systemctl)"
    }
}
