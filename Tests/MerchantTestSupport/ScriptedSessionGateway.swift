package import MerchantCore
import Synchronization

/// Apple's service for merchant sessions in memory: returns one session or fails, as a test prescribes.
package final class ScriptedSessionGateway: SessionGateway {
    package struct Call: Hashable, Sendable {
        package let request: SessionRequest
        package let host: SessionHost?
        package let owner: IdentityOwner
        package let timeLimit: Duration
    }

    private let recorded = Mutex<[Call]>([])
    private let answer: @Sendable (Call) -> Result<[UInt8], GatewayError>

    /// - Parameter answer: returns the session or the error of each call.
    package init(
        answer: @escaping @Sendable (Call) -> Result<[UInt8], GatewayError> = { _ in
            .success(Array(#"{"merchantSessionIdentifier":"SSH1"}"#.utf8))
        }
    ) { self.answer = answer }

    package var calls: [Call] { recorded.withLock { $0 } }

    package func requestSession(
        _ request: SessionRequest, at host: SessionHost?, as owner: IdentityOwner, within timeLimit: Duration
    ) async throws(GatewayError) -> [UInt8] {
        let call = Call(request: request, host: host, owner: owner, timeLimit: timeLimit)
        recorded.withLock { $0.append(call) }
        return try answer(call).get()
    }
}
