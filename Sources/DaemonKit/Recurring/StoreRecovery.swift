import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore

/// Detects when a SQLite database that could not be written, for example because the disk was full, can be written
/// again. Also fills the reserve of disk space, reports low disk space and a database file that was moved or replaced,
/// and repeats failed writes of the lock file.
struct StoreRecovery: RecurringTask {
    let store: SQLiteStore
    let lock: InstanceLock
    let reserve: DiskReserve
    let servers: ServerReadiness
    let activeFindings: ActiveFindings
    let logger: Logger
    /// Whether the reserve was filled once. The first fill waits until the daemon listens on its sockets, but at most 2
    /// seconds.
    private var didFillReserve = false
    private var isLockFailureLogged = false

    init(
        store: SQLiteStore, lock: InstanceLock, reserve: DiskReserve, servers: ServerReadiness,
        activeFindings: ActiveFindings, logger: Logger
    ) {
        self.store = store
        self.lock = lock
        self.reserve = reserve
        self.servers = servers
        self.activeFindings = activeFindings
        self.logger = logger
    }

    mutating func run() async throws {
        if !didFillReserve {
            try await reserve.fill(onceReady: servers)
            didFillReserve = true
        } else {
            reserve.fill()
        }
        checkDiskSpace()
        if case .impaired = store.health, await TrialWrite(store).run() {
            logger.notice("the database can be written again")
        }
        checkDatabaseFile()
        checkLockFile()
    }

    private func checkDiskSpace() {
        guard let space = DiskSpace(of: reserve.directory), let shortage = space.shortage(in: reserve.directory) else {
            return activeFindings.clear(.diskNearlyFull)
        }
        activeFindings.set(.diskNearlyFull, space.level == .nearlyFull ? .critical : .warning, shortage)
    }

    /// If the database file was moved or replaced, writes the inode of the open file into the lock file. The next start
    /// must know to which file the write-ahead log belongs, even if the daemon is killed.
    private func checkDatabaseFile() {
        guard let openInode = store.checkForReplacement(), lock.inodeIfReplaced != openInode else { return }
        lock.markDatabaseReplaced(openInode)
        logger.critical("the database file was moved or replaced", metadata: ["inode": "\(openInode)"])
    }

    /// Repeats a write of the lock file that failed. If the file were outdated at the next start, the daemon could not
    /// detect that a lost write-ahead log contained acknowledged changes.
    private mutating func checkLockFile() {
        guard lock.isFileOutdated else {
            isLockFailureLogged = false
            return
        }
        do {
            try lock.update { _ in }
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
