import Glibc
import NIOPosix
import Synchronization

/// The system's resolver, off the threads that must not wait.
package enum NameResolution {
    /// More than any name needs.
    private static let mostAddresses = 8

    /// Of its own, since the system may take half a minute for a name: other work that waits has other threads. Never ended,
    /// as the process is what uses it.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    /// At most eight IP addresses of 4 or 16 bytes, in the system's order of preference.
    ///
    /// getaddrinfo cannot be stopped: where it takes longer than `patience`, its thread is left to come back when it does.
    ///
    /// - Throws: ``NameResolutionError``, or `CancellationError`.
    package static func addresses(of name: String, within patience: Duration) async throws -> [[UInt8]] {
        let answer = FirstAnswer()
        let timer = Task {
            try await Task.sleep(for: patience)
            answer.give(.failure(NameResolutionError.tookTooLong))
        }
        defer { timer.cancel() }
        threads.submit { _ in answer.give(Result { try lookUp(name) }) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { answer.await($0) }
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
    }

    /// Of several answers the first one, for the one that waits for it.
    private final class FirstAnswer: Sendable {
        private enum State {
            case open
            case awaited(CheckedContinuation<[[UInt8]], any Error>)
            case given(Result<[[UInt8]], any Error>)
        }

        private let state = Mutex(State.open)

        func await(_ continuation: CheckedContinuation<[[UInt8]], any Error>) {
            let early = state.withLock { state -> Result<[[UInt8]], any Error>? in
                if case .given(let answer) = state { return answer }
                state = .awaited(continuation)
                return nil
            }
            if let early { continuation.resume(with: early) }
        }

        func give(_ answer: Result<[[UInt8]], any Error>) {
            let waiting = state.withLock { state -> CheckedContinuation<[[UInt8]], any Error>? in
                switch state {
                case .given: return nil
                case .open:
                    state = .given(answer)
                    return nil
                case .awaited(let continuation):
                    state = .given(answer)
                    return continuation
                }
            }
            waiting?.resume(with: answer)
        }
    }

    private static func lookUp(_ name: String) throws -> [[UInt8]] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else { throw NameResolutionError.notResolved(why: String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var found: [[UInt8]] = []
        var next = list
        while let entry = next, found.count < mostAddresses {
            if let address = entry.pointee.ai_addr.flatMap(read), !found.contains(address) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }

    private static func read(_ address: UnsafeMutablePointer<sockaddr>) -> [UInt8]? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
        case AF_INET6: return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
        default: return nil
        }
    }
}

package enum NameResolutionError: Error, Hashable, Sendable {
    /// In the system's words.
    case notResolved(why: String)
    case tookTooLong
}
