import Crypto
import MerchantCore
import PaymentToken
import Secrets
import Vocabulary

/// Decrypts the encrypted metadata of events of merchant tokens.
///
/// The metadata contains an account number. The account number is overwritten in memory after decryption, and leaves
/// this type only sealed, and only if the daemon stores account numbers. Apple's identifier of the account number and
/// the expiration date, if the metadata has them, leave this type.
struct TokenMetadataDecryption: Sendable {
    typealias Records = Transactions<any KeyPairReading, Void>

    /// What the daemon learned from the encrypted metadata of one event.
    enum Result: Hashable, Sendable {
        case decrypted(Metadata)
        /// The metadata cannot be used.
        ///
        /// - Parameter problem: why, and what to do; contains no secret.
        case unusable(problem: String, publicKeyHash: PublicKeyHash?)
    }

    struct Metadata: Hashable, Sendable {
        let publicKeyHash: PublicKeyHash
        /// nil if the account number has not changed.
        let mpanIdentifier: String?
        let expirationDate: String
        /// nil if the daemon stores no account numbers.
        let sealedMPAN: SealedMPAN?
    }

    private let records: Records
    private let custodian: any KeyCustodian
    private let mpanCustodian: (any MPANCustodian)?
    private let currentVerifier: CurrentValue<SignatureVerifier>
    private let uses: KeyUses
    private let clock: any WallClock

    /// - Parameter mpanCustodian: seals the account numbers; nil if the daemon stores none.
    init(
        records: Records, custodian: any KeyCustodian, mpanCustodian: (any MPANCustodian)?,
        verifier: CurrentValue<SignatureVerifier>, uses: KeyUses, clock: any WallClock
    ) {
        self.records = records
        self.custodian = custodian
        self.mpanCustodian = mpanCustodian
        currentVerifier = verifier
        self.uses = uses
        self.clock = clock
    }

    /// Verifies and decrypts the encrypted metadata of an event.
    ///
    /// Uses are counted as for payment tokens. Verified metadata counts as a use of the named key only if the key
    /// decrypts the metadata, because Apple's signature does not cover the `publicKeyHash`. If the key is revoked or
    /// destroyed, verified metadata counts as a request for the key, which the daemon reports.
    ///
    /// The key can belong to another merchant: Apple encrypts to the key of the merchant that `encryptTo` names.
    ///
    /// - Parameters:
    ///   - json: nil for an event without encrypted metadata.
    ///   - owner: the merchant token and merchant of the event.
    ///   - notifiedAt: when the notification of the event arrived.
    /// - Returns: nil for an event without encrypted metadata.
    func read(_ json: [UInt8]?, of owner: SealedMPAN.Owner, notifiedAt: Timestamp) async -> Result? {
        guard let json else { return nil }
        let metadata: EncryptedTokenMetadata
        do throws(PaymentTokenError) { metadata = try EncryptedTokenMetadata(parsing: json) } catch {
            return .unusable(
                problem: "its encrypted metadata cannot be read: \(error.detail)", publicKeyHash: nil)
        }
        let hash = metadata.publicKeyHash
        let now = clock.now
        let verification = verify(metadata, at: now, notifiedAt: notifiedAt)
        guard verification.isVerified else {
            let reasons = verification.unpassedChecks.map { "\($0.name.rawValue): \($0.finding)" }
            return .unusable(
                problem:
                    "the signature of its encrypted metadata is not valid, so the metadata was not decrypted: \(reasons.joined(separator: "; ").prefix(1_000))",
                publicKeyHash: hash)
        }
        do {
            try await requireActive(hash, for: metadata)
            let result = try decrypt(metadata, of: owner)
            // Apple encrypted the metadata before it sent the notification. The fetch may be days later.
            let usedAt = min(now, notifiedAt)
            uses.recordRequest(hash, at: usedAt)
            uses.recordDecryption(hash, at: usedAt)
            return .decrypted(result)
        } catch let error as MerchantError {
            return .unusable(
                problem: "its encrypted metadata cannot be decrypted: \(error.detail)", publicKeyHash: hash)
        } catch {
            return .unusable(
                problem: "its encrypted metadata cannot be decrypted: the key \(hash) could not be used",
                publicKeyHash: hash)
        }
    }

