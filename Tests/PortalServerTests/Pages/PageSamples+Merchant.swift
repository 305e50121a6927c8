import MerchantCore
import MerchantOperations
import PortalServer
import Vocabulary

/// Pages with ordinary values: every page in every state that has texts of its own.
enum PageSamples {
    private static let merchant = PageContext.Visitor.merchant(Sample.merchantIdentifier, name: "Shop")

    static var entry: [PageSample] {
        var pages: [(String, any HTMLPage)] = [
            ("invitation", InvitationPage(Sample.openInvitation, path: "/invitations/x")),
            ("sign in", SignInPage()), ("signed out", SignedOutPage()),
            ("login", LoginPage(path: "/login/x")), ("login refused", LoginRefusedPage()),
        ]
        for reason in InvitationRefusedPage.Reason.allCases {
            pages.append(("invitation \(reason.rawValue)", InvitationRefusedPage(reason)))
        }
        for attempt in SessionEndedPage.Attempt.allCases {
            pages.append(("session ended, \(attempt)", SessionEndedPage(after: attempt)))
            let operators = SessionEndedPage(after: attempt, isForOperators: true)
            pages.append(("session of operators ended, \(attempt)", operators))
        }
        for kind in ErrorPage.Kind.allCases {
            pages.append(("error \(kind.rawValue)", ErrorPage(kind, requestId: "4f9a11bc", retryAfter: 30)))
        }
        return pages.map { PageSample(name: $0.0, page: $0.1, visitor: .signedOut) }
    }

    static var home: [PageSample] {
        let keys = [
            Sample.key(1, .current, days: (-700, 40)), Sample.key(2, .pending, days: nil),
            Sample.key(3, .pending, days: nil), Sample.key(4, .retiring, days: (-1500, -740)),
        ]
        var samples: [PageSample] = []
        for step in OnboardingProgress.StepName.allCases {
            for party in RollParty.allCases where party != .none {
                let page = MerchantHomePage(
                    merchant: Sample.merchant(), steps: Sample.steps(next: step, waitingFor: party),
                    focus: Sample.hash(2), keys: keys, liveTag: "\"1\"")
                samples.append(PageSample(name: "home \(step) \(party)", page: page, visitor: merchant))
            }
        }
        let outcomes: [PageOutcome] =
            MerchantNotice.allCases.map { .success($0) }
            + MerchantProblem.allCases.map { .problem($0, requestId: "4f9a11bc") }
            + UploadProblem.Kind.allCases.map { .uploadRefused(UploadProblem($0, requestId: "4f9a11bc")) }
        for outcome in outcomes {
            let page = MerchantHomePage(
                merchant: Sample.merchant(name: nil), steps: Sample.steps(next: .appleCertificate),
                focus: Sample.hash(2), keys: keys, outcome: outcome)
            samples.append(PageSample(name: "home \(outcome)", page: page, visitor: merchant))
        }
        // Nothing waits for a certificate, and a file is uploaded nevertheless.
        let done = [Sample.key(1, .current, days: (-1, 750), algorithm: .rsaV1)]
        let outcomesWhenDone: [PageOutcome?] = [nil, .uploadRefused(UploadProblem(.unknownKey))]
        for outcome in outcomesWhenDone {
            let page = MerchantHomePage(
                merchant: Sample.merchant(), steps: Sample.steps(next: nil), focus: Sample.hash(1), keys: done,
                outcome: outcome)
            samples.append(PageSample(name: "home done", page: page, visitor: merchant))
        }
        for (name, keys) in [("home reserve pending", reserve(.pending)), ("home reserve ready", reserve(.standby))] {
            let page = MerchantHomePage(
                merchant: Sample.merchant(), steps: Sample.steps(next: nil), focus: Sample.hash(1), keys: keys)
            samples.append(PageSample(name: name, page: page, visitor: merchant))
        }
        for (days, name) in [(5, "home ending"), (-3, "home ended"), (0, "home ending today")] {
            let page = MerchantHomePage(
                merchant: Sample.merchant(), steps: Sample.steps(next: .keyPair), focus: nil,
                keys: [Sample.key(1, .current, days: (-700, days))])
            samples.append(PageSample(name: name, page: page, visitor: merchant))
        }
        return samples
    }

