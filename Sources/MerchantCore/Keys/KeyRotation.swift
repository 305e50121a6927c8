package import Vocabulary

/// Identifies a master key without revealing anything about it. Shown to operators in lower-case hexadecimal.
package struct MasterKeyIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// In bytes.
    package static let length = 16

    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { Hex.encode(bytes) }

    /// The name of the value in `daemon_values` that holds the identifier of the new master key, if the daemon
    /// generated this key beside the file with the old one.
    package static let generatedKeyValueName = "generatedMasterKey"

    /// Reads the value with the name ``generatedKeyValueName``. The text is empty if the last rotation did not generate
    /// a master key.
    package init?(daemonValue text: String) {
        guard let bytes = Hex.decode(text), !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }
}

/// The state of a rotation in the database. A rotation re-encrypts every private key, and every account number of a
/// merchant token, under a new data key. A rotation also replaces the master key, which seals the data key, unless the
/// operator rotates only the data key.
///
/// `MasterKeyRotation` in the module DaemonKit performs a rotation and documents its steps.
package struct KeyRotation: Hashable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        /// Private keys and account numbers are being re-encrypted; new ones are sealed under the new data key.
        case sealing
        /// All private keys and account numbers are re-encrypted, and the old data key is overwritten with zeros.
        /// Copies of the old data key, and of the old master key if it is replaced, are being removed.
        case erasing
        case finished
    }

    package let identifier: Int
    package var state: State
    /// The new data key.
    package let dataKeyIdentifier: Int
    package let replacesMasterKey: Bool
    /// The number of private keys to re-encrypt.
    package let total: Int
    /// The number of private keys that are already re-encrypted.
    package var done: Int
    package let startedAt: Timestamp
    package var finishedAt: Timestamp?

    package init(
        identifier: Int, state: State, dataKeyIdentifier: Int, replacesMasterKey: Bool, total: Int, done: Int,
        startedAt: Timestamp, finishedAt: Timestamp?
    ) {
        self.identifier = identifier
        self.state = state
        self.dataKeyIdentifier = dataKeyIdentifier
        self.replacesMasterKey = replacesMasterKey
        self.total = total
        self.done = done
        self.startedAt = startedAt
        self.finishedAt = finishedAt
    }
}

extension KeyRotation {
    /// - Parameter last: the last rotation; nil if there was none.
    /// - Throws: `masterKeyConflict` if the last rotation is in progress.
    package static func requireFinished(_ last: KeyRotation?) throws {
        guard let last, last.state != .finished else { return }
        throw MerchantError(
            .masterKeyConflict,
            "a rotation of the keys has been in progress since \(last.startedAt): wait until that rotation has finished"
        )
    }
}

/// A sealed (encrypted) private key with its key pair, and the id of its row in the database.
package struct SealedKeyPairRow: Sendable {
    package let row: Int
    package let sealedKeyPair: SealedKeyPair

    package init(row: Int, sealedKeyPair: SealedKeyPair) {
        self.row = row
        self.sealedKeyPair = sealedKeyPair
    }
}

/// A sealed account number of a merchant token, and the id of its row in the database.
package struct SealedMPANRow: Sendable {
    package let row: Int
    package let sealed: SealedMPAN

    package init(row: Int, sealed: SealedMPAN) {
        self.row = row
        self.sealed = sealed
    }
}

