package import MerchantCore
import Synchronization

/// A session gateway in memory: records each call, and returns a fixed response or fails.
package final class RecordingSessionGateway: SessionGateway {
    package struct Call: Hashable, Sendable {
        package let request: SessionRequest
        package let host: SessionHost?
        package let owner: IdentityOwner
        package let timeLimit: Duration

        package init(request: SessionRequest, host: SessionHost?, owner: IdentityOwner, timeLimit: Duration) {
            self.request = request
            self.host = host
            self.owner = owner
            self.timeLimit = timeLimit
        }
    }

    /// A JSON object with an unusual order and spacing, which a JSON encoder would not write.
    package static let session = Array(#"{ "zeta" :1,"alpha":"\u00e9é" ,"#.utf8) + Array("\n\t\"n\":1.50e0 }\r\n".utf8)

    private struct State {
        var calls: [Call] = []
        var error: GatewayError?
    }

    private let state = Mutex(State())

    package init() {}

    package var calls: [Call] { state.withLock { $0.calls } }

    /// The error of every call; nil for ``session``.
    package var error: GatewayError? {
        get { state.withLock { $0.error } }
        set { state.withLock { $0.error = newValue } }
    }

    package func requestSession(
        _ request: SessionRequest, at host: SessionHost?, as owner: IdentityOwner, within timeLimit: Duration
    ) async throws(GatewayError) -> [UInt8] {
        let error = state.withLock { state in
            state.calls.append(Call(request: request, host: host, owner: owner, timeLimit: timeLimit))
            return state.error
        }
        if let error { throw error }
        return Self.session
    }
}
