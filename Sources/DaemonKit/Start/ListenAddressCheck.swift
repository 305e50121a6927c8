import Glibc
import PortalServer

/// Checks whether the portal, or the port for metrics, can listen on its address, before the daemon creates a file.
struct ListenAddressCheck {
    private let listen: ListenAddress
    private let setting: String
    private let purpose: PreparedStart.Purpose
    /// The addresses on which the running daemon listens; empty if no daemon runs.
    private let daemonAddresses: [ListenAddress]

    /// - Parameter setting: the name of the setting with the address.
    private init(
        _ listen: ListenAddress, setting: String, purpose: PreparedStart.Purpose, _ daemonAddresses: [ListenAddress]
    ) {
        self.listen = listen
        self.setting = setting
        self.purpose = purpose
        self.daemonAddresses = daemonAddresses
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
        let daemonAddresses = InstanceLock.listeners(inDirectory: settings.stateDirectory)
            .compactMap { ListenAddress(text: $0) }
        for (listen, setting) in [(portal, "portal.listen"), (metrics, "metrics.listen")] {
            guard let listen else { continue }
            Self(listen, setting: setting, purpose: purpose, daemonAddresses).run(&findings)
        }
    }

    /// Whether a listener on this host has the port on every address of the machine.
    private static func isWildcard(_ host: String) -> Bool { ["0.0.0.0", "::"].contains(host) }

    private func run(_ findings: inout PreparationFindings) {
        guard let failure = bindingFailure else { return }
        let problem = "'\(setting)': cannot listen on \(listen.text): \(failure.text)"
        switch failure.errorNumber {
        case EADDRINUSE:
            // During a check, the program that uses the port may be the daemon itself.
            guard !daemonAddresses.contains(where: overlaps) else { return }
            findings.refuse("\(problem); choose another port, or stop the program that uses this port")
        case EACCES:
            let text =
                "\(problem); for a port below 1024, the daemon needs the capability CAP_NET_BIND_SERVICE, which this process does not have"
            // The daemon's unit can give the daemon a capability that the process of a check does not have.
            if purpose == .start { findings.refuse(text) } else { findings.warn(text) }
        default: findings.refuse("\(problem); choose an address of this machine")
        }
    }

    /// Whether two listeners with these addresses would need the same port of the same address of the machine.
    private func overlaps(_ other: ListenAddress) -> Bool {
        guard listen.port == other.port else { return false }
        return listen.host == other.host || Self.isWildcard(listen.host) || Self.isWildcard(other.host)
            || Self.firstAddress(of: listen) == Self.firstAddress(of: other)
    }

    /// The bytes of the first address of the host with the port, as `bind` takes them; nil if the host name cannot be
    /// resolved.
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

    /// Binds a socket to the first address of the host, as the portal does, and closes it.
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
