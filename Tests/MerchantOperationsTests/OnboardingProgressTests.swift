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
    func `the texts have no internal terms and at most 4 sentences`(given: OnboardingCase) {
        for step in OnboardingProgress(given.facts).steps {
            let text = step.whatToDo
            for word in ["standby", "retiring", "promote", "roll", "merchantkeyctl", "daemon"] {
                #expect(!text.contains(word), "\(text)")
            }
            #expect(text.count { $0 == "." } <= 4, "\(text)")
        }
    }

    @Test func `a done step has the time at which it became done`() throws {
        let generated = OnboardingCase.now.adding(.seconds(-40 * 86_400))
        let issued = OnboardingCase.now.adding(.seconds(-30 * 86_400))
        let promoted = OnboardingCase.now.adding(.seconds(-20 * 86_400))
        let paid = OnboardingCase.now.adding(.seconds(-10 * 86_400))
        let key = OnboardingCase.key(
            1, .current, created: -40, since: -20, certificate: (-30, 700), confirmed: -10)
        let progress = OnboardingProgress(OnboardingCase("", [key], next: nil).facts)
        #expect(progress.publicKeyHash == key.keyPair.publicKeyHash)
        #expect(progress.steps.map(\.since) == [generated, issued, issued, promoted, paid, paid, paid])
    }

    @Test func `the steps of a roll are due before the old certificate ends, and the quiet period has an end`() {
        let rolls = [OnboardingCase.roll(7, from: 1, to: 2, started: -30)]
        let old = OnboardingCase.key(1, .current, since: -700, certificate: (-700, 60), confirmed: -699)
        let pending = OnboardingCase.key(2, .pending, created: -200, since: -200)
        let started = OnboardingProgress(OnboardingCase("", [old, pending], rolls, next: nil).facts)
        let end = OnboardingCase.day(60)
        #expect(started.steps.map(\.until) == [nil, end, end, end, nil, nil, nil])
        let retiring = OnboardingCase.key(
            1, .retiring, since: -20, certificate: (-700, 60), tokens: (-699, -2), requested: -2)
        let new = OnboardingCase.key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19)
        let promoted = OnboardingProgress(OnboardingCase("", [retiring, new], rolls, next: nil).facts)
        #expect(promoted.steps.map(\.until) == [nil, nil, nil, nil, nil, OnboardingCase.day(5), nil])
        #expect(promoted.document.steps.map(\.until) == promoted.steps.map(\.until))
        let first = OnboardingProgress(OnboardingCase("", [pending], next: nil).facts)
        #expect(first.steps.allSatisfy { $0.until == nil })
    }

    @Test func `the awaited certificate is that of the next step's key or, after all steps, of a reserve key`() {
        func awaited(_ keys: OnboardingFacts.Key...) -> PublicKeyHash? {
            OnboardingProgress(OnboardingCase("", keys, next: nil).facts).awaitedKey
        }
        let current = OnboardingCase.key(1, .current, since: -20, certificate: (-25, 735), confirmed: -19)
        let pending = OnboardingCase.key(2, .pending, created: -10, since: -10)
        let later = OnboardingCase.key(3, .pending, created: -5, since: -5)
        let certified = OnboardingCase.key(4, .standby, since: -2, certificate: (-2, 758))
        #expect(awaited() == nil)
        #expect(awaited(current) == nil)
        #expect(awaited(pending) == OnboardingCase.hash(2))
        #expect(awaited(current, pending, later) == OnboardingCase.hash(2))
        #expect(awaited(certified, later) == nil, "the present step is the activation")
    }

    @Test func `the onboarding and the roll name the same party until the key is promoted`() {
        let old = OnboardingCase.key(1, .current, since: -700, certificate: (-700, 60), confirmed: -699)
        let roll = OnboardingCase.roll(7, from: 1, to: 2, started: -30)
        let keys = [
            OnboardingCase.key(2, .pending, created: -200, since: -200),
            OnboardingCase.key(2, .standby, since: -25, certificate: (-25, 735)),
            OnboardingCase.key(2, .standby, since: -25, certificate: (-25, 735), tokens: (-5, -1)),
            OnboardingCase.key(2, .retiring, since: -2, certificate: (-25, 735), tokens: (-19, -3)),
        ]
        for key in keys {
            let facts = OnboardingCase("", [old, key], [roll], next: nil).facts
            let progress = RollLifecycle.progress(
                of: roll, from: old.keyPair, fromUse: old.use, to: key.keyPair, toUse: key.use, policy: facts.policy,
                at: OnboardingCase.now)
            #expect(OnboardingProgress(facts).next?.waitingFor == progress.waitingFor, "\(key.keyPair.state)")
        }
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
