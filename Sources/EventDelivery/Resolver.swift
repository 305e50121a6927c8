import Glibc
import NIOPosix
import Synchronization
import Vocabulary

/// The system's resolver, off the threads that must not wait.
enum Resolver {
    static let patience = Duration.seconds(5)

    /// - Throws: ``DeliveryFault`` where the name has no address, or no answer comes in time.
    static func addresses(of host: String) async throws -> [NetworkAddress] {
        let once = Once()
        return try await withCheckedThrowingContinuation { continuation in
            once.arm(continuation)
            // getaddrinfo cannot be stopped: whoever waits goes on, and the thread comes back when it does.
            NIOThreadPool.singleton.submit { _ in once.resume(with: Result { try lookUp(host) }) }
            Task {
                try? await Task.sleep(for: patience)
                once.resume(with: .failure(DeliveryFault("the host's name was not resolved in time")))
            }
        }
    }

    /// A continuation that the first of two resumes.
    private final class Once: Sendable {
        private let waiting = Mutex<CheckedContinuation<[NetworkAddress], any Error>?>(nil)

        func arm(_ continuation: CheckedContinuation<[NetworkAddress], any Error>) {
            waiting.withLock { $0 = continuation }
        }

        func resume(with result: Result<[NetworkAddress], any Error>) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(with: result)
        }
    }

    private static func lookUp(_ host: String) throws -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            throw DeliveryFault("the host's name cannot be resolved: \(String(cString: gai_strerror(status)))")
        }
        defer { freeaddrinfo(list) }
        var found: [NetworkAddress] = []
        var entry = list
        while let current = entry {
            if let address = address(current.pointee), !found.contains(address) { found.append(address) }
            entry = current.pointee.ai_next
        }
        return found
    }

    private static func address(_ entry: addrinfo) -> NetworkAddress? {
        guard let pointer = UnsafeRawPointer(entry.ai_addr) else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return withUnsafeBytes(of: pointer.loadUnaligned(as: sockaddr_in.self).sin_addr) {
                NetworkAddress(bytes: Array($0))
            }
        case AF_INET6:
            return withUnsafeBytes(of: pointer.loadUnaligned(as: sockaddr_in6.self).sin6_addr) {
                NetworkAddress(bytes: Array($0))
            }
        default: return nil
        }
    }
}
