import Foundation
import MerchantCore
import OutboundHTTP
import Synchronization
import Vocabulary

/// One of Apple's hosts and a group of its operations. Each lane has a circuit breaker of its own.
struct GatewayLane: Hashable {
    /// The host name and port.
    let authority: String
    let api: GatewayAPI

    init(_ url: URL, _ api: GatewayAPI) {
        authority = "\(url.host(percentEncoded: true)?.lowercased() ?? ""):\(url.port ?? 443)"
        self.api = api
    }

    /// A buyer waits for a session, so sessions are tried again sooner than other calls.
    fileprivate var circuitPause: Backoff {
        api == .sessions
            ? Backoff(first: .seconds(5), longest: .seconds(30)) : Backoff(first: .seconds(30), longest: .seconds(300))
    }

    /// The longest pause that a `Retry-After` header from Apple can impose on further calls.
    fileprivate var longestPause: Duration { api == .sessions ? .seconds(5) : .seconds(86_400) }
}

/// The circuit breakers, and the pauses that Apple asked for with status 429.
final class GatewayLanes: Sendable {
    private struct State {
        var circuit: Circuit<Timestamp>
        /// The last error that the circuit breaker counted, for messages.
        var lastError = ""
        /// The time before which no request is sent with a client certificate, because Apple asked for a pause.
        var pausedUntil: [IdentityOwner: Timestamp] = [:]
    }

    /// After this many consecutive failures, the circuit breaker refuses calls.
    private static let failuresToOpen = 10
    /// When a lane has this many pauses, those that are over are removed.
    private static let pauseLimit = 256

    private let states = Mutex<[GatewayLane: State]>([:])

    /// Asks the circuit breaker whether the call may be made. The caller must then report the result of the call with
    /// ``succeeded(_:)``, ``failed(_:with:at:)``, ``abandoned(_:at:)`` or ``pause(_:for:of:at:)``.
    ///
    /// - Throws: `circuitOpen` if the call may not be made.
    func admit(_ lane: GatewayLane, at now: Timestamp) throws(GatewayError) {
        let (admission, lastError) = with(lane) { ($0.circuit.admit(at: now), $0.lastError) }
        let pause: Duration
        switch admission {
        case .admitted: return
        // The probe will soon show whether Apple works again.
        case .probing: pause = .seconds(1)
        case .refused(let duration): pause = duration
        }
        let seconds = pause.roundedUpSeconds
        throw GatewayError(
            .circuitOpen,
            "Apple failed repeatedly, so no call is made for another \(seconds) s; the last error was: \(lastError)",
            retryAfter: seconds, mayHaveActed: false)
    }

    /// Records that Apple responded. A response that refuses the request counts too.
    func succeeded(_ lane: GatewayLane) { with(lane) { $0.circuit.succeeded() } }

    func failed(_ lane: GatewayLane, with error: GatewayError, at now: Timestamp) {
        with(lane) { state in
            state.lastError = error.description
            state.circuit.failed(at: now)
        }
    }

    /// Records that the call ended without showing whether Apple works.
    func abandoned(_ lane: GatewayLane, at now: Timestamp) { with(lane) { $0.circuit.abandoned(at: now) } }

    /// Records that Apple asked for a pause. Apple works, so the circuit closes.
    func pause(_ lane: GatewayLane, for owner: IdentityOwner, of duration: Duration, at now: Timestamp) {
        let until = now.adding(min(duration, lane.longestPause))
        with(lane) { state in
            state.circuit.succeeded()
            if state.pausedUntil.count >= Self.pauseLimit { state.pausedUntil = state.pausedUntil.filter { $1 > now } }
            state.pausedUntil[owner] = max(until, state.pausedUntil[owner] ?? until)
        }
    }

    /// How much of the pause that Apple asked for is left; nil if there is none.
    func remainingPause(_ lane: GatewayLane, for owner: IdentityOwner, at now: Timestamp) -> Duration? {
        with(lane) { state in
            guard let until = state.pausedUntil[owner] else { return nil }
            guard until > now else {
                state.pausedUntil[owner] = nil
                return nil
            }
            return now.duration(to: until)
        }
    }

    func health(_ lane: GatewayLane) -> GatewayHealth {
        with(lane) { state in
            state.circuit.openUntil.map { .circuitOpen(until: $0, lastError: state.lastError) } ?? .available
        }
    }

    private func with<Result>(_ lane: GatewayLane, _ body: (inout State) -> Result) -> Result {
        states.withLock { states in
            body(
                &states[
                    lane,
                    default: State(
                        circuit: Circuit(.init(failuresToOpen: Self.failuresToOpen, pause: lane.circuitPause)))])
        }
    }
}
