import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// `kill -9` under load: whatever was acknowledged is there after the restart.
///
/// `scripts/crash-test` runs a thousand rounds of it.
@Suite(.tags(.slow), .skippedInQuickRuns) struct CrashTests {
    static let rounds = ProcessInfo.processInfo.environment["MERCHANTKEYD_CRASH_ROUNDS"].flatMap(Int.init) ?? 50
    static let clients = 6

    @Test func `nothing acknowledged is lost to a kill, and every rule holds after it`() throws {
        let installation = try Installation()
        let authority = try SandboxAuthority(createdAt: Timestamp(Date()))
        try installation.start()
        var acknowledged = 0
        for round in 1...Self.rounds {
            let ledgers = (0..<Self.clients).map {
                Ledger(
                    socket: installation.adminSocket, prefix: "merchant.com.crash.r\(round).c\($0)",
                    authority: authority)
            }
            let threads = ledgers.map { ledger in Running { ledger.work() } }
            // Somewhere in the middle of their work: there is no clock of ours to move.
            Thread.sleep(forTimeInterval: Double.random(in: 0.01...0.3))
            installation.stop(SIGKILL)
            for thread in threads { thread.join() }
            // Now and then somebody looks at the database first: the log is in it when they are done.
            if round % 5 == 0 { #expect(try installation.sql("PRAGMA integrity_check") == "ok", "round \(round)") }
            try installation.start()
            let client = try LoadClient(installation.adminSocket)
            for ledger in ledgers {
                let missing = try ledger.missing(by: client)
                #expect(missing.isEmpty, "round \(round): \(missing)")
                acknowledged += ledger.acknowledged
            }
            var cursor = ""
            repeat {
                let (status, audit) = try client.object("GET", "/v1/audit/verification\(cursor)")
                #expect(status == 200 && audit["breakCount"] as? Int == 0, "round \(round): \(audit)")
                cursor = (audit["nextCursor"] as? String).map { "?cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
        }
        #expect(acknowledged > 20 * Self.rounds)
        let audit = try #require(try installation.ctlJSON("status")["auditRecords"] as? Int)
        #expect(audit >= acknowledged)
        // Everything that was ever made can be opened, and the database is sound.
        let verification = try installation.ctl("backup", "create", installation.path("after.backup"))
        #expect(verification.status == 0, "\(verification.output) \(verification.error)")
        print("crash test: \(Self.rounds) rounds, \(acknowledged) acknowledged changes, none lost")
    }
}

/// Work on a thread of its own.
final class Running: Sendable {
    private let finished = Guarded(false)

    init(_ work: @escaping @Sendable () -> Void) {
        let finished = finished
        Thread.detachNewThread {
            work()
            finished.value = true
        }
    }

    var isOver: Bool { finished.value }

    func join() { while !finished.value { Thread.sleep(forTimeInterval: 0.002) } }
}
