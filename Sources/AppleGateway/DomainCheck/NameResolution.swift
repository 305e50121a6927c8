import Glibc
import NIOPosix
import Vocabulary

/// The system's resolver, on a thread that may wait.
enum NameResolution {
    /// Of its own, since the system may take half a minute for a name: other work that waits has other threads. Never ended,
    /// as the process is what uses it.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    /// - Throws: ``NameResolutionError``; how long the system takes is not bounded here.
    static func resolve(_ name: String) async throws -> [NetworkAddress] {
        try await threads.runIfActive { try resolveNow(name) }
    }

    /// At most eight addresses, in the system's order of preference.
    static func resolveNow(_ name: String) throws -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else { throw NameResolutionError(why: String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var found: [NetworkAddress] = []
        var next = list
        while let entry = next, found.count < 8 {
            if let address = entry.pointee.ai_addr.flatMap(read), !found.contains(address) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }

    private static func read(_ address: UnsafeMutablePointer<sockaddr>) -> NetworkAddress? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let four = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: four) { Array($0) })
        case AF_INET6:
            let six = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: six) { Array($0) })
        default: return nil
        }
    }
}

/// Why a name does not resolve, in the system's words.
struct NameResolutionError: Error, Hashable, Sendable {
    let why: String
}
