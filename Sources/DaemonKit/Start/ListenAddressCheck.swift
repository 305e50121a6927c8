import Glibc
import PortalServer

/// Checks whether the portal and the metrics server can listen on their addresses. A start checks this before it
/// creates a file.
struct ListenAddressCheck {
    private let listen: ListenAddress
    private let setting: String

    /// - Parameter setting: the name of the setting with the address.
    private init(_ listen: ListenAddress, setting: String) {
        self.listen = listen
        self.setting = setting
    }

    /// Checks the addresses of all TCP listeners.
    static func run(_ settings: Settings, for purpose: PreparedStart.Purpose, _ findings: inout PreparationFindings) {
        let (portal, metrics) = (settings.portal?.listen, settings.metrics?.listen)
        if let portal, let metrics, portal.port != 0, portal.port == metrics.port,
            portal.host == metrics.host || isWildcard(portal.host) || isWildcard(metrics.host)
        {
            return findings.refuse(
                "'portal.listen' and 'metrics.listen' have the same port \(portal.port); set two different ports")
        }
        for check in all(settings) { check.run(for: purpose, &findings) }
    }

    /// Finds the addresses that another program uses, for a check during which a daemon may run.
    ///
    /// - Parameter daemonListeners: the sockets and addresses on which the daemon of the state directory listens; nil
    ///   if a daemon runs, but its addresses are not known.
    static func findUsed(
        _ settings: Settings, except daemonListeners: [String]?, _ findings: inout PreparationFindings
    ) {
        let daemonAddresses = daemonListeners?.compactMap { ListenAddress(text: $0) }
        for check in all(settings) {
            guard let failure = check.bindingFailure, failure.errorNumber == EADDRINUSE else { continue }
            // With port 0, the kernel has chosen the port on which the daemon listens.
            if let daemonAddresses, !daemonAddresses.contains(where: { $0.port == 0 }) {
                guard !daemonAddresses.contains(where: check.overlaps) else { continue }
                findings.refuse(
                    "\(check.inUseProblem(failure.text)); if the daemon uses it, name the daemon's state directory with --state-directory (this check was made for \(settings.stateDirectory))"
                )
            } else {
                findings.warn("\(check.inUseProblem(failure.text)), unless it is the running daemon")
            }
        }
    }

    private static func all(_ settings: Settings) -> [ListenAddressCheck] {
        [(settings.portal?.listen, "portal.listen"), (settings.metrics?.listen, "metrics.listen")]
            .compactMap { listen, setting in listen.map { Self($0, setting: setting) } }
    }

    /// Whether a listener on this host has the port on every IPv4 address of the machine, or on every address.
    private static func isWildcard(_ host: String) -> Bool { ["0.0.0.0", "::"].contains(host) }

    private func problem(_ reason: String) -> String { "'\(setting)': cannot listen on \(listen.text): \(reason)" }

    private func inUseProblem(_ reason: String) -> String {
        "\(problem(reason)); choose another port, or stop the program that uses this port"
    }

    private func run(for purpose: PreparedStart.Purpose, _ findings: inout PreparationFindings) {
        guard let failure = bindingFailure else { return }
        let problem = problem(failure.text)
        switch failure.errorNumber {
        case EADDRINUSE:
            // During a check or a reload, the daemon itself may use the port: see ``findUsed(_:except:_:)``.
            if purpose == .start { findings.refuse(inUseProblem(failure.text)) }
        case EACCES:
            let text =
                "\(problem); for a port below 1024, the daemon needs the capability CAP_NET_BIND_SERVICE, which this process does not have"
            // The daemon's unit can give the daemon a capability that the process of a check does not have.
            if purpose == .start { findings.refuse(text) } else { findings.warn(text) }
        default: findings.refuse("\(problem); choose an address of this machine")
        }
    }

    /// Whether the address may conflict with `other`: both have the same port, and the hosts are the same, have the
    /// same first address, or one of them is a wildcard.
    private func overlaps(_ other: ListenAddress) -> Bool {
        guard listen.port == other.port else { return false }
        return listen.host == other.host || Self.isWildcard(listen.host) || Self.isWildcard(other.host)
            || Self.firstAddress(of: listen) == Self.firstAddress(of: other)
    }

    /// The socket address that `bind` receives: the first address of the host, and the port. Nil if the host name
    /// cannot be resolved.
    private static func firstAddress(of listen: ListenAddress) -> [UInt8]? {
        var list: UnsafeMutablePointer<addrinfo>?
        guard resolve(listen, &list) == 0, let first = list?.pointee else { return nil }
        defer { freeaddrinfo(list) }
        return Array(UnsafeRawBufferPointer(start: first.ai_addr, count: Int(first.ai_addrlen)))
    }

    /// - Returns: the status of `getaddrinfo`. If it is 0, the caller must free the list.
    private static func resolve(
        _ listen: ListenAddress, _ list: inout UnsafeMutablePointer<addrinfo>?
    ) -> CInt {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        return getaddrinfo(listen.host, "\(listen.port)", &hints, &list)
    }

    /// Binds a socket to the first address of the host, as the portal and the metrics server do, and closes it.
    ///
    /// - Returns: why this fails. `errorNumber` is 0 if the host name cannot be resolved. nil if it succeeds.
    private var bindingFailure: (errorNumber: CInt, text: String)? {
        var list: UnsafeMutablePointer<addrinfo>?
        let status = Self.resolve(listen, &list)
        guard status == 0, let first = list?.pointee else { return (0, String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        let descriptor = socket(first.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return (errno, PathAccess.lastError) }
        defer { close(descriptor) }
        // Reuses the address, as the portal does. Otherwise binding would fail while connections of an earlier process
        // are still closing.
        var isReused: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
        guard bind(descriptor, first.ai_addr, first.ai_addrlen) == 0 else { return (errno, PathAccess.lastError) }
        return nil
    }
}

extension Settings {
    /// The TCP addresses, `HOST:PORT`, on which the daemon listens.
    var listenAddresses: [String] { [portal?.listen, metrics?.listen].compactMap { $0?.text } }
}
