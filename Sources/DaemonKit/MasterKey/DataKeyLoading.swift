import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import Vocabulary

/// Follows a rotation that another daemon on the database performs: loads the new data key, seals under it when every
/// daemon with a lease has loaded it, and forgets the old data key when the rotation has retired it. Reports to the
/// other daemons which keys this daemon has.
struct DataKeyLoading: RecurringTask {
    let settings: MasterKeySettings
    let store: any DataKeyRepository
    let keyring: Keyring
    let nodes: any NodeKeyDirectory
    /// The master keys that this daemon loaded at its start.
    let masterKeys: Set<MasterKeyIdentifier>
    let logger: Logger
    private let lastError = LastError()
    private(set) var nextPause: Duration?
    /// The pause if the data key cannot be loaded: an attempt may run the command that prints the master key.
    private static let pauseAfterFailure = Duration.seconds(10)

    init(
        settings: MasterKeySettings, store: any DataKeyRepository, keyring: Keyring, nodes: any NodeKeyDirectory,
        masterKeys: Set<MasterKeyIdentifier>, logger: Logger
    ) {
        self.settings = settings
        self.store = store
        self.keyring = keyring
        self.nodes = nodes
        self.masterKeys = masterKeys
        self.logger = logger
    }

    mutating func run() async throws {
        nextPause = nil
        do {
            try await follow()
            _ = lastError.replace(by: nil)
        } catch let error as CancellationError {
            throw error
        } catch {
            // If the database cannot be reached, the lease reports this.
            let known = error as? MerchantError
            guard ![.storeUnavailable, .overloaded].contains(known?.code) else { return }
            nextPause = Self.pauseAfterFailure
            let text = known?.detail ?? "\(error)"
            guard lastError.replace(by: text) else { return }
            logger.error(
                "the data key of a rotation by another daemon cannot be loaded, so the rotation waits for this daemon",
                metadata: ["error": "\(text)"])
        }
    }

    private func follow() async throws {
        let usable = try store.dataKeys().filter { !$0.isRetired }
        for row in usable where !keyring.holds(row.identifier) {
            try load(row)
            logger.notice("loaded a data key", metadata: ["dataKey": "\(row.summary)"])
        }
        if let newest = usable.last?.identifier, newest > keyring.newest,
            try await nodes.keysOfOthers().allSatisfy({ $0.value.loadedDataKey >= newest })
        {
            keyring.sealNew(under: newest)
        }
        // A retired data key seals nothing.
        if let oldest = usable.first?.identifier { keyring.forgetOlder(than: oldest) }
        // A rotation may have created a master key since the start.
        let masterKeysInUse = usable.filter { keyring.holds($0.identifier) }.map(\.masterKeyIdentifier)
        try await nodes.publish(
            NodeKeys(
                masterKeys: masterKeys.union(masterKeysInUse), loadedDataKey: keyring.highest,
                sealingDataKey: keyring.newest))
    }

    /// - Throws: `masterKeyConflict` if no master key in the settings seals the data key, or if a master key cannot be
    ///   read.
    private func load(_ row: SealedDataKey) throws {
        var unreadable: (any Error)?
        for source in MasterKeys(settings).sources {
            let masterKey: MasterKey
            do { masterKey = try source.load() } catch {
                unreadable = error
                continue
            }
            guard masterKey.identifier == row.masterKeyIdentifier else { continue }
            try keyring.add(row, with: masterKey)
            keyring.warnUnlessLocked(logger)
            return
        }
        if let unreadable {
            // Replaces the code `storeUnavailable` of this error, because ``run()`` does not report errors with that
            // code.
            throw MerchantError(
                .masterKeyConflict,
                "the data key \(row.identifier) needs the master key \(row.masterKeyIdentifier), and a master key in the settings cannot be read: \((unreadable as? MerchantError)?.detail ?? "\(unreadable)")"
            )
        }
        throw MerchantError(
            .masterKeyConflict,
            "the data key \(row.identifier) needs the master key \(row.masterKeyIdentifier), which is not in the settings of this daemon: put it into 'master-key', keep the old one in 'master-key.previous', and restart this daemon"
        )
    }
}
