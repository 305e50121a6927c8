package import MerchantCore
package import PaymentToken
package import Secrets
package import Vocabulary

/// An active payment processing key pair, with the certificate that decryptors get together with the key pair.
package struct DecryptionKey: Sendable {
    package let keyPair: KeyPair
    package let certificate: StoredCertificate
    /// The period in which ``certificate`` is the certificate in use, unless the key pair changes.
    package let certificatePeriod: Range<Timestamp>
}

/// The operations for decryptors, the platform's processes that need the content of payment tokens: look up keys,
/// restore the symmetric keys of tokens, export private keys, and verify and open tokens.
package struct PaymentTokenOperations: Sendable {
    package typealias Records = Transactions<
        any KeyPairReading, any KeyPairWriting & KeyUseReading & RollWriting & ChangeRecording
    >

    private let records: Records
    let custodian: any KeyCustodian
    let claims: any ClaimLedger
    private let currentVerifier: CurrentValue<SignatureVerifier>
    /// Shared by all decryptors, because it caches the certificate chains that it has verified.
    var verifier: SignatureVerifier { currentVerifier.value }
    /// Detects a wrong clock by the signing times of tokens.
    let tokenTimes: TokenTimeWatch
    let uses: KeyUses
    /// Counts the payments of merchant tokens.
    let merchantTokens: MerchantTokenPayments
    let metrics: TokenMetrics
    let clock: any WallClock

    package init(
        records: Records, custodian: any KeyCustodian, claims: any ClaimLedger,
        verifier: CurrentValue<SignatureVerifier>,
        tokenTimes: TokenTimeWatch, uses: KeyUses, merchantTokens: MerchantTokenPayments,
        metrics: TokenMetrics = TokenMetrics(), clock: any WallClock
    ) {
        self.records = records
        self.custodian = custodian
        self.claims = claims
        currentVerifier = verifier
        self.tokenTimes = tokenTimes
        self.uses = uses
        self.merchantTokens = merchantTokens
        self.metrics = metrics
        self.clock = clock
    }

    /// The time of the machine's clock. It decides which certificate of a key pair is in use.
    package var now: Timestamp { clock.now }

    /// A counter with which a cache of responses counts the requests for one key pair.
    package func useCounter(for hash: PublicKeyHash) -> KeyUseCounter { uses.counter(for: hash) }

    /// Finds the active key pair with a publicKeyHash. Reads the store on the calling thread and blocks that thread.
    ///
    /// - Parameters:
    ///   - countsAsUse: whether the request counts as a use of the key. False for a request with a token:
    ///     ``open(_:with:on:for:blockingOn:)`` decides whether such a request counts.
    ///   - authorize: throws if the caller may not use the merchant's keys. It runs before the request is counted, so
    ///     that no caller can delay the roll of another merchant's key. It also runs before anything about the key is
    ///     returned.
    /// - Throws: the error of `authorize`; `keyRevoked`; `keyDestroyed`; `keyNotFound`, with the same text for an
    ///   unknown, a pending and an identity key. So a caller that may use the merchant's keys cannot distinguish these
    ///   three. For any other caller, a pending key causes the error of `authorize`.
    package func resolveNow(
        _ hash: PublicKeyHash, countsAsUse: Bool = true, authorizing authorize: (MerchantIdentifier) throws -> Void
    ) throws -> DecryptionKey {
        let now = clock.now
        return try records.readNow { reading in
            let notFound = MerchantError(.keyNotFound, "there is no active key pair with publicKeyHash \(hash)")
            guard let keyPair = try reading.keyPair(hash), keyPair.purpose == .paymentProcessing else { throw notFound }
            try authorize(keyPair.merchantIdentifier)
            if countsAsUse { uses.recordRequest(hash, at: now) }
            switch keyPair.state {
            case .pending: throw notFound
            case .revoked:
                throw MerchantError(
                    .keyRevoked, "the key \(hash) was revoked at \(keyPair.stateSince): its tokens must not be accepted"
                )
            case .destroyed:
                throw MerchantError(.keyDestroyed, "the private key of \(hash) was destroyed at \(keyPair.stateSince)")
            case .standby, .current, .retiring: break
            }
            let certificates = try reading.certificates(of: hash)
            guard let certificate = certificates.certificateInUse(at: now) else {
                throw MerchantError(.internalError, "the active key \(hash) has no certificate")
            }
            return DecryptionKey(
                keyPair: keyPair, certificate: certificate,
                certificatePeriod: certificates.period(inUse: certificate, around: now))
        }
    }

    /// Restores a token's symmetric key: derives the key (EC_v1) or unwraps the key (RSA_v1) with the private key. May
    /// read the store on the calling thread, and block that thread.
    ///
    /// Checks no permits: call ``resolveNow(_:countsAsUse:authorizing:)`` first.
    package func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        try custodian.symmetricKey(hash, from: material)
    }

    /// Like ``symmetricKey(_:from:)``, but does not read the store, so this method may be called on an event loop.
    /// Returns nil if the private key is not in memory.
    package func cachedSymmetricKey(
        _ hash: PublicKeyHash, from material: SymmetricKeyMaterial
    ) throws -> SecretBytes? {
        try custodian.cachedSymmetricKey(hash, from: material)
    }

    /// Returns a private key as PKCS#8 PEM, after recording the export. The daemon does not see the uses of an exported
    /// key. So once an export is recorded, a roll never treats the key as unused.
    ///
    /// Checks no permits: call ``resolveNow(_:countsAsUse:authorizing:)`` first.
    package func exportPrivateKey(_ hash: PublicKeyHash, for request: Request) async throws -> SecretBytes {
        let now = clock.now
        try await writeBeforeRelease("the private key is not exported") { transaction in
            var keyPair = try transaction.existingKeyPair(hash)
            guard keyPair.state.isActive, keyPair.purpose == .paymentProcessing else {
                throw MerchantError(.keyNotFound, "there is no active key pair with publicKeyHash \(hash)")
            }
            keyPair.exportedAt = now
            try transaction.update(keyPair)
            try transaction.updateIdleTime(ofRollWith: keyPair)
            try transaction.append(
                request.auditEntry(
                    .privateKeyExported, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                    before: keyPair.state.rawValue, after: keyPair.state.rawValue))
        }
        // The custodian reads the store, which may block the thread.
        var privateKey: SecretBytes?
        try await WorkThreads.blocking.run { privateKey = try custodian.exportPrivateKey(hash) }
        guard let privateKey else { throw MerchantError(.internalError, "the private key \(hash) was not exported") }
        return privateKey
    }

    /// Writes to the store what must be stored before a secret leaves the daemon, such as audit records.
    ///
    /// - Parameter consequence: the first words of the error that is thrown if the store cannot be written.
    func writeBeforeRelease(
        _ consequence: String,
        _ body: @escaping @Sendable (any KeyPairWriting & KeyUseReading & RollWriting & ChangeRecording) throws -> Void
    ) async throws {
        do { try await records.write(body) } catch let error as MerchantError where error.code == .storeUnavailable {
            throw MerchantError(
                .storeUnavailable,
                "\(consequence), because the audit cannot be written (looking up keys still works): \(error.detail)",
                retryAfter: error.retryAfter)
        }
    }
}
