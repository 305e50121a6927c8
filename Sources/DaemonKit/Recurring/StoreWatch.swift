import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle

/// Monitors the database while the daemon runs: retries writes that failed on a full disk, and checks for damage.
struct StoreWatch: Service {
    static let interval = Duration.seconds(2)
    /// How many intervals lie between two checks of the whole file.
    private static let integrityCheckEvery = 24 * 60 * 60 / 2

    let store: SQLiteStore
    let operations: MerchantOperations
    let lock: InstanceLock
    let reserve: DiskReserve
    /// The sockets that the daemon serves.
    let sockets: [String]
    let conditions: ConditionLog
    let logger: Logger
    /// Writes the start record if the start could not; false if it still fails.
    let writeStartRecord: @Sendable () async -> Bool

    func run() async throws {
        // A shutdown cancels the wait.
        try? await cancelWhenGracefulShutdown {
            try await reserve.keep(onceServing: sockets)
            var round = 0
            var isStartRecorded = false
            var isLockFaultLogged = false
            while !Task.isCancelled {
                if round % Self.integrityCheckEvery == 0 {
                    await checkFile()
                    await checkContent()
                }
                checkSpace()
                if !isStartRecorded { isStartRecorded = await writeStartRecord() }
                if case .impaired = store.health { await retryWrite() }
                checkPlace()
                isLockFaultLogged = rewriteLock(isLogged: isLockFaultLogged)
                round += 1
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Notes in the lock file that the database file was moved or replaced, so that the next start knows which file the log belongs to.
    private func checkPlace() {
        guard let replaced = store.look(), lock.replaced != replaced else { return }
        lock.markReplaced(replaced)
        logger.critical("the database's file was moved or replaced", metadata: ["inode": "\(replaced)"])
    }

    /// Rewrites the lock file after a failed write. Without the last head in it, the next start could miss a lost log.
    ///
    /// - Returns: whether the lock file still cannot be written.
    private func rewriteLock(isLogged: Bool) -> Bool {
        guard lock.isBehind else { return false }
        do {
            try lock.set { _ in }
            logger.notice("the lock file can be written again")
            return false
        } catch {
            if !isLogged {
                logger.critical(
                    "the lock file cannot be written: if the write-ahead log were lost now, the next start could not detect it",
                    metadata: ["error": "\(error)"])
            }
            return true
        }
    }

    private func checkSpace() {
        reserve.keep()
        guard let shortage = reserve.shortage else { return conditions.clear(.diskNearlyFull) }
        conditions.set(.diskNearlyFull, .critical, "\(shortage); make room, or changes will be refused")
    }

    /// Checks that the rows are what the daemon wrote, while reads and changes continue; each of them validates what it uses.
    private func checkContent() async {
        do {
            for found in try await store.strangeContent() {
                operations.damage.note(MerchantError(.keyDamaged, "\(found); restore a backup"))
            }
        } catch { noteIncomplete("key pairs and schema", error) }
        do {
            var next: Int? = 1
            while let sequence = next {
                next = try await operations.verifyAudit(from: sequence).next
                try await Task.sleep(for: .milliseconds(20))
            }
        } catch { noteIncomplete("the audit chain", error) }
    }

    /// A check that cannot be finished says nothing about the database.
    private func noteIncomplete(_ what: String, _ error: any Error) {
        guard !(error is CancellationError) else { return }
        logger.error("an integrity check could not be completed", metadata: ["what": "\(what)", "error": "\(error)"])
        conditions.set(
            .storeDamaged, .warning,
            "the integrity check of \(what) could not be completed: \(Diagnosis.detail(of: error))")
    }

    private func retryWrite() async {
        guard (try? await store.write({ try $0.setDaemonFact("lastTry", "") })) != nil else { return }
        logger.notice("the database can be written again")
    }

    private func checkFile() async {
        do {
            let found = try await store.examine()
            guard !found.isEmpty else { return conditions.clear(.storeDamaged) }
            logger.critical("the database is damaged", metadata: ["findings": "\(found.prefix(5))"])
            conditions.set(
                .storeDamaged, .critical,
                "\(found[0]); the daemon makes no more changes and still resolves the keys that it can read; check the disk, and restore a backup if the file is damaged"
            )
        } catch { noteIncomplete("the file", error) }
    }
}
