import DaemonKit
import MerchantCore
import SQLiteStore
import Testing

/// Before a start, the daemon may have to find one audit record in the database: the question. These tests check which
/// record this is, given what the daemon has observed in the state directory.
@Suite struct StartObservationTests {
    private let head = Observations.head

    @Test func `after a clean shutdown without a log, and at the first start, there is no question`() {
        #expect(Observations.afterCleanShutdown.auditQuestion == nil)
        #expect(Observations.firstStart.auditQuestion == nil)
    }

    @Test func `if a log remains, the question is about the last record before the log was started`() {
        #expect(Observations.afterKill.auditQuestion == .isMissingFromIntactFile(Observations.base))
    }

    @Test func `if the remaining log was restarted, the question is about the last record in the lock file`() {
        var observation = Observations.afterKill
        observation.logGeneration = "generation-2"
        #expect(observation.auditQuestion == .isMissingFromIntactFile(head))
    }

    @Test func `if the lock file does not name the log, or no record before it, there is no question`() {
        var observation = Observations.afterKill
        observation.lockFile.log = nil
        #expect(observation.auditQuestion == nil)
        observation.lockFile.log = LockFileContent.Log<AuditHead>(generation: "generation-1", lastWhenStarted: nil)
        #expect(observation.auditQuestion == nil)
    }

    @Test func `a log that is missing, empty or another program's raises a question of its own`() {
        #expect(Observations.afterCheckpointElsewhere.auditQuestion == .isInIntactDatabase(head))
        var emptied = Observations.afterKill
        emptied.log = Observations.empty
        #expect(emptied.auditQuestion == .isMissingFromFile(head))
        var elsewhere = Observations.afterCleanShutdown
        (elsewhere.log, elsewhere.isDatabaseInUse) = (Observations.file, true)
        #expect(elsewhere.auditQuestion == .isInIntactDatabase(head))
    }

    @Test func `if another finding already decides the start, there is no question`() {
        var observation = Observations.afterCheckpointElsewhere
        observation.hasSharedMemory = true
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterCheckpointElsewhere
        observation.lockFile.lossesNotInAudit = ["the write-ahead log is missing"]
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterKill
        observation.lockFile.inodeIfReplaced = 41
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterKill
        observation.isRestoreUnfinished = true
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterCleanShutdown
        observation.log = Observations.file
        #expect(observation.auditQuestion == nil)
    }
}

/// The content of the lock file that one daemon leaves for the next.
@Suite struct LockFileContentTests {
    private let head = Observations.head

    private static func read(_ content: LockFileContent) -> LockFileContent {
        LockFileContent(content.lines.map { Substring($0) })
    }

    @Test func `the content is read as it was written`() {
        var content = LockFileContent(expectsLog: true)
        content.inodeIfReplaced = 42
        content.head = LockFileContent.Head(head, onBoot: "boot-1")
        content.log = LockFileContent.Log<AuditHead>(generation: "generation-1", lastWhenStarted: Observations.base)
        content.lossesNotInAudit = ["the write-ahead log is missing", "the shipped head is missing"]
        content.masterKeySource = "systemd credential master-key"
        content.listeners = ["/run/merchantkeyd/admin.sock", "127.0.0.1:9464"]
        #expect(Self.read(content) == content)
        content.head = content.head?.asWrittenAtShutdown
        content.log = LockFileContent.Log<AuditHead>(generation: "generation-1", lastWhenStarted: nil)
        #expect(Self.read(content) == content)
        content.head = LockFileContent.Head(head, onBoot: "")
        #expect(Self.read(content) == content)
        content.expectsClaimsLog = true
        content.newestClaim = Observations.claim
        content.claimsLog = LockFileContent.Log(generation: "generation-1", lastWhenStarted: Observations.claim)
        #expect(Self.read(content) == content)
        #expect(Self.read(LockFileContent(wasClosedWithoutLog: true)) == LockFileContent(wasClosedWithoutLog: true))
        #expect(Self.read(LockFileContent()) == LockFileContent())
    }

    @Test func `lines after the end and unknown lines are ignored`() {
        let lines = LockFileContent(wasClosedWithoutLog: true).lines.map { Substring($0) }
        #expect(
            LockFileContent(["unknown"] + lines + ["open", "lost everything"])
                == LockFileContent(wasClosedWithoutLog: true))
    }

    @Test func `a loss of several lines stays one loss`() {
        var content = LockFileContent()
        content.lossesNotInAudit = ["two\nlines"]
        #expect(Self.read(content).lossesNotInAudit == ["two lines"])
    }

    @Test func `a master key source of several lines adds no entry`() {
        var content = LockFileContent()
        content.masterKeySource = "file /a\nopen"
        #expect(!Self.read(content).expectsLog)
        #expect(Self.read(content).masterKeySource == "file /a open")
    }

    @Test func `no later change is possible after the head of a shutdown, or after a head of this boot`() {
        #expect(LockFileContent.Head(head, onBoot: "boot-1").whyLaterChangesArePossible(onBoot: "boot-1") == nil)
        let written = LockFileContent.Head(head, onBoot: "boot-1").asWrittenAtShutdown
        #expect(written.whyLaterChangesArePossible(onBoot: "boot-2") == nil)
        #expect(LockFileContent.Head(head, onBoot: "boot-1").whyLaterChangesArePossible(onBoot: "boot-2") != nil)
        #expect(LockFileContent.Head(head, onBoot: "boot-1").whyLaterChangesArePossible(onBoot: "") != nil)
        #expect(LockFileContent.Head(head, onBoot: "").whyLaterChangesArePossible(onBoot: "") != nil)
    }

    @Test func `a log's base is the last record that was written before SQLite restarted the log`() {
        var content = LockFileContent()
        content.advance(to: Observations.base, inLog: "generation-1")
        #expect(content.log == LockFileContent.Log<AuditHead>(generation: "generation-1", lastWhenStarted: nil))
        content.advance(to: head, inLog: "generation-2")
        #expect(
            content.log
                == LockFileContent.Log<AuditHead>(generation: "generation-2", lastWhenStarted: Observations.base))
        content.advance(to: head, inLog: "generation-2")
        #expect(content.log?.lastWhenStarted == Observations.base)
        content.advance(to: head, inLog: "")
        #expect(content.log == nil)
    }
}
