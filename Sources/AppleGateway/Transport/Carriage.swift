import AsyncHTTPClient
import NIOSSL
import Synchronization

/// What one request needs beyond itself, and the way to give it up.
///
/// A request is given up here, below the session, and never by `URLSessionTask.cancel`: on Linux a task that is cancelled in the
/// moment of its completion ends twice, and Foundation then ends the process. So the session sees one end, always ours.
final class Carriage: Sendable {
    private enum State {
        case waiting
        case running(HTTPClient.Task<TransportAnswer>)
        case cancelled
    }

    let transport: SecureTransport
    let tls: TLSConfiguration
    private let state = Mutex(State.waiting)

    init(transport: SecureTransport, tls: TLSConfiguration) {
        self.transport = transport
        self.tls = tls
    }

    func began(_ task: HTTPClient.Task<TransportAnswer>) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .running(task)
            return false
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state -> HTTPClient.Task<TransportAnswer>? in
            defer { state = .cancelled }
            guard case .running(let task) = state else { return nil }
            return task
        }
        task?.cancel()
    }
}
