import Foundation
import MerchantTestSupport
import SandboxKit
import Testing

/// Apple's record and the daemon's record while the gateway has every kind of fault and the daemon is killed.
///
/// `MERCHANTKEYD_REGISTRATION_REQUESTS` sets the number of requests. The test then also waits until the outcome of
/// every call is known, which takes about two minutes. Otherwise it sends few requests and skips merchants with a call
/// of unknown outcome.
@Suite struct RegistrationFaultTests {
    static let requestedCount = ProcessInfo.processInfo.environment["MERCHANTKEYD_REGISTRATION_REQUESTS"].flatMap(
        Int.init)
    static let requests = requestedCount ?? 80
    static let workers = 8

    /// Each kind of fault in a few percent of the calls, so that the daemon does not stop calling Apple.
    static let faults = GatewayFault.Kind.allCases.map { kind in
        GatewayFault(kind, probability: kind == .status429 || kind == .hang ? 0.02 : 0.03).text
    }

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    private func setFaults(_ faults: [String]) throws {
        let body = try JSONSerialization.data(withJSONObject: ["faults": faults])
        _ = try installation.control("/faults", "-X", "PUT", "-d", String(decoding: body, as: UTF8.self))
    }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func
        `after faults and kills, Apple has all acknowledged and no unrequested domains, and sync reports differences`()
        throws
    {
        let server = try AppleServer.sandbox.start(for: installation)
        let settings = try installation.gatewaySettings(
            server.announced, further: ["    timeouts:", "      answer: 1s"])
        try installation.start(config: settings)
        #expect(try installation.ctl("merchant", "add", Installation.integrator).status == 0)
        _ = try installation.certifiedKey(Installation.integrator, "identity", "--purpose", "identity")
        try setFaults(Self.faults)

        let workers = startWorkers()
        var kills = 0
        while !workers.threads.allSatisfy(\.hasEnded) {
            Installation.waitRandomly(upTo: 2, atLeast: 0.3)
            installation.stop(SIGKILL)
            kills += 1
            try installation.start(config: settings)
        }
        var ledger = RegistrationLedger()
        for worker in workers.workers {
            #expect(worker.unexpected == [])
            ledger.merge(worker.ledger)
        }
        let faults = try #require(try installation.control("/statistics")["faults"] as? [String: Int])
        print("registrations with faults: \(ledger.counts), \(kills) kills, faults \(faults)")
        #expect(ledger.counts.values.reduce(0, +) == Self.requests)
        #expect(ledger.counts["acknowledged", default: 0] > Self.requests / 20)
        #expect(!faults.isEmpty && kills > 0)
        if Self.requests >= 1000 {
            #expect(Set(faults.keys) == Set(GatewayFault.Kind.allCases.map(\.rawValue)))
            #expect(kills > 5)
            // Among few requests there may be none whose response is lost.
            #expect(ledger.counts["unknown", default: 0] > 0)
        }

        try setFaults([])
        // After the last kill the daemon resolves open calls from its stored state.
        installation.stop(SIGKILL)
        try installation.start(config: settings)
        if Self.requestedCount != nil {
            try installation.eventually("the outcome of every call is known", within: .seconds(180)) {
                try installation.ctlJSON("status")["registrationCallsOpen"] as? Int == 0
            }
        }
        try expectConsistency(with: ledger)
    }

    private func startWorkers() -> (workers: [RegistrationWorker], threads: [BackgroundThread]) {
        let remaining = Guarded(Self.requests)
        let workers = (0..<Self.workers).map { number in
            RegistrationWorker("shop\(number)", socket: installation.adminSocket) {
                remaining.update { remaining in
                    guard remaining > 0 else { return false }
                    remaining -= 1
                    return true
                }
            }
        }
        return (workers, workers.map { worker in BackgroundThread { worker.work() } })
    }

    /// Compares Apple's record with the requests and their responses, and the report of sync with Apple's record.
    private func expectConsistency(with ledger: RegistrationLedger) throws {
        let registered = try installation.registeredAtApple()
        #expect(ledger.violations(in: registered) == [])

        let outcome = try installation.ctl("--output", "json", "registration", "sync")
        let report = try outcome.json()
        let findings = try #require(report["findings"] as? [[String: Any]])
        var drifts: [String: Set<String>] = [:]
        var open: Set<String> = []
        for finding in findings {
            let partner = finding["partnerInternalMerchantIdentifier"] as? String ?? ""
            if let failure = finding["failure"] as? [String: Any] {
                #expect(failure["code"] as? String == "registrationConflict", "\(finding)")
                open.insert(partner)
            }
            drifts[partner] = Set(
                (finding["drift"] as? [[String: Any]] ?? []).map {
                    "\($0["kind"] ?? "") \($0["found"] as? String ?? $0["expected"] as? String ?? "")"
                })
        }
        if Self.requestedCount != nil { #expect(open.isEmpty, "\(open)") }
        #expect(outcome.status == (open.isEmpty ? 0 : 1), "\(outcome.error)")
        #expect(try installation.registeredAtApple() == registered, "expected no change by a sync without --repair")

        let wanted = try recorded()
        for partner in Set(registered.keys).union(wanted.keys).subtracting(open) {
            let (has, wants) = (registered[partner] ?? [], wanted[partner] ?? [])
            let expected: Set<String> =
                has.isEmpty && !wants.isEmpty
                ? ["gone"]
                : Set(
                    wants.subtracting(has).map { "missingDomain \($0)" }
                        + has.subtracting(wants).map { "extraDomain \($0)" })
            let found = Set((drifts[partner] ?? []).map { $0.hasPrefix("gone") ? "gone" : $0 })
            #expect(found == expected, "\(partner)")
        }
        #expect(ledger.violations(in: wanted) == [], "expected only requested domains in the daemon's record")
        let status = try installation.ctlJSON("status")
        #expect(status["registrationCallsOpen"] as? Int == open.count)
        print(
            "registrations with faults: \(registered.count) merchants at Apple, \(open.count) calls of unknown outcome")
    }

    /// The domains of each merchant in the daemon's record.
    private func recorded() throws -> [String: Set<String>] {
        let items = try #require(try installation.ctlJSON("registration", "list")["items"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: items.map {
                ($0["partnerInternalMerchantIdentifier"] as? String ?? "", Set($0["domainNames"] as? [String] ?? []))
            })
    }
}
