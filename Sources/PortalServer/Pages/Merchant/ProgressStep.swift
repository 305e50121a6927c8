package import MerchantCore
package import MerchantOperations
package import Vocabulary

/// A step of the onboarding as the pages show it. The properties mean the same as in ``OnboardingProgress/Step``.
package struct ProgressStep: Hashable, Sendable {
    package let name: OnboardingProgress.StepName
    package let state: OnboardingProgress.StepState
    package let waitingFor: RollParty
    package let since: Timestamp?
    package let until: Timestamp?

    package init(
        _ name: OnboardingProgress.StepName, _ state: OnboardingProgress.StepState, waitingFor: RollParty,
        since: Timestamp?, until: Timestamp? = nil
    ) {
        self.name = name
        self.state = state
        self.waitingFor = waitingFor
        self.since = since
        self.until = until
    }

    package init(_ step: OnboardingProgress.Step) {
        self.init(step.name, step.state, waitingFor: step.waitingFor, since: step.since, until: step.until)
    }
}

/// A step in the template.
struct StepContent {
    let state: String
    let isNext: Bool
    /// The step's number or a check mark, in the circle before the name.
    let mark: String
    let name: String
    let stateText: String
    let since: TimeContent?
    let until: TimeContent?

    init(_ step: ProgressStep, number: Int, _ text: PageText) {
        state = step.state.rawValue
        isNext = step.state == .next
        mark = step.state == .done ? "\u{2713}" : text.number(number)
        name = text.named(.stepName, step.name.rawValue)
        stateText =
            switch step.state {
            case .done: text[.stepDone]
            case .next: text.filled(.stepNext, ["party": text.named(.party, step.waitingFor.rawValue)])
            case .waiting: text[.stepWaiting]
            }
        since = step.since.map { since in
            let time = text.time(since)
            // A step that is done shows only when it became done.
            guard step.state != .done else { return time }
            return TimeContent(iso: time.iso, text: text.filled(.stepSince, ["time": time.text]))
        }
        until = step.until.map { until in
            let day = text.day(until)
            return TimeContent(iso: day.iso, text: text.filled(.stepUntil, ["date": day.text]))
        }
    }
}
