package import Vocabulary

/// Tells one master key from another and nothing of the key: what operators compare, lower-case hexadecimal.
package struct MasterKeyIdentifier: Hashable, Sendable, CustomStringConvertible {
    package static let length = 16

    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { Hex.encode(bytes) }
}

/// A rotation: every private key is re-encrypted under a new data key, which a new master key seals unless only the data key is
/// rotated.
///
/// This is the state in the database; the service that rotates documents the steps.
package struct KeyRotation: Hashable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        /// Private keys are being re-encrypted; newly generated ones are sealed under the new data key.
        case sealing
        /// All are. The old data key's row is zeros; its traces and the old master key are being removed.
        case erasing
        case finished
    }

    package let identifier: Int
    package var state: State
    /// The new data key.
    package let dataKeyIdentifier: Int
    package let replacesMasterKey: Bool
    /// The number of private keys to re-encrypt, and of those already re-encrypted.
    package let total: Int
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

/// A private key's seal in its place in the store.
package struct StoredSeal: Sendable {
    package let row: Int
    package let stored: SealedKeyPair

    package init(row: Int, stored: SealedKeyPair) {
        self.row = row
        self.stored = stored
    }
}

/// What a rotation reads and writes. Whatever returned is on stable storage.
package protocol KeyRotationStore: DataKeyRepository {
    /// The last one, finished or not; nil where there was none.
    func lastRotation() async throws -> KeyRotation?
    /// Stores the new data key, and starts the rotation to it.
    ///
    /// - Parameter madeMasterKey: the new master key if the daemon generated it: only such a key is ever replaced or erased.
    /// - Throws: `masterKeyConflict` where a rotation is under way.
    func beginRotation(
        to dataKey: SealedDataKey, replacesMasterKey: Bool, madeMasterKey: MasterKeyIdentifier?,
        recording audit: AuditEntry
    ) async throws -> KeyRotation
    /// The fresh master key of the last rotation, where the daemon made it.
    func madeMasterKey() async throws -> MasterKeyIdentifier?
    /// Seals under other data keys, by row, those after `row`.
    func seals(notUnder dataKey: Int, after row: Int, limit: Int) async throws -> [StoredSeal]
    /// Puts each new seal in the place of the old one, where that is still there, byte over byte.
    func replace(_ seals: [(old: StoredSeal, new: SealedPrivateKey)], in rotation: KeyRotation) async throws
    /// Writes zeros over every data key but the rotation's, if nothing is sealed under them any more.
    ///
    /// - Returns: how many seals are still under others; nothing was erased unless 0.
    func retireDataKeys(in rotation: KeyRotation) async throws -> Int
    /// Removes what the file, its log and the process's caches hold of old seals and data keys.
    func eraseTraces(of rotation: KeyRotation) async throws
    func finish(_ rotation: KeyRotation, at now: Timestamp, recording audit: AuditEntry) async throws
}

/// The state of the master key, for operators.
package struct MasterKeyStatus: Sendable {
    /// Of the newest data key.
    package let masterKey: MasterKeyIdentifier
    package let dataKeyIdentifier: Int
    /// Where it comes from, in words.
    package let source: String
    /// The last one, finished or not.
    package let rotation: KeyRotation?
    /// What keeps a rotation from going on; nil for nothing.
    package let obstacle: String?

    package init(
        masterKey: MasterKeyIdentifier, dataKeyIdentifier: Int, source: String, rotation: KeyRotation?,
        obstacle: String?
    ) {
        self.masterKey = masterKey
        self.dataKeyIdentifier = dataKeyIdentifier
        self.source = source
        self.rotation = rotation
        self.obstacle = obstacle
    }
}

/// What a rotation would do, or began to do.
package struct KeyRotationPlan: Sendable {
    /// Whether a rotation was in progress already; it continues.
    package let joins: Bool
    /// In words, a step a line.
    package let steps: [String]

    package init(joins: Bool, steps: [String]) {
        self.joins = joins
        self.steps = steps
    }
}

/// Rotates master key and data key.
package protocol MasterKeyRotating: Sendable {
    func status() async throws -> MasterKeyStatus
    /// Starts a rotation and returns. If one is in progress, it continues.
    ///
    /// - Throws: `masterKeyConflict`, saying what to do, where the daemon cannot make the new master key itself.
    func rotate(dataKeyOnly: Bool, dryRun: Bool, by caller: Caller, requestId: String) async throws -> KeyRotationPlan
}
