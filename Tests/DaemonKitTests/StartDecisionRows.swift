import DaemonKit
import MerchantCore
import Vocabulary

/// The rows of ``StartDecisionTests``.
enum Rows {
    typealias Row = StartDecisionTests.Row

    /// One or more rows for each row of the table of storage failures in the documentation. A failure on which the
    /// decision does not depend has the outcome `opens`; the tests of the store check what happens then.
    static let storage: [Row] = [
        Row("storage: the disk was full when the last daemon was killed", .opens) { $0 = Observations.afterKill },
        Row("storage: a write failed, and the daemon was shut down cleanly", .opens),
        Row(
            "storage: the database was moved away with its log while in use", .refusesUnlessAccepted([.databaseMissing])
        ) {
            $0 = Observations.afterKill
            $0.lockFile.inodeIfReplaced = 42
            ($0.database, $0.log) = (nil, nil)
        },
        Row("storage: the database was moved away with its log while in use, and both are back", .opens) {
            $0 = Observations.afterKill
            $0.lockFile.inodeIfReplaced = 42
        },
        Row("storage: the log was removed while in use", .refusesUnlessAccepted([.logMissing])) {
            $0 = Observations.afterKill
            ($0.log, $0.auditAnswer) = (nil, nil)
        },
        Row("storage: the master key was moved away while in use", .refuses(.masterKeyMissing)) {
            $0.masterKey = .file(path: "/state/master.key", exists: false)
        },
        Row("storage: the lock file was moved away, so nothing is known of the last daemon", .opens) {
            $0.lockFile = LockFileContent()
        },
        Row("storage: the disk of the head file hung, so the last head was not shipped", .opens) {
            $0.auditComparison = .init(
                headInDatabase: Observations.head,
                shippedHead: .found(
                    file: Observations.shippedFile, head: Observations.base, at: Observations.shippedAt, difference: nil
                ))
        },
        Row("storage: a damaged page or an altered row, which the open database shows", .opens) {
            $0.auditComparison = .init(headInDatabase: Observations.head)
        },
        Row(
            "storage: an older copy was put back, with a shipped head",
            .refusesUnlessAccepted([.databaseOlderThanShippedHead])
        ) {
            $0.auditComparison = Rows.olderThanShipped
        },
        Row(
            "storage: an older copy was put back, without a shipped head",
            .opensWithLoss(.databaseOlderThanHeadInLockFile)
        ) {
            $0.auditComparison = .init(
                headInDatabase: Observations.base, differenceFromLockFile: "record 12 is missing")
        },
        Row("storage: the log is missing after a kill", .refusesUnlessAccepted([.logMissing])) {
            $0 = Observations.afterCheckpointElsewhere
            $0.auditAnswer = false
        },
        Row("storage: another program checkpointed the log after a kill", .opens) {
            $0 = Observations.afterCheckpointElsewhere
        },
        Row(
            "storage: the log was checkpointed elsewhere, and the machine restarted",
            .refusesUnlessAccepted([.logMissing])
        ) {
            $0 = Observations.afterCheckpointElsewhere
            $0.bootIdentifier = "boot-2"
        },
        Row("storage: an old log is back after a clean shutdown", .refuses(.logFromEarlierTime)) {
            $0.log = Observations.file
        },
        Row("storage: the database is missing", .refusesUnlessAccepted([.databaseMissing])) { $0.database = nil },
        Row(
            "storage: the database and the claims are missing, and the lock file names the last audit record",
            .refusesUnlessAccepted([.databaseMissing])
        ) { ($0.database, $0.claims) = (nil, nil) },
        Row(
            "storage: the state directory is empty, and a head was shipped",
            .refusesUnlessAccepted([.databaseOlderThanShippedHead])
        ) {
            $0 = Observations.firstStart
            $0.auditComparison = Rows.olderThanShipped
            $0.auditComparison?.headInDatabase = nil
        },
        Row(
            "storage: an interrupted first start left the database, and the lock file is of an earlier database",
            .refusesUnlessAccepted([.databaseMissing])
        ) { $0.auditComparison = .init(differenceFromLockFile: "record 12 is missing") },
        Row("storage: the database is empty", .refusesUnlessAccepted([.databaseMissing])) {
            $0.database = Observations.empty
        },
        Row("storage: another master key", .refuses(.masterKeyRejected)) {
            $0.masterKey = .rejected("found master key b, expected a")
        },
    ]

