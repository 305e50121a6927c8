import MerchantCore
import MerchantOperations
import RESTKit
import WireAPI

extension KeyTransitionDocument {
    init(_ result: KeyTransitionResult) {
        self.init(KeyDocument(result.key))
        dryRun = result.dryRun
        transitions = result.transitions.map { Transition($0.publicKeyHash, from: $0.from, to: $0.to) }
        warnings = result.warnings
        // Nil if there are none, so that the JSON document then has no field `staleNodes`.
        staleNodes = result.staleNodes.isEmpty ? nil : result.staleNodes
    }
}
