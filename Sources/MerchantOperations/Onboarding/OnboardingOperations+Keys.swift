import MerchantCore
package import Vocabulary

extension OnboardingOperations {
    /// All key pairs of the merchant, oldest first.
    ///
    /// - Throws: `merchantNotFound`.
    package func keyPairs(of merchant: MerchantIdentifier, in scope: MerchantScope) async throws -> [KeyView] {
        try await within(scope, merchant) { try await useCases.keys.keyPairs(of: merchant) }
    }

    /// A key pair with its CSR.
    ///
    /// - Throws: `keyNotFound`.
    package func keyPair(_ hash: PublicKeyHash, in scope: MerchantScope) async throws -> KeyView {
        guard try await scope.contains(owner(ofKey: hash)) else { throw MerchantError.keyNotFound(hash) }
        return try await useCases.keys.keyPair(hash)
    }

    /// Generates a payment processing key pair and its CSR.
    ///
    /// - Parameter algorithm: nil stands for EC_v1.
    /// - Throws: `merchantNotFound`; `tooManyPendingKeys` if ``maximumPendingKeyPairs`` key pairs of the merchant wait
    ///   for a certificate.
    package func generateKeyPair(
        for merchant: MerchantIdentifier, algorithm: KeyAlgorithm?, in scope: MerchantScope, for request: Request
    ) async throws -> KeyView {
        try await within(scope, merchant) {
            try await useCases.keys.generateKeyPair(
                for: merchant, algorithm: algorithm, purpose: .paymentProcessing,
                maximumPending: Self.maximumPendingKeyPairs, for: request)
        }
    }

    /// Stores a signed certificate for the key pair that the certificate certifies. A second upload of the same
    /// certificate changes no key pair. The result then says so, and names the key pair whose certificate must be
    /// uploaded now, if there is one: people often upload the certificate of the present key pair instead of the new
    /// one.
    ///
    /// The errors depend only on the certificate and on the merchants in the scope. They do not show whether the
    /// certificate belongs to a key pair of another merchant.
    ///
    /// - Parameters:
    ///   - upload: one certificate, PEM or DER.
    ///   - merchant: the merchant that the key pair must belong to; nil accepts a key pair of any merchant in the
    ///     scope.
    /// - Throws: `merchantNotFound`; `certificateForAnotherMerchant` if Apple issued the certificate for another
    ///   merchant; `certificateWrongKind`; `certificateKeyUnknown`; and the other codes `certificate…` of an upload.
    package func storeCertificate(
        _ upload: [UInt8], for merchant: MerchantIdentifier?, in scope: MerchantScope, for request: Request
    ) async throws -> KeyView {
        if let merchant { return try await store(upload, for: merchant, in: scope, for: request) }
        if let only = scope.only { return try await store(upload, for: only, in: scope, for: request) }
        let facts = try readCertificate(upload)
        let keyPair = try await records.read { try $0.keyPair(facts.publicKeyHash) }
        guard let owner = keyPair?.merchantIdentifier, scope.contains(owner) else { throw Self.unknownKey(facts) }
        return try await store(upload, for: owner, in: scope, for: request)
    }

    private func store(
        _ upload: [UInt8], for merchant: MerchantIdentifier, in scope: MerchantScope, for request: Request
    ) async throws -> KeyView {
        try await within(scope, merchant) {
            _ = try await useCases.merchants.merchant(merchant)
            let facts = try readCertificate(upload)
            try Self.checkOwner(of: facts, is: merchant)
            do {
                let view = try await useCases.certificates.storeCertificate(upload, for: merchant, for: request)
                guard view.isStoredAlready, let awaited = try await progress(of: merchant, in: scope).awaitedKey else {
                    return view
                }
                return view.awaiting(awaited)
            } catch let error as MerchantError
                where error.code == .certificateKeyUnknown || error.code == .certificateForAnotherMerchant
            {
                throw Self.unknownKey(facts)
            }
        }
    }

    /// - Throws: `certificateWrongKind` for a certificate without a merchant; `certificateForAnotherMerchant`.
    private static func checkOwner(
        of facts: CertificateFacts, is merchant: MerchantIdentifier
    ) throws(MerchantError) {
        guard let found = facts.merchantIdentifierHash else {
            throw MerchantError(
                .certificateWrongKind,
                "the certificate, issued to '\(facts.subject)' by '\(facts.issuer)', is not a certificate for Apple Pay: upload the payment processing certificate that Apple issued for the CSR"
            )
        }
        guard found == MerchantIdentifierHash(of: merchant) else {
            throw MerchantError(
                .certificateForAnotherMerchant,
                "Apple issued the certificate for another merchant identifier than \(merchant): create the certificate under \(merchant) in the Apple Developer account, and upload that one"
            )
        }
    }

    /// The error for a certificate that belongs to no key pair in the scope.
    private static func unknownKey(_ facts: CertificateFacts) -> MerchantError {
        guard facts.extendedKeyUsages == nil, !facts.isCertificateAuthority else {
            return MerchantError(
                .certificateWrongKind,
                "the certificate is not a payment processing certificate, but another kind, such as a merchant identity certificate: upload the payment processing certificate that Apple issued for the CSR"
            )
        }
        return MerchantError(
            .certificateKeyUnknown,
            "the certificate was not issued for a CSR of this merchant: its publicKeyHash is \(facts.publicKeyHash) (\(facts.keyTypeName)); download the CSR, create a certificate with it at Apple, and upload that one"
        )
    }
}

// MARK: - Rolls

extension OnboardingOperations {
    /// Starts to replace the merchant's key pair. Returns the open roll if there is one.
    ///
    /// - Parameter algorithm: as for ``RollOperations/startRoll(of:algorithm:for:)``.
    /// - Returns: the roll, and whether this call started it.
    /// - Throws: `merchantNotFound`; `keyStateConflict` if the merchant has reached the limit of pending and active key
    ///   pairs; `overloaded` if another request changed the merchant's keys meanwhile.
    package func startRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm?, in scope: MerchantScope, for request: Request
    ) async throws -> (view: RollView, isNew: Bool) {
        try await within(scope, merchant) {
            try await useCases.rolls.startRoll(of: merchant, algorithm: algorithm, for: request)
        }
    }

    /// What starting a roll would do now.
    ///
    /// - Throws: `merchantNotFound`.
    package func rollPreview(of merchant: MerchantIdentifier, in scope: MerchantScope) async throws -> RollPreview {
        try await within(scope, merchant) { try await useCases.rolls.preview(of: merchant, algorithm: nil) }
    }

    /// The merchant's rolls, newest first, starting before the roll number `cursor`, at most `limit`.
    ///
    /// - Throws: `merchantNotFound`.
    package func rolls(
        of merchant: MerchantIdentifier, before cursor: Int?, limit: Int, in scope: MerchantScope
    ) async throws -> [RollView] {
        try await within(scope, merchant) {
            _ = try await useCases.merchants.merchant(merchant)
            return try await useCases.rolls.rolls(of: merchant, state: nil, before: cursor, limit: limit)
        }
    }

    /// - Throws: `rollNotFound`.
    package func roll(_ number: Int, in scope: MerchantScope) async throws -> RollView {
        guard try await scope.contains(owner(ofRoll: number)) else { throw MerchantError.rollNotFound(number) }
        return try await useCases.rolls.roll(number)
    }
}
