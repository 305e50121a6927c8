import FoundationEssentials
import Synchronization

/// The merchant tokens and their events, in memory. They are lost when the process exits: each test creates the tokens
/// and events that it needs.
final class MerchantTokenStore: Sendable {
    private struct State {
        var tokens: [String: SandboxMerchantToken] = [:]
        var events: [String: SandboxTokenEvent] = [:]
    }

    private let state = Mutex(State())

    /// All tokens, sorted by identifier.
    var tokens: [SandboxMerchantToken] {
        state.withLock { $0.tokens.values.sorted { $0.merchantTokenIdentifier < $1.merchantTokenIdentifier } }
    }

    func token(_ identifier: String) -> SandboxMerchantToken? { state.withLock { $0.tokens[identifier] } }

    func event(_ identifier: String) -> SandboxTokenEvent? { state.withLock { $0.events[identifier] } }

    /// Changes a token. If the token does not exist, adds it first.
    ///
    /// - Throws: ``SandboxError`` if the token belongs to another merchant.
    func store(
        _ identifier: String, of merchant: String, _ change: (inout SandboxMerchantToken) -> Void = { _ in }
    ) throws(SandboxError) {
        try state.withLock { state throws(SandboxError) in
            var token = state.tokens[identifier] ?? SandboxMerchantToken(identifier, of: merchant)
            guard token.merchantIdentifier == merchant else {
                throw SandboxError("the merchant token belongs to \(token.merchantIdentifier)")
            }
            change(&token)
            state.tokens[identifier] = token
        }
    }

    /// Changes a token of a merchant.
    ///
    /// - Returns: whether the merchant has such a token.
    func change(_ identifier: String, of merchant: String, _ change: (inout SandboxMerchantToken) -> Void) -> Bool {
        state.withLock { state in
            guard var token = state.tokens[identifier], token.merchantIdentifier == merchant else { return false }
            change(&token)
            state.tokens[identifier] = token
            return true
        }
    }

    func insert(_ event: SandboxTokenEvent) { state.withLock { $0.events[event.eventIdentifier] = event } }

    /// Returns an event of a merchant, and counts the fetch.
    ///
    /// - Returns: nil if the merchant has no such event.
    func fetch(_ identifier: String, of merchant: String) -> SandboxTokenEvent? {
        state.withLock { state in
            guard let event = state.events[identifier], event.merchantIdentifier == merchant else { return nil }
            state.events[identifier]?.fetches += 1
            return event
        }
    }

    func recordNotification(of event: String, _ result: String) {
        state.withLock { $0.events[event]?.notifications.append(result) }
    }
}
