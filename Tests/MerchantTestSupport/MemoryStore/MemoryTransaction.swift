package import MerchantCore
package import Vocabulary

/// One transaction on ``MemoryRepository``. This file contains what concerns merchants and key pairs.
package final class MemoryTransaction: RepositoryWriting {
    var state: MemoryState
    /// Whether this transaction added events, or was asked to unpark deliveries.
    var hasEvents = false
    var changedKeys: [PublicKeyHash] = []

    init(_ state: MemoryState) { self.state = state }

    private func row(_ hash: PublicKeyHash) -> MemoryState.Row? {
        state.rows.first { $0.keyPair.publicKeyHash == hash }
    }

    private func change(_ hash: PublicKeyHash, _ body: (inout MemoryState.Row) -> Void) {
        guard let index = state.rows.firstIndex(where: { $0.keyPair.publicKeyHash == hash }) else { return }
        body(&state.rows[index])
    }

    package func merchant(_ identifier: MerchantIdentifier) -> Merchant? { state.merchants[identifier] }

    package func merchants(after cursor: MerchantIdentifier?, limit: Int) -> [Merchant] {
        Array(
            state.merchants.values.filter { merchant in
                merchant.removedAt == nil && (cursor.map { $0 < merchant.identifier } ?? true)
            }.sorted { $0.identifier < $1.identifier }.prefix(limit))
    }

    package func merchants(_ filter: MerchantFilter, after cursor: MerchantIdentifier?, limit: Int) -> [Merchant] {
        let belowTarget = Set(merchantsBelowTarget(afterMerchant: nil, limit: .max).map(\.merchantIdentifier))
        return Array(
            merchants(after: cursor, limit: .max).filter { merchant in
                merchant.identifier.rawValue.hasPrefix(filter.identifierPrefix ?? "")
                    && (!filter.isBelowTarget || belowTarget.contains(merchant.identifier))
            }.prefix(limit))
    }

    package func keyPair(_ hash: PublicKeyHash) -> KeyPair? { row(hash)?.keyPair }

    package func keyPairs(_ hashes: [PublicKeyHash]) -> [PublicKeyHash: KeyPair] { entries(hashes, keyPair) }

    /// The value of each key that has one.
    func entries<Key, Value>(_ keys: [Key], _ value: (Key) -> Value?) -> [Key: Value] {
        Dictionary(keys.compactMap { key in value(key).map { (key, $0) } }) { first, _ in first }
    }

    package func keyPairs(of merchant: MerchantIdentifier) -> [KeyPair] {
        state.rows.map(\.keyPair).filter { $0.merchantIdentifier == merchant }
    }

    package func countPendingAndActiveKeyPairs(of merchant: MerchantIdentifier) -> Int {
        keyPairs(of: merchant).count { $0.state.isActive || $0.state == .pending }
    }

    package func keyPairs(prefix text: String, limit: Int) -> [KeyPair] {
        Array(
            state.rows.map(\.keyPair).filter {
                let hash = $0.publicKeyHash
                return [hash.base64, hash.base64URL, hash.hex].contains { $0.hasPrefix(text) }
            }.prefix(limit))
    }

    package func keyPairs(in keyState: KeyState, after cursor: PublicKeyHash?, limit: Int) -> [KeyPair] {
        let begin = cursor.flatMap { hash in state.rows.firstIndex { $0.keyPair.publicKeyHash == hash } } ?? -1
        return Array(state.rows[(begin + 1)...].map(\.keyPair).filter { $0.state == keyState }.prefix(limit))
    }

    package func keyPairs(
        expiringBefore time: Timestamp, in state: KeyState?, after cursor: PublicKeyHash?, limit: Int
    ) -> [KeyPair] {
        let expiring = keyPairsExpiring(
            .active, from: Timestamp(millisecondsSince1970: .min), to: time, limit: .max
        ).map(\.keyPair).filter { keyPair in state.map { $0 == keyPair.state } ?? true }
        let begin = cursor.flatMap { hash in expiring.firstIndex { $0.publicKeyHash == hash } } ?? -1
        return Array(expiring[(begin + 1)...].prefix(limit))
    }

    package func certificates(of hash: PublicKeyHash) -> [StoredCertificate] { row(hash)?.certificates ?? [] }

    package func certificates(of hashes: [PublicKeyHash]) -> [PublicKeyHash: [StoredCertificate]] {
        entries(hashes, certificates(of:)).filter { !$0.value.isEmpty }
    }

    package func certificateSigningRequest(of hash: PublicKeyHash) -> [UInt8]? {
        row(hash)?.new.certificateSigningRequest
    }

    package func sealedPrivateKey(of hash: PublicKeyHash) -> SealedPrivateKey? { row(hash)?.sealed }

    package func keyPairsDueForDestruction(at time: Timestamp, limit: Int) -> [PublicKeyHash] {
        let due = state.rows.map(\.keyPair).filter {
            $0.state == .revoked && ($0.destroyAfter.map { $0 <= time } ?? false)
        }
        return Self.byDestruction(due).prefix(limit).map(\.publicKeyHash)
    }

    package func keyPairs(after cursor: PublicKeyHash?, limit: Int) -> [KeyPair] {
        Array(
            state.rows.map(\.keyPair).sorted { $0.publicKeyHash.hex < $1.publicKeyHash.hex }
                .filter { keyPair in cursor.map { $0.hex < keyPair.publicKeyHash.hex } ?? true }.prefix(limit))
    }

    package func insert(_ merchant: Merchant) throws {
        guard self.merchant(merchant.identifier) == nil else {
            throw MerchantError(.merchantExists, "merchant \(merchant.identifier) exists")
        }
        state.merchants[merchant.identifier] = merchant
    }

    package func update(_ merchant: Merchant) throws {
        guard self.merchant(merchant.identifier) != nil else {
            throw MerchantError.merchantNotFound(merchant.identifier)
        }
        let isInUse = keyPairs(of: merchant.identifier).contains {
            $0.state.isActive && $0.purpose == .paymentProcessing
        }
        guard merchant.removedAt == nil || !isInUse else {
            throw MerchantError(.merchantInUse, "merchant \(merchant.identifier) has an active key pair")
        }
        state.merchants[merchant.identifier] = merchant
    }

    private func requireOneCurrent(_ keyPair: KeyPair) throws {
        guard keyPair.state == .current else { return }
        let other = keyPairs(of: keyPair.merchantIdentifier).first {
            $0.state == .current && $0.purpose == keyPair.purpose && $0.algorithm == keyPair.algorithm
                && $0.publicKeyHash != keyPair.publicKeyHash
        }
        if let other { throw MerchantError(.currentKeyExists, "key pair \(other.publicKeyHash) is current") }
    }

    package func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws {
        try requireNew(keyPair, new)
        try requireOneCurrent(keyPair)
        state.rows.append(.init(keyPair: keyPair, new: new, sealed: new.sealedPrivateKey))
        noteActive(keyPair)
        if keyPair.state != .pending { changedKeys.append(keyPair.publicKeyHash) }
    }

    package func update(_ keyPair: KeyPair) throws {
        guard self.keyPair(keyPair.publicKeyHash) != nil else {
            throw MerchantError.keyNotFound(keyPair.publicKeyHash)
        }
        try requireOneCurrent(keyPair)
        if self.keyPair(keyPair.publicKeyHash)?.state != keyPair.state {
            state.watches[keyPair.publicKeyHash] = nil
            state.uses[keyPair.publicKeyHash]?.promotionConfirmedAt = nil
            state.uses[keyPair.publicKeyHash]?.standbyUseReportedAt = nil
        }
        change(keyPair.publicKeyHash) {
            $0.keyPair = keyPair
            if keyPair.state == .destroyed { $0.sealed = nil }
        }
        noteActive(keyPair)
        changedKeys.append(keyPair.publicKeyHash)
    }

    package func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws -> Bool {
        guard keyPair(hash) != nil else {
            throw MerchantError(.certificateKeyUnknown, "there is no key pair \(hash)")
        }
        guard !certificates(of: hash).contains(where: { $0.fingerprint == certificate.fingerprint }) else {
            return false
        }
        state.watches[hash] = nil
        change(hash) { $0.certificates.append(certificate) }
        changedKeys.append(hash)
        return true
    }

    package func markIssuerVerified(_ certificate: StoredCertificate, of hash: PublicKeyHash) {
        change(hash) { row in
            guard let index = row.certificates.firstIndex(where: { $0.fingerprint == certificate.fingerprint }) else {
                return
            }
            row.certificates[index] = certificate.verified
        }
        changedKeys.append(hash)
    }

    package func removeSealedPrivateKey(of hash: PublicKeyHash) throws {
        guard keyPair(hash) != nil else { throw MerchantError.keyNotFound(hash) }
        change(hash) { $0.sealed = nil }
        changedKeys.append(hash)
    }

    static func byDestruction(_ keyPairs: [KeyPair]) -> [KeyPair] {
        let last = Timestamp(millisecondsSince1970: .max)
        return keyPairs.sorted { $0.destroyAfter ?? last < $1.destroyAfter ?? last }
    }
}