/// Stores a rotation of the data key and the master key. The data key seals private keys and account numbers of
/// merchant tokens, and the master key seals the data key. Each change is on stable storage when its method returns.
package protocol KeyRotationStore: DataKeyRepository {
    /// The last rotation, finished or not; nil if there was none.
    func lastRotation() async throws -> KeyRotation?
    /// Stores the new data key, and starts the rotation to this data key.
    ///
    /// - Parameter generatedMasterKey: identifies the new master key if the daemon generated it beside the file with
    ///   the old one; otherwise nil. If it is set, the daemon replaces that file at the end of the rotation.
    /// - Throws: `masterKeyConflict` if a rotation is in progress.
    func beginRotation(
        to dataKey: SealedDataKey, replacesMasterKey: Bool, generatedMasterKey: MasterKeyIdentifier?,
        recording audit: AuditEntry
    ) async throws -> KeyRotation
    /// The `generatedMasterKey` with which the last rotation began.
    func generatedMasterKey() async throws -> MasterKeyIdentifier?
    /// Private keys that are sealed with a data key other than `dataKey`, sorted by row, starting after `row`.
    func sealedKeys(notUnder dataKey: Int, after row: Int, limit: Int) async throws -> [SealedKeyPairRow]
    /// Overwrites each old sealed private key, in its row, with the new sealed private key. Skips private keys that
    /// were destroyed or sealed again meanwhile.
    func replace(_ seals: [(old: SealedKeyPairRow, new: SealedPrivateKey)], in rotation: KeyRotation) async throws
    /// Account numbers that are sealed with a data key other than `dataKey`, sorted by row, starting after `row`.
    func sealedMPANs(notUnder dataKey: Int, after row: Int, limit: Int) async throws -> [SealedMPANRow]
    /// Overwrites each old sealed account number, in its row, with the new one. Skips account numbers that were erased
    /// or sealed again meanwhile.
    func replace(_ seals: [(old: SealedMPANRow, new: SealedMPAN)]) async throws
    /// Erases an account number, and records this. Does nothing if the account number was erased or sealed again
    /// meanwhile.
    func erase(_ mpan: SealedMPANRow, recording audit: AuditEntry) async throws
    /// Overwrites every data key except the rotation's new one with zeros, and sets the state `erasing`. Does nothing
    /// while a private key or an account number is still sealed under one of those data keys.
    ///
    /// - Returns: how many private keys and account numbers are still sealed under those data keys; 0 if the data keys
    ///   were overwritten.
    func eraseOldDataKeysIfUnused(in rotation: KeyRotation) async throws -> Int
    /// Erases copies of old sealed private keys and old data keys that the database has left in its files and in the
    /// daemon's memory, as far as the kind of database permits.
    func eraseCopiesOfOldKeys(after rotation: KeyRotation) async throws
    func finish(_ rotation: KeyRotation, at now: Timestamp, recording audit: AuditEntry) async throws
}

/// The state of the master key, for operators.
package struct MasterKeyStatus: Sendable {
    /// The master key that seals the newest data key.
    package let masterKeyIdentifier: MasterKeyIdentifier
    package let dataKeyIdentifier: Int
    /// The source of the master key according to the settings, such as `file PATH`.
    package let source: String
    /// The last rotation, finished or not.
    package let rotation: KeyRotation?
    /// What blocks the rotation; nil while it can continue.
    package let blockedBy: String?

    package init(
        masterKeyIdentifier: MasterKeyIdentifier, dataKeyIdentifier: Int, source: String, rotation: KeyRotation?,
        blockedBy: String?
    ) {
        self.masterKeyIdentifier = masterKeyIdentifier
        self.dataKeyIdentifier = dataKeyIdentifier
        self.source = source
        self.rotation = rotation
        self.blockedBy = blockedBy
    }
}

/// What a rotation will do, for operators.
package struct KeyRotationPlan: Sendable {
    /// Whether a rotation was already in progress. That rotation continues, and no other is started.
    package let joinsRotationInProgress: Bool
    /// One sentence for each step.
    package let steps: [String]

    package init(joinsRotationInProgress: Bool, steps: [String]) {
        self.joinsRotationInProgress = joinsRotationInProgress
        self.steps = steps
    }
}

/// Rotates the master key and the data key.
package protocol MasterKeyRotating: Sendable {
    func status() async throws -> MasterKeyStatus
    /// Starts a rotation, and returns before the rotation has finished. If a rotation is already in progress, that
    /// rotation continues and no other is started.
    ///
    /// - Parameters:
    ///   - dataKeyOnly: whether the master key stays, and only the data key is replaced.
    ///   - dryRun: whether the plan is only returned, and no rotation is started.
    /// - Throws: `masterKeyConflict`, with what to do, if the daemon cannot generate the new master key itself.
    func rotate(dataKeyOnly: Bool, dryRun: Bool, by caller: Caller, requestId: String) async throws -> KeyRotationPlan
}
