import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle

/// Looks after the database while the daemon runs: tries again what a full disk refused, and looks for damage.
struct StoreWatch: Service {
    static let interval = Duration.seconds(2)
    /// How many intervals lie between two looks through the whole file.
    private static let examinationEvery = 24 * 60 * 60 / 2

    let store: SQLiteStore
    let operations: AuditOperations
    let integrity: IntegrityFindings
    let lock: InstanceLock
    let reserve: DiskReserve
    /// Those that the daemon serves on.
    let sockets: [String]
    let conditions: ConditionLog
    let logger: Logger
    /// What could not be written at the start; false while it cannot be.
    let makeUpForTheStart: @Sendable () async -> Bool

    func run() async throws {
        // A daemon that stops cancels the wait.
        try? await cancelWhenGracefulShutdown {
            try await reserve.keep(onceServing: sockets)
            var round = 0
            var isStartRecorded = false
            var isLockTold = false
            while !Task.isCancelled {
                if round % Self.examinationEvery == 0 {
                    await examine()
                    await examineContent()
                }
                watchRoom()
                if !isStartRecorded { isStartRecorded = await makeUpForTheStart() }
                if case .impaired = store.health { await tryAgain() }
                look()
                isLockTold = keepLock(isTold: isLockTold)
                round += 1
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Whether the database's file is in its place. Else the next start, also after a kill, is to know whose the log is.
    private func look() {
        guard let replaced = store.checkPlace(), lock.replaced != replaced else { return }
        lock.markReplaced(replaced)
        logger.critical("the database's file was moved or replaced", metadata: ["inode": "\(replaced)"])
    }

    /// Without it the next start could take what a lost log held for acknowledged and there.
    ///
    /// - Returns: whether it is known that the lock cannot be written.
    private func keepLock(isTold: Bool) -> Bool {
        guard lock.isBehind else { return false }
        do {
            try lock.set { _ in }
            logger.notice("the lock file can be written again")
            return false
        } catch {
            if !isTold {
                logger.critical(
                    "if the write-ahead log were lost now, the next start would not know",
                    metadata: ["error": "\(error)"])
            }
            return true
        }
    }

    private func watchRoom() {
        reserve.keep()
        guard let lack = reserve.lack else { return conditions.clear(.diskNearlyFull) }
        conditions.set(.diskNearlyFull, .critical, "\(lack): changes will be refused, make room")
    }

    /// Whether the rows are what the daemon wrote. Reads go on meanwhile, and so do changes: each refuses what is wrong for itself.
    private func examineContent() async {
        do {
            for found in try await store.inconsistentContent() {
                integrity.note(MerchantError(.keyDamaged, "\(found): restore a backup"))
            }
        } catch { noteUnexamined("key pairs and schema", error) }
        do {
            var next: Int? = 1
            while let sequence = next {
                next = try await operations.verifyAudit(from: sequence).next
                try await Task.sleep(for: .milliseconds(20))
            }
        } catch { noteUnexamined("the audit chain", error) }
    }

    /// A look that cannot be finished is no proof of anything.
    private func noteUnexamined(_ what: String, _ error: any Error) {
        guard !(error is CancellationError) else { return }
        logger.error("the database could not be looked through", metadata: ["what": "\(what)", "error": "\(error)"])
        conditions.set(
            .storeDamaged, .warning, "\(what) could not be looked through: \(Diagnosis.words(error))")
    }

    private func tryAgain() async {
        guard (try? await store.write({ try $0.setDaemonFact("lastTry", "") })) != nil else { return }
        logger.notice("the database can be written again")
    }

    private func examine() async {
        do {
            let found = try await store.examine()
            guard !found.isEmpty else { return conditions.clear(.storeDamaged) }
            logger.critical("the database is damaged", metadata: ["findings": "\(found.prefix(5))"])
            conditions.set(
                .storeDamaged, .critical,
                "\(found[0]); nothing is written any more, keys are still answered where they can be read; restore a backup where the file is damaged"
            )
        } catch { noteUnexamined("the file", error) }
    }
}
