import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// After `kill -9` under load, every acknowledged change is present.
///
/// `scripts/crash-test` runs a thousand rounds of this test.
@Suite(.onlyOnSQLite, .tags(.slow), .skippedInQuickRuns) struct CrashTests {
    static let rounds = ProcessInfo.processInfo.environment["MERCHANTKEYD_CRASH_ROUNDS"].flatMap(Int.init) ?? 50
    static let clients = 6

    @Test func `a kill loses no acknowledged change and breaks no invariant`() throws {
        let installation = try Installation()
        let authority = try SandboxAuthority(createdAt: Timestamp(Date()))
        try installation.start()
        var acknowledged = 0
        for round in 1...Self.rounds {
            let workers = (0..<Self.clients).map {
                OnboardingWorker(
                    socket: installation.adminSocket, prefix: "merchant.com.crash.r\(round).c\($0)",
                    authority: authority)
            }
            let threads = workers.map { worker in BackgroundThread { worker.work() } }
            Installation.waitRandomly(upTo: 0.3, atLeast: 0.01)
            installation.stop(SIGKILL)
            for thread in threads { thread.join() }
            // In some rounds another program opens the database first, which checkpoints its write-ahead log.
            if round % 5 == 0 { #expect(try installation.sql("PRAGMA integrity_check") == "ok", "round \(round)") }
            try installation.start()
            let client = try LoadClient(installation.adminSocket)
            for worker in workers {
                let differences = try worker.missing(by: client)
                #expect(differences.isEmpty, "round \(round): \(differences)")
                acknowledged += worker.acknowledged
            }
            var cursor = ""
            repeat {
                let (status, audit) = try client.object("GET", "/v1/audit/verification\(cursor)")
                #expect(status == 200 && audit["breakCount"] as? Int == 0, "round \(round): \(audit)")
                cursor = (audit["nextCursor"] as? String).map { "?cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
        }
        #expect(acknowledged > 20 * Self.rounds)
        let auditRecords = try #require(try installation.ctlJSON("status")["auditRecords"] as? Int)
        #expect(auditRecords >= acknowledged)
        // The backup's verification unseals every private key and checks the database.
        let verification = try installation.ctl("backup", "create", installation.path("after.backup"))
        #expect(verification.status == 0, "\(verification.output) \(verification.error)")
        print("crash test: \(Self.rounds) rounds, \(acknowledged) acknowledged changes, none lost")
    }
}
