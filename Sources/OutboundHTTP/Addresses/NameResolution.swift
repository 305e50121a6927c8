import Glibc
import NIOPosix
import Synchronization

/// Resolves names with `getaddrinfo`, on threads that do nothing else.
package enum NameResolution {
    /// More addresses are not needed, because callers try only a few addresses of a name.
    private static let maximumAddresses = 8

    /// `getaddrinfo` may block for half a minute, so it does not run on threads that other work needs. These threads
    /// run until the process ends.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    /// Returns at most eight different addresses of the name, in the system's order of preference.
    ///
    /// After `timeout` this method throws. `getaddrinfo` cannot be cancelled, so its thread stays busy until
    /// `getaddrinfo` returns.
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

    /// Passes the first of several results (addresses, timeout, cancellation) to one continuation. Ignores later
    /// results.
    private final class FirstResult: Sendable {
        private enum State {
            /// There is neither a result nor a continuation yet.
            case empty
            /// The continuation waits for the result.
            case awaited(CheckedContinuation<[NetworkAddress], any Error>)
            /// There is a result. The continuation, if it has arrived, was resumed with it.
            case set(Result<[NetworkAddress], any Error>)
        }

        private let state = Mutex(State.empty)

        /// Resumes the continuation with the result: at once if there is one, otherwise when `set` is called.
        func resume(_ continuation: CheckedContinuation<[NetworkAddress], any Error>) {
            let known = state.withLock { state -> Result<[NetworkAddress], any Error>? in
                if case .set(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(with: known) }
        }

        /// Stores the result unless there is one, and resumes the waiting continuation.
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

    /// Calls `getaddrinfo`, which blocks the thread.
    private static func lookUp(_ name: String) throws -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else { throw NameResolutionError.notResolved(String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var found: [NetworkAddress] = []
        var next = list
        while let entry = next, found.count < maximumAddresses {
            if let address = entry.pointee.ai_addr.flatMap(networkAddress), !found.contains(address) {
                found.append(address)
            }
            next = entry.pointee.ai_next
        }
        return found
    }

    /// - Returns: nil if the address is neither IPv4 nor IPv6.
    private static func networkAddress(_ address: UnsafeMutablePointer<sockaddr>) -> NetworkAddress? {
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

/// Why a name was not resolved.
package enum NameResolutionError: Error, Hashable, Sendable {
    /// The name could not be resolved. The text is the message of `gai_strerror`.
    case notResolved(String)
    case timedOut
}
