import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore

/// Keeps the database writable: fills the reserve of disk space, and repeats writes that a full disk refused. Reports a
/// database file that was moved or replaced.
struct StoreRecovery: RecurringTask {
    let store: SQLiteStore
    let lock: InstanceLock
    let reserve: DiskReserve
    /// The sockets that the daemon listens on.
    let sockets: [String]
    let conditions: ConditionLog
    let logger: Logger
    /// Records the start in the audit if the start itself could not. Returns whether it is recorded.
    let recordStart: @Sendable () async -> Bool
    private var isServing = false
    private var isStartRecorded = false
    private var isLockFailureLogged = false

    init(
        store: SQLiteStore, lock: InstanceLock, reserve: DiskReserve, sockets: [String], conditions: ConditionLog,
        logger: Logger, recordStart: @escaping @Sendable () async -> Bool
    ) {
        self.store = store
        self.lock = lock
        self.reserve = reserve
        self.sockets = sockets
        self.conditions = conditions
        self.logger = logger
        self.recordStart = recordStart
    }

    mutating func run() async throws {
        if !isServing {
            try await reserve.keep(onceServing: sockets)
            isServing = true
        }
        checkDiskSpace()
        if !isStartRecorded { isStartRecorded = await recordStart() }
        if case .impaired = store.health { await retryWrite() }
        checkDatabaseFile()
        checkLockFile()
    }

    private func checkDiskSpace() {
        reserve.keep()
        guard let shortage = reserve.shortage else { return conditions.clear(.diskNearlyFull) }
        conditions.set(.diskNearlyFull, .critical, "\(shortage): changes will be refused; free disk space")
    }

    private func retryWrite() async {
        guard (try? await store.write({ try $0.setDaemonFact("trialWrite", "") })) != nil else { return }
        logger.notice("the database can be written again")
    }

    /// If the database file was moved or replaced, writes the inode of the open file into the lock file. The next
    /// start, even after a kill, must know to which file the write-ahead log belongs.
    private func checkDatabaseFile() {
        guard let inode = store.checkPlace(), lock.replacedInode != inode else { return }
        lock.markReplaced(inode)
        logger.critical("the database file was moved or replaced", metadata: ["inode": "\(inode)"])
    }

    /// Repeats a write of the lock file that failed. With an outdated lock file, the next start could not detect that a
    /// lost write-ahead log contained acknowledged changes.
    private mutating func checkLockFile() {
        guard lock.isBehind else {
            isLockFailureLogged = false
            return
        }
        do {
            try lock.set { _ in }
            logger.notice("the lock file can be written again")
            isLockFailureLogged = false
        } catch {
            if !isLockFailureLogged {
                logger.critical(
                    "the lock file cannot be written: the next start could not detect the loss of the write-ahead log",
                    metadata: ["error": "\(error)"])
            }
            isLockFailureLogged = true
        }
    }
}
