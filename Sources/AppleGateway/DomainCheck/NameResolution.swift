import Glibc
import NIOPosix

/// An address that a name resolved to.
struct ResolvedAddress: Hashable, Sendable {
    /// 4 or 16, in network order.
    let bytes: [UInt8]
    /// As people write it: `192.0.2.1`, `2001:db8::1`.
    let text: String
}

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
    static func resolve(_ name: String) async throws -> [ResolvedAddress] {
        try await threads.runIfActive { try resolveNow(name) }
    }

    /// At most eight addresses, in the system's order of preference.
    static func resolveNow(_ name: String) throws -> [ResolvedAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else { throw NameResolutionError(why: String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var found: [ResolvedAddress] = []
        var next = list
        while let entry = next, found.count < 8 {
            if let address = entry.pointee.ai_addr.flatMap(read), !found.contains(address) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }

    /// - Returns: nil where the text is no address.
    static func literal(_ text: String) -> ResolvedAddress? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            return ResolvedAddress(bytes: withUnsafeBytes(of: four) { Array($0) }, text: text)
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        return ResolvedAddress(bytes: withUnsafeBytes(of: six) { Array($0) }, text: text)
    }

    private static func read(_ address: UnsafeMutablePointer<sockaddr>) -> ResolvedAddress? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let four = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            return spelled(AF_INET, withUnsafeBytes(of: four) { Array($0) })
        case AF_INET6:
            let six = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return spelled(AF_INET6, withUnsafeBytes(of: six) { Array($0) })
        default: return nil
        }
    }

    private static func spelled(_ family: Int32, _ bytes: [UInt8]) -> ResolvedAddress? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        let length = text.firstIndex(of: 0) ?? text.count
        return ResolvedAddress(
            bytes: bytes, text: String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}

/// Why a name does not resolve, in the system's words.
struct NameResolutionError: Error, Hashable, Sendable {
    let why: String
}
