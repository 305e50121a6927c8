import MerchantCore
package import MerchantOperations
import Vocabulary
package import WireAPI

extension RollDocument {
    /// - Parameter result: what finishing or abandoning the roll changed; nil for other requests.
    package init(_ view: RollView, result: RollTransitionResult? = nil) {
        let (roll, progress) = (view.roll, view.progress)
        self.init(
            roll.rollId, of: roll.merchantIdentifier, algorithm: roll.algorithm, to: roll.to, startedAt: roll.startedAt,
            state: progress.state.rawValue, since: progress.since, waitingFor: progress.waitingFor.rawValue)
        from = roll.from
        next = progress.next
        quietAt = progress.quietAt
        endedAt = roll.endedAt
        reason = roll.reason
        dryRun = result?.dryRun
        transitions = result?.transitions.map { .init($0.publicKeyHash, from: $0.from, to: $0.to) }
        warnings = result?.warnings
        staleNodes = result.flatMap { $0.staleNodes.isEmpty ? nil : $0.staleNodes }
        nextKeyPairs = result?.nextKeyPairs
        generatedKeyPairs = result?.generatedKeyPairs
    }

    package init(_ result: RollTransitionResult) { self.init(result.roll, result: result) }
}
