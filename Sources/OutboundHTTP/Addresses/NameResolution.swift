import Glibc
import NIOPosix
import Synchronization

/// The system's resolver, on threads of its own.
package enum NameResolution {
    /// No name needs more.
    private static let mostAddresses = 8

    /// Separate threads, because the system may take half a minute for a name and other work must not wait for it. They run
    /// until the process ends.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    /// At most eight different addresses, in the system's order of preference.
    ///
    /// getaddrinfo cannot be cancelled: after `timeout` this method returns, and the thread stays busy until getaddrinfo
    /// returns.
    ///
    /// - Throws: ``NameResolutionError``, or `CancellationError`.
    package static func addresses(of name: String, within timeout: Duration) async throws -> [NetworkAddress] {
        let result = FirstResult()
        let timer = Task {
            try await Task.sleep(for: timeout)
            result.set(.failure(NameResolutionError.timedOut))
        }
        defer { timer.cancel() }
        threads.submit { _ in result.set(Result { try lookUp(name) }) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { result.resume($0) }
        } onCancel: {
            result.set(.failure(CancellationError()))
        }
    }

    /// Keeps the first of several results and gives it to one continuation. Later results are ignored.
    private final class FirstResult: Sendable {
        private enum State {
            case empty
            case awaited(CheckedContinuation<[NetworkAddress], any Error>)
            case set(Result<[NetworkAddress], any Error>)
        }

        private let state = Mutex(State.empty)

        /// Resumes the continuation with the result, now or when it is set.
        func resume(_ continuation: CheckedContinuation<[NetworkAddress], any Error>) {
            let known = state.withLock { state -> Result<[NetworkAddress], any Error>? in
                if case .set(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(with: known) }
        }

        func set(_ result: Result<[NetworkAddress], any Error>) {
            let waiting = state.withLock { state -> CheckedContinuation<[NetworkAddress], any Error>? in
                switch state {
                case .set: return nil
                case .empty:
                    state = .set(result)
                    return nil
                case .awaited(let continuation):
                    state = .set(result)
                    return continuation
                }
            }
            waiting?.resume(with: result)
        }
    }

    private static func lookUp(_ name: String) throws -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else { throw NameResolutionError.notResolved(String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var found: [NetworkAddress] = []
        var next = list
        while let entry = next, found.count < mostAddresses {
            if let address = entry.pointee.ai_addr.flatMap(read), !found.contains(address) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }

    private static func read(_ address: UnsafeMutablePointer<sockaddr>) -> NetworkAddress? {
        let raw = UnsafeRawPointer(address)
        let bytes: [UInt8]? =
            switch Int32(address.pointee.sa_family) {
            case AF_INET: withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
            case AF_INET6: withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
            default: nil
            }
        return bytes.flatMap(NetworkAddress.init(bytes:))
    }
}

package enum NameResolutionError: Error, Hashable, Sendable {
    /// The reason as the system words it.
    case notResolved(String)
    case timedOut
}
