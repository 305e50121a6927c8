import DaemonKit
import MerchantCore
import Testing

/// Which question about the audit an observation leads to: to answer one, the whole database is read.
@Suite struct StartObservationTests {
    private let head = Observations.head

    @Test func `after a clean shutdown the database is not read`() {
        #expect(Observations.afterCleanShutdown.auditQuestion == nil)
        #expect(Observations.firstStart.auditQuestion == nil)
    }

    @Test func `beneath a log the file holds what it held when the log was started`() {
        #expect(Observations.afterKill.auditQuestion == .intactFileLacks(Observations.base))
    }

    @Test func `beneath a log that was restarted the file holds the last record`() {
        var observation = Observations.afterKill
        observation.logGeneration = "generation-2"
        #expect(observation.auditQuestion == .intactFileLacks(head))
    }

    @Test func `a log that the lock file does not name raises no question`() {
        var observation = Observations.afterKill
        observation.marks.log = nil
        #expect(observation.auditQuestion == nil)
        observation.marks.log = LockMarks.Log(generation: "generation-1", base: nil)
        #expect(observation.auditQuestion == nil)
    }

    @Test func `a log that is missing, empty or another program's raises a question of its own`() {
        #expect(Observations.afterCheckpointElsewhere.auditQuestion == .intactDatabaseHolds(head))
        var emptied = Observations.afterKill
        emptied.log = Observations.empty
        #expect(emptied.auditQuestion == .fileLacks(head))
        var elsewhere = Observations.afterCleanShutdown
        (elsewhere.log, elsewhere.isDatabaseInUse) = (Observations.file, true)
        #expect(elsewhere.auditQuestion == .intactDatabaseHolds(head))
    }

    @Test func `what is decided without an answer raises no question`() {
        var observation = Observations.afterCheckpointElsewhere
        observation.hasSharedMemory = true
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterCheckpointElsewhere
        observation.marks.unrecordedLosses = ["the write-ahead log is missing"]
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterKill
        observation.marks.replacedInode = 41
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterKill
        observation.isRestoreUnfinished = true
        #expect(observation.auditQuestion == nil)
        observation = Observations.afterCleanShutdown
        observation.log = Observations.file
        #expect(observation.auditQuestion == nil)
    }
}

/// The marks that one daemon leaves for the next.
@Suite struct LockMarksTests {
    private let head = Observations.head

    private static func read(_ marks: LockMarks) -> LockMarks {
        LockMarks(marks.lines.map { Substring($0) })
    }

    @Test func `marks are read as they were written`() {
        var marks = LockMarks(isOpen: true)
        marks.replacedInode = 42
        marks.head = LockMarks.Head(head, onBoot: "boot-1")
        marks.log = LockMarks.Log(generation: "generation-1", base: Observations.base)
        marks.unrecordedLosses = ["the write-ahead log is missing", "the shipped head is missing"]
        #expect(Self.read(marks) == marks)
        marks.head = marks.head?.asWrittenAtShutdown
        marks.log = LockMarks.Log(generation: "generation-1", base: nil)
        #expect(Self.read(marks) == marks)
        marks.head = LockMarks.Head(head, onBoot: "")
        #expect(Self.read(marks) == marks)
        #expect(Self.read(LockMarks(isClosed: true)) == LockMarks(isClosed: true))
        #expect(Self.read(LockMarks()) == LockMarks())
    }

    @Test func `lines after the end and unknown lines are ignored`() {
        let lines = LockMarks(isClosed: true).lines.map { Substring($0) }
        #expect(LockMarks(["unknown"] + lines + ["open", "lost everything"]) == LockMarks(isClosed: true))
    }

    @Test func `a loss of several lines stays one loss`() {
        var marks = LockMarks()
        marks.unrecordedLosses = ["two\nlines"]
        #expect(Self.read(marks).unrecordedLosses == ["two lines"])
    }

    @Test func `nothing can follow the head of a shutdown, or one of this boot`() {
        #expect(LockMarks.Head(head, onBoot: "boot-1").reasonForLaterChanges(onBoot: "boot-1") == nil)
        let written = LockMarks.Head(head, onBoot: "boot-1").asWrittenAtShutdown
        #expect(written.reasonForLaterChanges(onBoot: "boot-2") == nil)
        #expect(LockMarks.Head(head, onBoot: "boot-1").reasonForLaterChanges(onBoot: "boot-2") != nil)
        #expect(LockMarks.Head(head, onBoot: "boot-1").reasonForLaterChanges(onBoot: "") != nil)
        #expect(LockMarks.Head(head, onBoot: "").reasonForLaterChanges(onBoot: "") != nil)
    }

    @Test func `a log's base is the last record before SQLite restarted it`() {
        var marks = LockMarks()
        marks.advance(to: Observations.base, inLog: "generation-1")
        #expect(marks.log == LockMarks.Log(generation: "generation-1", base: nil))
        marks.advance(to: head, inLog: "generation-2")
        #expect(marks.log == LockMarks.Log(generation: "generation-2", base: Observations.base))
        marks.advance(to: head, inLog: "generation-2")
        #expect(marks.log?.base == Observations.base)
        marks.advance(to: head, inLog: "")
        #expect(marks.log == nil)
    }
}
