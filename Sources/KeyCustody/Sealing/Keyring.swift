package import MerchantCore
import Secrets
import Synchronization
package import Vocabulary

/// The unsealed data keys, which seal (encrypt) private keys and account numbers of merchant tokens with AES-256-GCM
/// and random nonces.
///
/// One data key seals new secrets. Other data keys only unseal the secrets that they sealed. There is one data key, or
/// two during a rotation. A data key seals at most a few million private keys, far below the 2^32 that NIST SP 800-38D
/// section 8.3 allows for random nonces, so the daemon never replaces a data key by itself. An operator can replace it
/// with `master-key rotate`.
package final class Keyring: Sendable {
    /// The version of the format of a sealed private key: nonce, ciphertext and tag, with ``PrivateKeyBytes`` as
    /// plaintext.
    static let sealVersion = 1

    private struct State {
        /// The data keys by their identifiers.
        var dataKeys: [Int: SealingKey]
        /// The identifier of the data key that seals new secrets.
        var sealing: Int
        /// Whether every master key and every data key was locked when the keyring received it.
        var isLockedInMemory: Bool
    }

    private let state: Mutex<State>

    init(_ dataKeys: [Int: SealingKey], newest: Int, isLockedInMemory: Bool) {
        state = Mutex(State(dataKeys: dataKeys, sealing: newest, isLockedInMemory: isLockedInMemory))
    }

    /// Unseals every data key that is not retired. If there is none, generates the first data key, and stores it
    /// durably before it is used.
    ///
    /// - Throws: `masterKeyConflict` if another master key sealed the data keys; `keyDamaged` if the row of a data key
    ///   is damaged; errors of the repository.
    package convenience init(
        opening repository: some DataKeyRepository, with masterKey: borrowing MasterKey, at now: Timestamp
    ) throws {
        try Self.createFirst(in: repository, under: masterKey, at: now)
        // The keys are read from the repository after the insertion, so that the daemon uses the same bytes that it
        // will read after a restart.
        var unsealing = DataKeyUnsealing(of: try repository.dataKeys())
        unsealing.unseal(with: masterKey)
        let opened = try unsealing.keyring()
        self.init(
            opened.state.withLock { $0.dataKeys }, newest: opened.newest, isLockedInMemory: opened.isLockedInMemory)
    }

    /// Generates the first data key if there is none. The data key is on stable storage on return.
    package static func createFirst(
        in repository: some DataKeyRepository, under masterKey: borrowing MasterKey, at now: Timestamp
    ) throws {
        guard try repository.dataKeys().isEmpty else { return }
        try repository.insert(
            DataKeySeal.create(identifier: DataKeySeal.identifiers.lowerBound, under: masterKey, at: now))
    }

    /// The identifier of the data key that seals new secrets. It can be lower than ``highest``.
    package var newest: Int { state.withLock { $0.sealing } }

    /// Whether the master keys and the data keys are locked in memory, so that they are never written to swap. False if
    /// the limit on locked memory was too low for one of them.
    package var isLockedInMemory: Bool { state.withLock { $0.isLockedInMemory } }

    /// Whether the keyring has the data key with this identifier.
    package func holds(_ dataKey: Int) -> Bool { state.withLock { $0.dataKeys[dataKey] != nil } }

    /// Adds a stored data key, which only unseals until ``sealNew(under:)`` is called. If the memory cannot be locked,
    /// the daemon continues, as it does at the start, and ``isLockedInMemory`` is false.
    ///
    /// - Throws: `keyDamaged` if the data key cannot be unsealed.
    package func add(_ row: SealedDataKey, with masterKey: borrowing MasterKey) throws(MerchantError) {
        try add(row, with: masterKey, lock: MemoryLock.lock)
    }

    /// Adds a data key as ``add(_:with:)`` does.
    ///
    /// - Parameter lock: locks memory, and returns whether the memory is locked.
    package func add(
        _ row: SealedDataKey, with masterKey: borrowing MasterKey, lock: (UnsafeRawBufferPointer) -> Bool
    ) throws(MerchantError) {
        guard let dataKey = DataKeySeal.open(row, with: masterKey.key) else {
            throw MerchantError(
                .keyDamaged, "data key \(row.identifier) cannot be unsealed with the master key that sealed it")
        }
        let isMasterKeyLocked = masterKey.withUnsafeBytes(lock)
        let isDataKeyLocked = dataKey.withUnsafeBytes(lock)
        state.withLock { state in
            state.isLockedInMemory = state.isLockedInMemory && isMasterKeyLocked && isDataKeyLocked
            state.dataKeys[row.identifier] = dataKey
        }
    }

    /// Seals new secrets under this data key from now on. Does nothing if the keyring does not have the data key,
    /// or if the data key is not newer than ``newest``.
    package func sealNew(under identifier: Int) {
        state.withLock { state in
            guard state.dataKeys[identifier] != nil, identifier > state.sealing else { return }
            state.sealing = identifier
        }
    }

    /// The highest identifier of a data key that the keyring has. It is higher than ``newest`` from ``add(_:with:)``
    /// until ``sealNew(under:)``.
    package var highest: Int { state.withLock { $0.dataKeys.keys.max() ?? $0.sealing } }

    /// Removes and wipes every data key that is older than `identifier`. Always keeps the data key that seals.
    package func forgetOlder(than identifier: Int) {
        state.withLock { state in
            state.dataKeys = state.dataKeys.filter { $0.key >= min(identifier, state.sealing) }
        }
    }

    /// Seals a stored private key again, under the data key ``newest``.
    ///
    /// - Throws: as ``open(_:of:)``.
    package func resealed(_ stored: SealedKeyPair) throws(MerchantError) -> SealedPrivateKey {
        let binding = KeyBinding(stored.keyPair)
        return seal(try open(stored.sealedPrivateKey, of: binding), to: binding)
    }

    /// Seals a private key under the data key ``newest``.
    func seal(_ key: borrowing PrivateKeyBytes, to binding: KeyBinding) -> SealedPrivateKey {
        let (identifier, dataKey) = newestDataKey
        let associated = binding.associatedData(version: Self.sealVersion, dataKeyIdentifier: identifier)
        let sealed = key.bytes.withUnsafeBytes { dataKey.seal($0, authenticating: associated) }
        return SealedPrivateKey(version: Self.sealVersion, dataKeyIdentifier: identifier, bytes: sealed)
    }

    /// - Throws: `keyDamaged` with the publicKeyHash, if the sealed bytes are damaged or belong to another key pair;
    ///   `storeUnavailable` if this daemon has not loaded the data key yet.
    func open(_ sealed: SealedPrivateKey, of binding: KeyBinding) throws(MerchantError) -> PrivateKeyBytes {
        guard sealed.version == Self.sealVersion else {
            throw Self.damaged(binding, "is sealed in version \(sealed.version), expected \(Self.sealVersion)")
        }
        guard let dataKey = dataKey(sealed.dataKeyIdentifier) else {
            throw notLoaded(sealed.dataKeyIdentifier)
                ?? Self.damaged(binding, "is sealed under data key \(sealed.dataKeyIdentifier), which does not exist")
        }
        let associated = binding.associatedData(version: sealed.version, dataKeyIdentifier: sealed.dataKeyIdentifier)
        guard let bytes = dataKey.open(sealed.bytes, authenticating: associated) else {
            throw Self.damaged(binding, "cannot be decrypted: it is damaged or belongs to another key pair")
        }
        return PrivateKeyBytes(algorithm: binding.algorithm, bytes: bytes)
    }

    /// The data key that seals new secrets, and its identifier.
    var newestDataKey: (identifier: Int, key: SealingKey) {
        state.withLock { state in
            guard let key = state.dataKeys[state.sealing] else {
                preconditionFailure("the data key that seals is never removed")
            }
            return (state.sealing, key)
        }
    }

    /// The error for a data key that another daemon has just created, and that this daemon has not loaded yet.
    ///
    /// - Returns: nil if the data key is not newer than those of the keyring.
    func notLoaded(_ identifier: Int) -> MerchantError? {
        guard identifier > highest else { return nil }
        return MerchantError(
            .storeUnavailable,
            "another daemon has rotated the keys, and this daemon has not loaded the data key \(identifier) yet; repeat the request. If this lasts, the daemon's log says why",
            retryAfter: 1)
    }

    /// - Returns: nil if the keyring does not have the data key.
    func dataKey(_ identifier: Int) -> SealingKey? { state.withLock { $0.dataKeys[identifier] } }

    /// - Parameter why: the predicate of a sentence whose subject is the stored private key.
    static func damaged(_ binding: KeyBinding, _ why: String) -> MerchantError {
        MerchantError(.keyDamaged, "the stored private key of \(binding.publicKeyHash) \(why): restore a backup")
    }
}
