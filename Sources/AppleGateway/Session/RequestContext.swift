import OutboundHTTP
import Synchronization

/// What one request of a `URLSession` needs beyond itself, and how it is cancelled.
///
/// A request is cancelled here, below the session, and never by `URLSessionTask.cancel`: on Linux a task that is cancelled
/// while it completes ends twice, and Foundation then ends the process. In this way the session sees one end.
final class RequestContext: Sendable {
    private enum State {
        case waiting
        case running(OutboundCall)
        case cancelled
    }

    let client: OutboundClient
    let identity: TLSIdentity?
    private let state = Mutex(State.waiting)

    init(client: OutboundClient, identity: TLSIdentity?) {
        self.client = client
        self.identity = identity
    }

    func started(_ call: OutboundCall) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .running(call)
            return false
        }
        if isCancelled { call.cancel() }
    }

    func cancel() {
        let call = state.withLock { state -> OutboundCall? in
            defer { state = .cancelled }
            guard case .running(let call) = state else { return nil }
            return call
        }
        call?.cancel()
    }
}
