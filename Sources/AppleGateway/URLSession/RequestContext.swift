import OutboundHTTP
import Synchronization

/// The HTTP client and the identity for one request of a `URLSession`, and the means to cancel that request.
///
/// Cancel a request here and never with `URLSessionTask.cancel`. On Linux a task that is cancelled while it completes
/// ends twice, and Foundation then terminates the process. A cancellation here ends only the HTTP call below the
/// session, so the task ends once.
final class RequestContext: Sendable {
    private enum State {
        /// The HTTP call has not been started yet.
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

    /// Stores the call, or cancels it if the context was cancelled before.
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