    static let databaseAndLog: [Row] = [
        Row("the first start", .opens) { $0 = Observations.firstStart },
        Row("a clean shutdown", .opens),
        Row("a kill", .opens) { $0 = Observations.afterKill },
        Row("a kill, and the log was restarted since the lock file named it", .opens) {
            $0 = Observations.afterKill
            $0.logGeneration = "generation-2"
        },
        Row("a shutdown that another program's connection kept from removing the log", .opens) {
            $0 = Observations.afterKill
            $0.lockFile.head = $0.lockFile.head?.asWrittenAtShutdown
        },
        Row("a restart of the machine without a log, after a shutdown that left it to another program", .opens) {
            $0 = Observations.afterCheckpointElsewhere
            $0.lockFile.head = $0.lockFile.head?.asWrittenAtShutdown
            $0.bootIdentifier = "boot-2"
        },
        Row("the log is missing, and the lock file names no head", .refusesUnlessAccepted([.logMissing])) {
            $0 = Observations.afterCheckpointElsewhere
            ($0.lockFile.head, $0.auditAnswer) = (nil, nil)
        },
        Row("the log is missing while its shared memory is not", .refusesUnlessAccepted([.logMissing])) {
            $0 = Observations.afterCheckpointElsewhere
            $0.hasSharedMemory = true
        },
        Row("the log is missing, and it is unknown on which boot it was written", .refusesUnlessAccepted([.logMissing]))
        {
            $0 = Observations.afterCheckpointElsewhere
            $0.lockFile.head = LockFileContent.Head(Observations.head, onBoot: "")
        },
        Row("the log is empty and the record it held is missing", .refusesUnlessAccepted([.logEmptied])) {
            $0 = Observations.afterKill
            ($0.log, $0.auditAnswer) = (Observations.empty, true)
        },
        Row("the log is empty and the record it held is in the database", .opens) {
            $0 = Observations.afterKill
            ($0.log, $0.auditAnswer) = (Observations.empty, false)
        },
        Row(
            "an old log is back after a clean shutdown while another program has the database open",
            .refuses(.logFromEarlierTime)
        ) {
            ($0.log, $0.isDatabaseInUse, $0.auditAnswer) = (Observations.file, true, false)
        },
        Row("the log of a program that has the database open", .opens) {
            ($0.log, $0.isDatabaseInUse, $0.auditAnswer) = (Observations.file, true, true)
        },
        Row("a log without its database", .refuses(.logOfAnotherDatabase)) {
            $0 = Observations.afterKill
            $0.database = nil
        },
        Row("a log beside an emptied database", .refuses(.logOfAnotherDatabase)) {
            $0 = Observations.afterKill
            $0.database = Observations.empty
        },
        Row("a log without its database, whose lock file is missing too", .refuses(.logOfAnotherDatabase)) {
            $0 = Observations.afterKill
            ($0.database, $0.lockFile) = (nil, LockFileContent())
        },
        Row("a log beside another database that took its place while in use", .refuses(.logOfAnotherDatabase)) {
            $0 = Observations.afterKill
            $0.lockFile.inodeIfReplaced = 41
        },
        Row(
            "another database took its place while in use, and the log is missing",
            .refusesUnlessAccepted([.databaseReplaced])
        ) {
            $0 = Observations.afterKill
            ($0.lockFile.inodeIfReplaced, $0.log) = (41, nil)
        },
        Row("an older copy lies beneath the log", .refuses(.databaseOlderThanLog)) {
            $0 = Observations.afterKill
            $0.auditAnswer = true
        },
        Row("an emptied database without its lock file and claims", .opens) {
            $0 = Observations.firstStart
            $0.database = Observations.empty
            $0.masterKey = .supplied
        },
        Row(
            "a loss that an earlier start accepted and did not record",
            .refusesUnlessAccepted([.acceptedLossNotInAudit, .acceptedLossNotInAudit])
        ) {
            $0 = Observations.afterKill
            $0.lockFile.lossesNotInAudit = ["the write-ahead log is missing", "the shipped head is missing"]
        },
        Row("an accepted loss that was not recorded, beside a foreign log", .refuses(.logFromEarlierTime)) {
            $0.lockFile.lossesNotInAudit = ["the write-ahead log is missing"]
            $0.log = Observations.file
        },
    ]

