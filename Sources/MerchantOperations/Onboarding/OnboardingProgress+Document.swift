import MerchantCore
package import WireAPI

extension OnboardingProgress {
    /// The progress as JSON.
    package var document: OnboardingDocument {
        OnboardingDocument(
            merchantIdentifier,
            steps: steps.map { step in
                OnboardingDocument.Step(
                    step.name.rawValue, state: step.state.rawValue, waitingFor: step.waitingFor.rawValue,
                    since: step.since, until: step.until, whatToDo: step.whatToDo)
            })
    }
}
