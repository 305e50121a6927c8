import DaemonKit
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// Whether a daemon may start, as a table: what was observed, and what follows.
@Suite struct StartDecisionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        enum Outcome: Sendable {
            case opens
            case warns([StartFinding.Code])
            /// The daemon starts and audits the loss.
            case opensWithLoss(StartFinding.Code)
            /// The daemon starts only with `--accept-older-database`, and then audits the losses.
            case refusesUnlessAccepted([StartFinding.Code])
            case refuses(StartFinding.Code)
        }

        let testDescription: String
        let outcome: Outcome
        let observation: StartObservation

        init(_ name: String, _ outcome: Outcome, _ change: (inout StartObservation) -> Void = { _ in }) {
            testDescription = name
            self.outcome = outcome
            var observation = Observations.afterCleanShutdown
            change(&observation)
            self.observation = observation
        }
    }

    @Test(arguments: Rows.all)
    func `each observation has its decision, without and with --accept-older-database`(row: Row) {
        let plain = Codes(StartDecision(on: row.observation, acceptsOlderDatabase: false))
        let accepted = Codes(StartDecision(on: row.observation, acceptsOlderDatabase: true))
        switch row.outcome {
        case .opens:
            #expect(plain == Codes() && accepted == Codes())
        case .warns(let codes):
            #expect(plain == Codes(warnings: codes) && accepted == plain)
        case .opensWithLoss(let code):
            #expect(plain == Codes(losses: [code]) && accepted == plain)
        case .refusesUnlessAccepted(let codes):
            #expect(plain == Codes(refused: codes) && accepted == Codes(losses: codes))
        case .refuses(let code):
            #expect(plain == Codes(refused: [code]) && accepted == plain)
        }
    }

    @Test func `every code of a finding occurs in some row`() {
        let rows = Rows.all
        let decided = Set(rows.flatMap { $0.observation.findings.map(\.code) })
        #expect(Set(StartFinding.Code.allCases).subtracting(decided) == [])
    }

    @Test(arguments: Rows.all)
    func `a finding says what is wrong and what to do`(row: Row) {
        for finding in row.observation.findings {
            #expect(!finding.what.isEmpty && !finding.remedy.isEmpty)
            #expect(finding.message == "\(finding.problem); \(finding.remedy)")
            if finding.code != .acceptedLossNotInAudit { #expect(!finding.why.isEmpty) }
        }
    }

    @Test func `only a refusal that a flag can lift names the flag`() throws {
        for row in Rows.databaseAndLog {
            guard case .refuse(let findings) = StartDecision(on: row.observation, acceptsOlderDatabase: false) else {
                continue
            }
            let namesFlag = StartRefusal(findings: findings).description.contains("or start once with")
            if case .refusesUnlessAccepted = row.outcome { #expect(namesFlag) } else { #expect(!namesFlag) }
        }
    }

    /// The codes of a decision.
    fileprivate struct Codes: Equatable {
        var refused: [StartFinding.Code] = []
        var losses: [StartFinding.Code] = []
        var warnings: [StartFinding.Code] = []
    }
}

extension StartDecisionTests.Codes {
    init(_ decision: StartDecision) {
        switch decision {
        case .refuse(let findings): refused = findings.map(\.code)
        case .open(let losses, let warnings):
            self.losses = losses.map(\.code)
            self.warnings = warnings.map(\.code)
        }
    }
}

/// What is observed in common situations, for tests to change.
enum Observations {
    static let head = AuditHead(sequence: 12, hash: [UInt8](repeating: 7, count: 32))
    static let base = AuditHead(sequence: 9, hash: [UInt8](repeating: 8, count: 32))
    static let shippedAt = Timestamp(rfc3339: "2026-11-22T10:15:00Z") ?? Timestamp(millisecondsSince1970: 0)
    static let shippedFile = "/elsewhere/heads"
    static let file = StartObservation.File(inode: 42, size: 4096)
    static let empty = StartObservation.File(inode: 42, size: 0)
    // swift-format-ignore: NeverForceUnwrap
    static let claim = ClaimMark("17:" + String(repeating: "ab", count: 32))!

    private static let nothing = StartObservation(
        databasePath: "/state/merchantkeyd.sqlite", lockPath: "/state/merchantkeyd.lock",
        claimsPath: "/state/claims.sqlite", masterKey: .file(path: "/state/master.key", exists: true))

    static var firstStart: StartObservation {
        var observation = nothing
        observation.masterKey = .file(path: "/state/master.key", exists: false)
        observation.bootIdentifier = "boot-1"
        return observation
    }

    static var afterCleanShutdown: StartObservation {
        var observation = nothing
        observation.bootIdentifier = "boot-1"
        observation.database = file
        observation.claims = file
        observation.lockFile = LockFileContent(wasClosedWithoutLog: true)
        observation.lockFile.head = LockFileContent.Head(head, onBoot: "boot-1").asWrittenAtShutdown
        return observation
    }

    /// The log holds the last record and was started at ``base``, which the database file holds.
    static var afterKill: StartObservation {
        var observation = afterCleanShutdown
        observation.log = file
        observation.hasSharedMemory = true
        observation.claimsLog = file
        observation.logGeneration = "generation-1"
        observation.lockFile = LockFileContent(expectsLog: true)
        observation.lockFile.expectsClaimsLog = true
        observation.lockFile.head = LockFileContent.Head(head, onBoot: "boot-1")
        observation.lockFile.log = LockFileContent.Log<AuditHead>(generation: "generation-1", lastWhenStarted: base)
        observation.auditAnswer = false
        return observation
    }

    /// `sqlite3` opened the database after the kill, copied the log into it and removed the log.
    static var afterCheckpointElsewhere: StartObservation {
        var observation = afterKill
        observation.log = nil
        observation.logGeneration = nil
        observation.hasSharedMemory = false
        observation.auditAnswer = true
        return observation
    }
}