    static let content: [Row] = [
        Row("the shipped head is in the database", .opens) {
            $0.auditComparison = .init(
                headInDatabase: Observations.head,
                shippedHead: .found(
                    file: Observations.shippedFile, head: Observations.head, at: Observations.shippedAt, difference: nil
                ))
        },
        Row("the environment changed", .warns([.environmentChanged])) {
            $0.environmentChange = StartObservation.EnvironmentChange(from: .production, to: .sandbox)
        },
        Row("the environment is the same", .opens) {
            $0.environmentChange = StartObservation.EnvironmentChange(from: .sandbox, to: .sandbox)
        },
        Row("the environment of former starts is unknown", .opens) {
            $0.environmentChange = StartObservation.EnvironmentChange(from: nil, to: .sandbox)
        },
        Row("no head was shipped yet", .warns([.noShippedHead])) {
            $0.auditComparison = .init(
                headInDatabase: Observations.head, shippedHead: .none(file: Observations.shippedFile))
        },
        Row("no head was shipped yet, of a new database", .opens) {
            $0.lockFile.head = nil
            $0.auditComparison = .init(shippedHead: .none(file: Observations.shippedFile))
        },
        Row("a restored database is older than the shipped head", .opens) {
            $0.auditComparison = Rows.olderThanShipped
            $0.auditComparison?.restoredFrom = "today.backup"
        },
        Row(
            "an older copy was put back after a restore whose description is still in the database",
            .opensWithLoss(.databaseOlderThanHeadInLockFile)
        ) {
            $0.auditComparison = Rows.olderThanShipped
            $0.auditComparison?.restoredFrom = "today.backup"
            $0.auditComparison?.differenceFromLockFile = "record 12 is missing"
        },
        Row(
            "older than the shipped head and the lock file: one loss, not two",
            .refusesUnlessAccepted([.databaseOlderThanShippedHead])
        ) {
            $0.auditComparison = Rows.olderThanShipped
            $0.auditComparison?.differenceFromLockFile = "record 12 is missing"
        },
        Row("a lost log, and the same loss by the lock file's head", .refusesUnlessAccepted([.logMissing])) {
            $0 = Observations.afterKill
            ($0.log, $0.auditAnswer) = (nil, nil)
            $0.auditComparison = .init(
                headInDatabase: Observations.base, differenceFromLockFile: "record 12 is missing")
        },
        Row(
            "a lost log, and a shipped head that was in it",
            .refusesUnlessAccepted([.logMissing, .databaseOlderThanShippedHead])
        ) {
            $0 = Observations.afterKill
            ($0.log, $0.auditAnswer) = (nil, nil)
            $0.auditComparison = Rows.olderThanShipped
        },
    ]

    static let otherFiles: [Row] = [
        Row("an interrupted restore", .refuses(.restoreUnfinished)) { $0.isRestoreUnfinished = true },
        Row("an interrupted restore, with any other finding", .refuses(.restoreUnfinished)) {
            $0 = Observations.afterKill
            ($0.isRestoreUnfinished, $0.database) = (true, nil)
            $0.masterKey = .file(path: "/state/master.key", exists: false)
        },
        Row("a first start that was interrupted before the database", .warns([.masterKeyWithoutDatabase])) {
            $0 = Observations.firstStart
            $0.masterKey = .file(path: "/state/master.key", exists: true)
        },
        Row("a first start with a credential as master key", .opens) {
            $0 = Observations.firstStart
            $0.masterKey = .supplied
        },
        Row("a database whose master key is missing, and whose log is missing", .refuses(.masterKeyMissing)) {
            $0 = Observations.afterKill
            $0.log = nil
            $0.masterKey = .file(path: "/state/master.key", exists: false)
        },
        Row("the claims file is missing", .warns([.claimsMissing])) { $0.claims = nil },
        Row("the claims file is empty", .warns([.claimsMissing])) { $0.claims = Observations.empty },
        Row("the claims file lacks the newest claim in the lock file", .warns([.claimsOlder])) {
            ($0.lockFile.newestClaim, $0.lacksNewestClaim) = (Observations.claim, true)
        },
        Row("the claims file has the newest claim in the lock file", .opens) {
            $0.lockFile.newestClaim = Observations.claim
        },
        Row("the claims file has one byte, which SQLite treats as empty", .warns([.claimsMissing])) {
            $0.claims = .init(inode: 42, size: 1)
        },
        Row("the database has one byte beside its log after a kill", .refuses(.logOfAnotherDatabase)) {
            $0 = Observations.afterKill
            $0.database = .init(inode: 42, size: 1)
        },
        Row("the log of the claims file is missing after a kill", .warns([.claimsLogMissing])) {
            $0 = Observations.afterKill
            $0.claimsLog = nil
        },
        Row("the claims file has no log, because the daemon closed it or could not use it", .opens) {
            $0 = Observations.afterKill
            $0.claimsLog = nil
            $0.lockFile.expectsClaimsLog = false
        },
    ]

    private static let olderThanShipped = StartObservation.AuditComparison(
        headInDatabase: Observations.base,
        shippedHead: .found(
            file: Observations.shippedFile, head: Observations.head, at: Observations.shippedAt,
            difference: "record 12 is missing"))
}
