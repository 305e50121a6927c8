import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension RollDocument {
    init(_ view: RollView, outcome: RollTransitions? = nil) {
        let (roll, standing) = (view.roll, view.standing)
        self.init(
            roll.rollId, of: roll.merchantIdentifier, algorithm: roll.algorithm, to: roll.to, startedAt: roll.startedAt,
            state: standing.state.rawValue, since: standing.since, waitingFor: standing.waitingFor.rawValue)
        from = roll.from
        next = standing.next
        quietAt = standing.quietAt
        endedAt = roll.endedAt
        reason = roll.reason
        dryRun = outcome?.dryRun
        transitions = outcome?.transitions.map { .init($0.publicKeyHash, from: $0.from, to: $0.to) }
        warnings = outcome?.warnings
    }

    init(_ transitions: RollTransitions) { self.init(transitions.roll, outcome: transitions) }
}
