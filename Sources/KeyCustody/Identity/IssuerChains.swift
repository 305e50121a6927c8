import MerchantCore
import Synchronization

/// The chains of CAs above recently used identity certificates. They are kept because verifying the signatures of CAs
/// takes longer than a request to Apple.
final class IssuerChains: Sendable {
    private static let capacity = 1024

    private struct State {
        /// The generation of the setting `trust.certificate-issuers` from which `chains` were built.
        var generation: Int
        var chains: [[UInt8]: [[UInt8]]] = [:]
    }

    private let custody: KeyCustody
    private let state: Mutex<State>

    init(_ custody: KeyCustody) {
        self.custody = custody
        state = Mutex(State(generation: custody.currentIssuers.generation))
    }

    /// - Parameter der: an identity certificate.
    func issuers(of der: [UInt8]) -> [[UInt8]] {
        // Read before the CAs, so that a chain from older CAs is not kept as one from newer CAs.
        let generation = custody.currentIssuers.generation
        if let known = state.withLock({ $0.generation == generation ? $0.chains[der] : nil }) { return known }
        let chain = custody.issuers(of: der)
        state.withLock { state in
            if state.generation != generation || state.chains.count >= Self.capacity {
                state = State(generation: generation)
            }
            state.chains[der] = chain
        }
        return chain
    }
}
