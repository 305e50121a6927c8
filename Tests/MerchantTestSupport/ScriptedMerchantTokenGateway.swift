package import MerchantCore
import Synchronization
package import Vocabulary

/// Apple's Merchant Token Management API in memory: keeps events, and fails as a test prescribes.
package final class ScriptedMerchantTokenGateway: MerchantTokenGateway {
    package enum Call: Hashable, Sendable {
        case event(MerchantTokenEventIdentifier, MerchantIdentifier, IdentityOwner)
        case unlink(MerchantTokenIdentifier, MerchantIdentifier, IdentityOwner)
        case setNotificationURL(String, MerchantTokenIdentifier)
        case publicKey(MerchantTokenIdentifier)
        case notify(MerchantTokenIdentifier)
    }

    private struct State {
        var events: [MerchantTokenEventIdentifier: MerchantTokenEvent] = [:]
        var calls: [Call] = []
        var publicKey: MerchantTokenPublicKey?
        var running = 0
        var mostRunning = 0
    }

    private let state = Mutex(State())
    private let fault: @Sendable (Call) -> GatewayError.Kind?
    private let delay: Duration

    /// - Parameters:
    ///   - delay: the duration of each call.
    ///   - fault: returns how each call fails; nil if it succeeds.
    package init(
        delay: Duration = .zero, fault: @escaping @Sendable (Call) -> GatewayError.Kind? = { _ in nil }
    ) {
        self.delay = delay
        self.fault = fault
    }

    package var calls: [Call] { state.withLock { $0.calls } }
    /// The largest number of calls that ran at the same time.
    package var mostRunning: Int { state.withLock { $0.mostRunning } }

    package var publicKey: MerchantTokenPublicKey? {
        get { state.withLock { $0.publicKey } }
        set { state.withLock { $0.publicKey = newValue } }
    }

    /// Adds an event, which ``event(_:of:as:)`` then returns.
    package func add(
        _ identifier: MerchantTokenEventIdentifier, _ type: String, of token: MerchantTokenIdentifier,
        reason: String = "UNLINKDEVICE", card: MerchantTokenCard? = nil, encryptedMetadata: [UInt8]? = nil
    ) {
        let event = MerchantTokenEvent(
            type: type, merchantTokenIdentifier: token, reason: reason, card: card,
            encryptedMetadata: encryptedMetadata)
        state.withLock { $0.events[identifier] = event }
    }

    package func event(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenEvent {
        try await run(.event(event, merchant, owner))
        guard let found = state.withLock({ $0.events[event] }) else { throw Self.error(.refused) }
        return found
    }

    package func unlink(
        _ token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) { try await run(.unlink(token, merchant, owner)) }

    package func setNotificationURL(
        _ url: String, of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) { try await run(.setNotificationURL(url, token)) }

    package func publicKey(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenPublicKey? {
        try await run(.publicKey(token))
        return publicKey
    }

    package func notifyUsageInformation(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) { try await run(.notify(token)) }

    private func run(_ call: Call) async throws(GatewayError) {
        state.withLock { state in
            state.calls.append(call)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        defer { state.withLock { $0.running -= 1 } }
        if delay > .zero { try? await Task.sleep(for: delay) }
        if let kind = fault(call) { throw Self.error(kind) }
    }

    private static func error(_ kind: GatewayError.Kind) -> GatewayError {
        GatewayError(
            kind, "prescribed failure", status: kind == .refused ? 400 : nil,
            retryAfter: kind == .circuitOpen ? 1 : nil, mayHaveActed: kind == .responseNotReceived)
    }
}
