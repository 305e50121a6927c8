import Glibc

/// The descriptors that systemd passed to this process, as three environment variables announce them. See
/// sd_listen_fds(3).
package struct InheritedSockets: Hashable, Sendable {
    /// The environment variables of socket activation.
    package static let variableNames = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
    /// The number of the first descriptor that systemd passes.
    private static let firstDescriptor: CInt = 3
    /// A larger number in `LISTEN_FDS` is refused, so that a wrong number does not cost time.
    private static let maximum = 64

    package static let none = InheritedSockets([:])

    /// In the order of their descriptors.
    package private(set) var sockets: [InheritedSocket] = []
    /// Why passed descriptors cannot be used. The daemon starts only if this list is empty.
    package private(set) var problems: [String] = []

    package init(sockets: [InheritedSocket]) { self.sockets = sockets }

    /// Marks the announced descriptors as close-on-exec, so that no child process inherits them.
    ///
    /// - Parameter variables: the environment variables. If `LISTEN_PID` is not `process`, they are for another process
    ///   and are ignored.
    package init(_ variables: [String: String], process: Int32 = getpid()) {
        guard variables["LISTEN_PID"].flatMap({ Int32($0) }) == process, let announced = variables["LISTEN_FDS"] else {
            return
        }
        guard let count = Int(announced), (0...Self.maximum).contains(count) else {
            problems = ["LISTEN_FDS is '\(announced)', expected a number from 0 to \(Self.maximum)"]
            return
        }
        let names = (variables["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        for offset in 0..<count {
            let descriptor = Self.firstDescriptor + CInt(offset)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            do throws(SocketFault) {
                let name = offset < names.count ? String(names[offset]) : ""
                sockets.append(try InheritedSocket(descriptor: descriptor, name: name))
            } catch {
                problems.append(error.description)
            }
        }
    }
}
