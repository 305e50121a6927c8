package import MerchantCore
package import MerchantOperations
package import Vocabulary

/// A roll as the pages show it.
package struct PageRoll: Hashable, Sendable {
    package let number: Int
    package let state: RollState
    package let waitingFor: RollParty
    package let since: Timestamp
    /// What must be done next; nil if nothing must be done.
    package let next: String?

    package init(number: Int, state: RollState, waitingFor: RollParty, since: Timestamp, next: String?) {
        self.number = number
        self.state = state
        self.waitingFor = waitingFor
        self.since = since
        self.next = next
    }

    package init(_ view: RollView) {
        self.init(
            number: view.roll.number, state: view.progress.state, waitingFor: view.progress.waitingFor,
            since: view.progress.since, next: view.progress.next)
    }

    var isOpen: Bool { state != .finished && state != .abandoned }
}
