import MerchantCore
import MerchantOperations
import Testing
import Vocabulary
import WireAPI

/// Each situation of a merchant, and the step that comes next.
@Suite struct OnboardingProgressTests {
    @Test(arguments: OnboardingCase.all)
    func `the next step follows from the key pairs, certificates, uses and rolls`(given: OnboardingCase) {
        let progress = OnboardingProgress(given.facts)
        #expect(progress.next?.name == given.next)
        if let next = progress.next {
            #expect(next.waitingFor == given.party)
            #expect(next.since == given.since)
        }
        let text = (progress.next ?? progress.steps.last)?.whatToDo ?? ""
        #expect(given.text.isEmpty || text.contains(given.text), "\(text)")
    }

    @Test(arguments: OnboardingCase.all)
    func `the steps before the next one are done, and those after it wait`(given: OnboardingCase) {
        let progress = OnboardingProgress(given.facts)
        #expect(progress.steps.map(\.name) == OnboardingProgress.StepName.allCases)
        let position = progress.steps.firstIndex { $0.state == .next } ?? progress.steps.count
        for (index, step) in progress.steps.enumerated() {
            let expected: OnboardingProgress.StepState =
                index < position ? .done : index == position ? .next : .waiting
            #expect(step.state == expected, "\(step)")
            #expect((step.since == nil) == (expected == .waiting), "\(step)")
            #expect(!step.whatToDo.isEmpty && step.whatToDo.last == ".", "\(step)")
            if expected == .done { #expect(step.waitingFor == .none, "\(step)") }
            #expect(step.since.map { $0 <= OnboardingCase.now } ?? true, "\(step)")
        }
    }

    @Test(arguments: OnboardingCase.all)
    func `the texts are for merchants`(given: OnboardingCase) {
        for step in OnboardingProgress(given.facts).steps {
            let text = step.whatToDo
            for word in ["standby", "retiring", "promote", "roll", "merchantkeyctl", "daemon"] {
                #expect(!text.contains(word), "\(text)")
            }
            #expect(text.count { $0 == "." } <= 4, "\(text)")
        }
    }

    @Test func `a done step has the time at which it became done`() throws {
        let made = OnboardingCase.now.adding(.seconds(-40 * 86_400))
        let issued = OnboardingCase.now.adding(.seconds(-30 * 86_400))
        let promoted = OnboardingCase.now.adding(.seconds(-20 * 86_400))
        let paid = OnboardingCase.now.adding(.seconds(-10 * 86_400))
        let key = OnboardingCase.key(
            1, .current, created: -40, since: -20, certificate: (-30, 700), confirmed: -10)
        let progress = OnboardingProgress(OnboardingCase("", [key], next: nil).facts)
        #expect(progress.publicKeyHash == key.keyPair.publicKeyHash)
        #expect(progress.steps.map(\.since) == [made, issued, issued, promoted, paid, paid, paid])
    }

    @Test func `the document has the names of the API`() throws {
        let progress = OnboardingProgress(OnboardingCase("", [], next: .keyPair).facts)
        let document = progress.document
        #expect(document.merchantIdentifier == Bench.shop)
        #expect(
            document.steps.map(\.name) == [
                "keyPair", "appleCertificate", "upload", "activation", "firstPayment", "oldKeyQuiet", "done",
            ])
        #expect(document.steps.map(\.state) == ["next"] + [String](repeating: "waiting", count: 6))
        #expect(
            document.steps.map(\.waitingFor) == [
                "merchant", "merchant", "merchant", "merchant", "Apple", "none", "none",
            ])
        #expect(document.steps.first?.since == progress.next?.since)
    }
}