    /// A current key pair, and one for the next roll.
    private static func reserve(_ state: KeyState) -> [PageKey] {
        [
            Sample.key(1, .current, days: (-10, 750)),
            Sample.key(2, state, days: state == .pending ? nil : (-1, 759)),
        ]
    }

    static var merchantPages: [PageSample] {
        let states: [KeyState] = KeyState.allCases
        let keys = states.enumerated().map { index, state in
            Sample.key(index, state, days: state == .pending ? nil : (-700 + index, 60 * index))
        }
        let pages: [(String, any HTMLPage)] = [
            ("keys", MerchantKeysPage(merchant: Sample.merchant(), keys: keys, hasOpenRoll: false)),
            (
                "keys with roll",
                MerchantKeysPage(
                    merchant: Sample.merchant(), keys: keys, hasOpenRoll: true,
                    outcome: .problem(.rollConflict, requestId: nil))
            ),
            ("roll", RollConfirmationPage(.generates)), ("roll open", RollConfirmationPage(.open)),
            ("roll pending", RollConfirmationPage(.pending(Sample.hash(2)))),
            ("roll certified", RollConfirmationPage(.certified(Sample.hash(2)))),
            ("unregister", UnregistrationPage("shop.example.com", of: Sample.partner("shop-1"))),
        ]
        return pages.map { PageSample(name: $0.0, page: $0.1, visitor: merchant) }
    }

    static var domains: [PageSample] {
        let findings: [DomainCheckFinding] = [
            .passed, .nameNotResolved("NXDOMAIN"), .addressRefused(address: "10.0.0.1", kind: "private"),
            .connectionRefused("203.0.113.7"), .connectionFailed("reset"), .timedOut(seconds: 5),
            .certificateExpired("CN=x"), .certificateNotYetValid("CN=x"), .certificateUntrusted("CN=x"),
            .certificateForOtherName("CN=x"), .tlsFailed("alert"),
            .redirected(status: 301, location: "https://www.example.com/"), .wrongStatus(404), .tooLarge(limit: 65_536),
            .wrongContent(
                .init(foundSize: 1, foundDigest: "00", expectedSize: 2, expectedDigest: "01", hint: "a web page")),
            .protocolViolation("no status line"),
        ]
        let registrations = [
            Sample.registration(
                name: "Shop",
                domains: PageDomain.State.allCases.map { PageDomain(name: "\($0).example.com", state: $0) })
        ]
        var pages: [(String, any HTMLPage)] = findings.map { finding -> (String, any HTMLPage) in
            (
                "domains \(finding.code)",
                DomainsPage(
                    merchant: Sample.merchant(), hasFile: true, registrations: registrations,
                    input: .init(domain: "shop.example.com"), check: Sample.report(finding))
            )
        }
        // The first registration uses the key of another identifier. The warning of the second one says that there
        // is no active key pair.
        let otherRegistrations = [
            Sample.registration(
                name: "Shop", domains: [PageDomain(name: "a.example.com", state: .registered)],
                encryptTo: Sample.identifier("platformintegrator.com.example")),
            Sample.registration(
                name: "Shop", domains: [PageDomain(name: "b.example.com", state: .registered)],
                warnings: ["no active key pair"]),
        ]
        pages.append(
            (
                "domains refused",
                DomainsPage(
                    merchant: Sample.merchant(), hasFile: true, registrations: otherRegistrations,
                    input: .init(domain: "shop.example.com"), check: Sample.report(.wrongStatus(404)),
                    hasRefusedRegistration: true)
            ))
        let none: [PageRegistration] = []
        for problem in MerchantProblem.allCases {
            let page = DomainsPage(
                merchant: Sample.merchant(name: nil), hasFile: false, registrations: none,
                input: .init(domain: "https://shop", name: "x"), outcome: .problem(problem, requestId: "4f9a11bc"))
            pages.append(("domains \(problem)", page))
        }
        return pages.map { PageSample(name: $0.0, page: $0.1, visitor: merchant) }
    }
}
