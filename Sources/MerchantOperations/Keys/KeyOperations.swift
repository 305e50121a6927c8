package import MerchantCore
package import Secrets
package import Vocabulary

/// Generates, imports and lists key pairs.
package struct KeyOperations: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & KeyUseReading,
        any MerchantReading & KeyPairWriting & KeyUseReading & RollReading & ChangeRecording
    >

    private let records: Records
    let custodian: any KeyCustodian
    private let generation: KeyPairGeneration
    private let environment: Environment
    private let clock: any WallClock
    /// Idempotency records expire by the confirmed time, so that a wrong machine clock does not make them expire early.
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, custodian: any KeyCustodian, generation: KeyPairGeneration, environment: Environment,
        clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.custodian = custodian
        self.generation = generation
        self.environment = environment
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// Generates a key pair and its CSR. The private key is on stable storage before this returns.
    ///
    /// - Parameters:
    ///   - algorithm: nil stands for RSA_v1 for an identity key, and for EC_v1 for any other key.
    ///   - maximumPending: the request is refused with `tooManyPendingKeys` if the merchant has this many pending key
    ///     pairs of the purpose; nil for no such limit.
    package func generateKeyPair(
        for identifier: MerchantIdentifier, algorithm: KeyAlgorithm?, purpose: KeyPurpose, maximumPending: Int? = nil,
        for request: Request
    ) async throws -> KeyView {
        let algorithm = algorithm ?? (purpose == .identity ? .rsaV1 : .ecV1)
        guard purpose == .paymentProcessing || algorithm == .rsaV1 else {
            throw MerchantError(
                .keyUnsupported,
                "'algorithm' is \(algorithm.rawValue), expected RSA_v1: Apple certifies only RSA 2048 keys as identity keys"
            )
        }
        // An early refusal saves the generation of a slow key pair.
        var hasTooManyPending = false
        if KeyPairGeneration.isSlow(algorithm) {
            hasTooManyPending = try await records.read { reading in
                _ = try reading.existingMerchant(identifier)
                return try reading.hasPendingKeyPairs(maximumPending, of: identifier, purpose)
            }
        }
        let new = !hasTooManyPending ? try await generation.generate(algorithm, purpose, for: identifier) : nil
        let now = clock.now
        return try await records.write { transaction in
            _ = try transaction.existingMerchant(identifier)
            if let earlier = try request.idempotency.earlierResource(in: transaction),
                let hash = PublicKeyHash(anySpelling: earlier)
            {
                return try transaction.view(try transaction.existingKeyPair(hash), at: now, withCSR: true)
            }
            guard let new, try !transaction.hasPendingKeyPairs(maximumPending, of: identifier, purpose) else {
                throw MerchantError(
                    .tooManyPendingKeys,
                    "\((maximumPending ?? 0).counted("key pair of \(identifier) already waits", "key pairs of \(identifier) already wait")) for a certificate: have one CSR signed by Apple, and upload the certificate"
                )
            }
            let keyPair = try KeyPairGeneration.insert(new, of: identifier, at: now, for: request, in: transaction)
            try request.idempotency.remember(new.publicKeyHash.hex, at: confirmedTime.reading(), in: transaction)
            return KeyView(
                keyPair: keyPair, certificates: [], certificateSigningRequest: new.certificateSigningRequest,
                certificateInUse: nil, use: nil)
        }
    }

    /// Imports an existing private key with its certificate. While the key pair is active, a repeat of the same import
    /// succeeds and changes nothing.
    ///
    /// - Parameters:
    ///   - privateKey: PEM (PKCS#8, SEC1 or PKCS#1, plain or encrypted) or PKCS#12.
    ///   - number: which private key of the file, counted from 1; nil for the only one.
    ///   - passphrase: empty if the private key is not encrypted.
    ///   - upload: one certificate, PEM or DER. nil, or the private key's file again, if that file contains the
    ///     certificate, as PKCS#12 does.
    ///   - state: the state of the imported key pair: `standby`, `current` or `retiring`.
    ///   - allowsExpired: whether the certificate may have expired.
    package func importKeyPair(
        to identifier: MerchantIdentifier, privateKey: borrowing SecretBytes, number: Int? = nil,
        passphrase: borrowing SecretBytes, certificate upload: [UInt8]?, state: KeyState, purpose: KeyPurpose,
        allowsExpired: Bool, for request: Request
    ) async throws -> KeyView {
        guard state.isActive else {
            throw MerchantError(.malformed, "'state' is \(state.rawValue), expected standby, current or retiring")
        }
        try Self.checkKeyNumber(number)
        _ = try await records.read { try $0.existingMerchant(identifier) }
        // Reading a certificate is fast, so a wrong file is refused before the slow import of the private key.
        var isPrivateKeyFile = false
        if let upload { isPrivateKeyFile = privateKey.withUnsafeBytes { $0.elementsEqual(upload) } }
        let uploaded: CertificateFacts?
        do {
            uploaded = try upload.map { try custodian.readCertificate($0) }
        } catch let error as MerchantError where error.code == .privateKeyUploaded && isPrivateKeyFile {
            uploaded = nil
        }
        let imported = try await WorkThreads.imports.run {
            try custodian.importKeyPair(
                privateKey: privateKey, number: number, passphrase: passphrase, purpose: purpose, for: identifier)
        }
        let new = imported.keyPair
        let facts = try uploaded ?? certificate(of: imported)
        let now = clock.now
        let issuer = await custodian.issuerFinding(for: facts, at: now)
        try CertificateRules.check(
            facts, for: (new.publicKeyHash, purpose), of: identifier, issuer: issuer, at: now,
            allowsExpired: allowsExpired)
        let stored = StoredCertificate(facts, issuerVerified: issuer == .verified, storedAt: now)
        return try await records.write { transaction in
            if let earlier = try request.idempotency.earlierResource(in: transaction),
                let hash = PublicKeyHash(anySpelling: earlier)
            {
                return try transaction.view(try transaction.existingKeyPair(hash), at: now)
                    .warningOfIssuer(in: environment)
            }
            _ = try transaction.existingMerchant(identifier)
            if let existing = try transaction.keyPair(new.publicKeyHash) {
                return try Self.repeatImport(
                    of: existing, certificate: stored, to: identifier, at: now, in: transaction
                ).warningOfIssuer(in: environment)
            }
            let keyPair = KeyPair(
                publicKeyHash: new.publicKeyHash, merchantIdentifier: identifier, algorithm: new.algorithm,
                purpose: purpose, origin: .imported, state: state, createdAt: now, stateSince: now)
            try transaction.insert(keyPair, new)
            _ = try transaction.insert(stored, of: keyPair.publicKeyHash)
            try transaction.append(
                request.auditEntry(
                    .keyImported, at: now, merchant: identifier, key: keyPair.publicKeyHash, after: state.rawValue,
                    reason: "\(new.algorithm.rawValue) \(purpose.rawValue), certificate expires \(stored.notAfter)"))
            try request.idempotency.remember(keyPair.publicKeyHash.hex, at: confirmedTime.reading(), in: transaction)
            return try transaction.view(keyPair, at: now).warningOfIssuer(in: environment)
        }
    }

    /// The certificate in an imported private key's file.
    private func certificate(of imported: ImportedKeyPair) throws -> CertificateFacts {
        guard let certificate = imported.certificate else { throw Self.missingCertificate }
        return try custodian.readCertificate(certificate)
    }

    /// All key pairs of the merchant, oldest first.
    package func keyPairs(of identifier: MerchantIdentifier) async throws -> [KeyView] {
        let now = clock.now
        return try await records.read { reading in
            _ = try reading.existingMerchant(identifier)
            return try reading.views(try reading.keyPairs(of: identifier), at: now)
        }
    }

    /// The merchant's pending key pairs, oldest first, with their CSRs.
    package func pendingKeyPairs(of identifier: MerchantIdentifier) async throws -> [KeyView] {
        let now = clock.now
        return try await records.read { reading in
            _ = try reading.existingMerchant(identifier)
            return try reading.keyPairs(of: identifier).filter { $0.state == .pending }
                .map { try reading.view($0, at: now, withCSR: true) }
        }
    }

    package func keyPair(_ hash: PublicKeyHash) async throws -> KeyView {
        let now = clock.now
        return try await records.read { try $0.view(try $0.existingKeyPair(hash), at: now, withCSR: true) }
    }

    /// Key pairs whose publicKeyHash, written in hexadecimal, Base64 or Base64url, starts with `text`.
    ///
    /// - Parameter text: 4 to 64 characters.
    /// - Throws: `malformed` for a text of another length.
    package func keyPairs(prefix text: String, limit: Int) async throws -> [KeyView] {
        guard (4...64).contains(text.utf8.count) else {
            throw MerchantError(
                .malformed,
                "'prefix' has \(text.utf8.count.counted("character")), expected the first 4 to 64 of a publicKeyHash")
        }
        let now = clock.now
        return try await records.read { reading in
            try reading.views(try reading.keyPairs(prefix: text, limit: limit), at: now)
        }
    }

    /// All merchants' key pairs that are in `state`, oldest first, starting after the key pair `cursor`.
    package func keyPairs(
        in state: KeyState, after cursor: PublicKeyHash?, limit: Int
    ) async throws -> [KeyView] {
        let now = clock.now
        return try await records.read { reading in
            if let cursor, try reading.keyPair(cursor) == nil {
                throw MerchantError(
                    .malformed, "'cursor' names no key pair: repeat the list from its start, without 'cursor'")
            }
            return try reading.views(try reading.keyPairs(in: state, after: cursor, limit: limit), at: now)
        }
    }

    /// All merchants' active key pairs whose certificate expires before a time, earliest expiry first, starting after
    /// the key pair `cursor`.
    ///
    /// - Parameter state: nil for all active states.
    /// - Throws: `malformed` for a state that is not active.
    package func keyPairs(
        expiringBefore time: Timestamp, in state: KeyState?, after cursor: PublicKeyHash?, limit: Int
    ) async throws -> [KeyView] {
        if let state, !state.isActive {
            throw MerchantError(
                .malformed,
                "'state' is \(state.rawValue), but 'endingBefore' lists only active key pairs: send standby, current or retiring"
            )
        }
        let now = clock.now
        return try await records.read { reading in
            if let cursor, try reading.keyPair(cursor) == nil {
                throw MerchantError(
                    .malformed, "'cursor' names no key pair: repeat the list from its start, without 'cursor'")
            }
            return try reading.views(
                try reading.keyPairs(expiringBefore: time, in: state, after: cursor, limit: limit), at: now)
        }
    }

    /// The CSR of a key pair, PKCS#10 in DER.
    package func certificateSigningRequest(of hash: PublicKeyHash) async throws -> [UInt8] {
        try await records.read { reading in
            _ = try reading.existingKeyPair(hash)
            guard let request = try reading.certificateSigningRequest(of: hash) else {
                throw MerchantError(.notFound, "key \(hash) has no CSR")
            }
            return request
        }
    }

    /// The result of an import whose private key is stored already: only a repeat of the earlier import succeeds.
    ///
    /// - Throws: `keyBelongsToAnotherMerchant`; `keyExists` if the key pair is not active or does not have this
    ///   certificate.
    private static func repeatImport(
        of existing: KeyPair, certificate: StoredCertificate, to identifier: MerchantIdentifier, at now: Timestamp,
        in transaction: any KeyPairReading & KeyUseReading
    ) throws -> KeyView {
        guard existing.merchantIdentifier == identifier else {
            throw MerchantError(
                .keyBelongsToAnotherMerchant,
                "the key \(existing.publicKeyHash) belongs to another merchant: give each merchant a key pair of its own"
            )
        }
        let hasCertificate = try transaction.certificates(of: existing.publicKeyHash)
            .contains { $0.fingerprint == certificate.fingerprint }
        guard hasCertificate, existing.state.isActive else {
            throw MerchantError(
                .keyExists,
                "the key \(existing.publicKeyHash) exists already and is \(existing.state.rawValue): to add a certificate, upload only the certificate; to use a revoked key again, restore it"
            )
        }
        return try transaction.view(existing, at: now)
    }
}
