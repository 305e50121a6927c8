import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension RollDocument {
    init(_ view: RollView, outcome: RollTransitions? = nil) {
        let (roll, standing) = (view.roll, view.standing)
        self.init(
            rollId: roll.rollId, merchantIdentifier: roll.merchantIdentifier.rawValue,
            algorithm: roll.algorithm.rawValue, state: standing.state.rawValue, from: roll.from?.base64,
            to: roll.to.base64, waitingFor: standing.waitingFor.rawValue, since: standing.since.rfc3339,
            next: standing.next, quietAt: standing.quietAt?.rfc3339, startedAt: roll.startedAt.rfc3339,
            endedAt: roll.endedAt?.rfc3339, reason: roll.reason, dryRun: outcome?.dryRun,
            transitions: outcome?.transitions.map {
                .init(publicKeyHash: $0.publicKeyHash.base64, from: $0.from.rawValue, to: $0.to.rawValue)
            }, warnings: outcome?.warnings)
    }

    init(_ transitions: RollTransitions) { self.init(transitions.roll, outcome: transitions) }
}

extension KeyUseDocument {
    init(_ use: KeyUse) {
        self.init(requests: use.requests.map(Observed.init), decryptions: use.decryptions.map(Observed.init))
    }
}

extension KeyUseDocument.Observed {
    init(_ use: ObservedUse) { self.init(count: use.count, first: use.first.rfc3339, last: use.last.rfc3339) }
}