    /// Apple does not publish when it signs the metadata: when the event occurs, or when the event is fetched. So the
    /// signing time may fit either time.
    private func verify(
        _ metadata: EncryptedTokenMetadata, at now: Timestamp, notifiedAt: Timestamp
    ) -> TokenVerification {
        let verifier = currentVerifier.value
        let verification = verifier.verify(metadata, receivedAt: now)
        return verification.failsOnlySigningTime ? verifier.verify(metadata, receivedAt: notifiedAt) : verification
    }

    /// - Throws: `keyNotFound`, `keyRevoked`, `keyDestroyed`, `tokenKeyMismatch`.
    private func requireActive(_ hash: PublicKeyHash, for metadata: EncryptedTokenMetadata) async throws {
        guard let keyPair = try await records.read({ try $0.keyPair(hash) }), keyPair.purpose == .paymentProcessing,
            keyPair.state != .pending
        else {
            throw MerchantError(
                .keyNotFound,
                "there is no active key pair with publicKeyHash \(hash): find out which certificate is activated at Apple"
            )
        }
        switch keyPair.state {
        case .revoked, .destroyed:
            uses.recordRequest(hash, at: clock.now)
            throw MerchantError(
                keyPair.state == .revoked ? .keyRevoked : .keyDestroyed,
                "the key \(hash) of \(keyPair.merchantIdentifier) is \(keyPair.state.rawValue) since \(keyPair.stateSince)"
            )
        case .pending, .standby, .current, .retiring: break
        }
        guard keyPair.algorithm == metadata.algorithm else {
            throw MerchantError(
                .tokenKeyMismatch,
                "the metadata has the algorithm \(metadata.algorithm.rawValue), but the key \(hash) has \(keyPair.algorithm.rawValue)"
            )
        }
    }

    private func decrypt(_ metadata: EncryptedTokenMetadata, of owner: SealedMPAN.Owner) throws -> Metadata {
        let material: SymmetricKeyMaterial =
            switch metadata.keyMaterial {
            case .ephemeralPublicKey(let key): .ephemeralPublicKey(key.derRepresentation)
            case .wrappedKey(let key): .wrappedKey(key.bytes)
            }
        let secret = try custodian.symmetricKey(metadata.publicKeyHash, from: material)
        let key = secret.withUnsafeBytes { SymmetricKey(data: $0) }
        do throws(PaymentTokenError) {
            let decrypted = try metadata.decrypt(with: key)
            return Metadata(
                publicKeyHash: metadata.publicKeyHash, mpanIdentifier: decrypted.mpanIdentifier,
                expirationDate: decrypted.expirationDate,
                sealedMPAN: decrypted.withMPAN { digits in mpanCustodian?.sealMPAN(digits, of: owner) })
        } catch {
            throw MerchantError(.decryptionFailed, error.detail)
        }
    }
}

extension TokenMetadataDecryption.Result {
    var mpanIdentifier: String? {
        switch self {
        case .decrypted(let metadata): metadata.mpanIdentifier
        case .unusable: nil
        }
    }

    /// nil if the metadata cannot be used, or if the daemon stores no account numbers.
    var sealedMPAN: SealedMPAN? {
        switch self {
        case .decrypted(let metadata): metadata.sealedMPAN
        case .unusable: nil
        }
    }

    var publicKeyHash: PublicKeyHash? {
        switch self {
        case .decrypted(let metadata): metadata.publicKeyHash
        case .unusable(_, let hash): hash
        }
    }

    /// Why the metadata cannot be used; nil if it was decrypted.
    var problem: String? {
        switch self {
        case .decrypted: nil
        case .unusable(let problem, _): problem
        }
    }
}
