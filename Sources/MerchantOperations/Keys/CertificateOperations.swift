package import MerchantCore
package import Vocabulary

/// Stores signed certificates.
package struct CertificateOperations: Sendable {
    private let records: KeyOperations.Records
    private let custodian: any KeyCustodian
    private let environment: Environment
    private let clock: any WallClock

    package init(
        records: KeyOperations.Records, custodian: any KeyCustodian, environment: Environment, clock: any WallClock
    ) {
        self.records = records
        self.custodian = custodian
        self.environment = environment
        self.clock = clock
    }

    /// Stores a signed certificate for the key pair that it certifies. A `pending` key pair becomes `standby`.
    ///
    /// While the key pair is active, a second upload of the same certificate succeeds too. It changes nothing, except
    /// that an issuer that was not verified before is verified if `trust.certificate-issuers` is set now.
    ///
    /// - Parameters:
    ///   - upload: one certificate, PEM or DER.
    ///   - identifier: the merchant that the key pair must belong to; nil accepts the key pair of any merchant.
    package func storeCertificate(
        _ upload: [UInt8], for identifier: MerchantIdentifier?, for request: Request
    ) async throws -> KeyView {
        let facts = try custodian.readCertificate(upload)
        let now = clock.now
        let issuer = await custodian.issuerFinding(for: facts, at: now)
        return try await records.write { transaction in
            let keyPair = try Self.keyPair(for: facts, of: identifier, in: transaction)
            let earlier = try transaction.certificates(of: keyPair.publicKeyHash)
            if let known = earlier.first(where: { $0.fingerprint == facts.fingerprint }), keyPair.state.isActive {
                try Self.verifyIssuer(of: known, facts, issuer, keyPair, at: now, for: request, in: transaction)
                return try transaction.view(keyPair, at: now).warningOfIssuer(in: environment).storedAlready()
            }
            let state = try KeyLifecycle.state(after: .certificateStored, from: keyPair.state)
            try CertificateRules.check(
                facts, for: (keyPair.publicKeyHash, keyPair.purpose), of: keyPair.merchantIdentifier, issuer: issuer,
                at: now, allowsExpired: false)
            var after = keyPair
            if state != keyPair.state {
                after.state = state
                after.stateSince = now
                try transaction.update(after)
            }
            let stored = StoredCertificate(facts, issuerVerified: issuer == .verified, storedAt: now)
            _ = try transaction.insert(stored, of: keyPair.publicKeyHash)
            try transaction.append(
                request.auditEntry(
                    .certificateStored, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
                    before: keyPair.state.rawValue, after: after.state.rawValue,
                    reason: "serial \(stored.serialNumber), expires \(stored.notAfter)"))
            try transaction.append(.stored(stored, of: after, at: now, in: transaction))
            return try transaction.view(after, at: now).warningOfIssuer(in: environment)
        }
    }

    /// Verifies the issuer of a stored certificate, if the setting `trust.certificate-issuers` was not set when the
    /// certificate was stored, and is set now.
    ///
    /// - Throws: `certificateIssuerUntrusted`.
    private static func verifyIssuer(
        of known: StoredCertificate, _ facts: CertificateFacts, _ issuer: IssuerFinding, _ keyPair: KeyPair,
        at now: Timestamp, for request: Request, in transaction: any KeyPairWriting & ChangeRecording
    ) throws {
        guard !known.issuerVerified, issuer != .notConfigured else { return }
        try CertificateRules.check(
            facts, for: (keyPair.publicKeyHash, keyPair.purpose), of: keyPair.merchantIdentifier, issuer: issuer,
            at: now, allowsExpired: true)
        try transaction.markIssuerVerified(known, of: keyPair.publicKeyHash)
        try transaction.append(
            request.auditEntry(
                .certificateIssuerVerified, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
                reason: "serial \(known.serialNumber), issued by \(known.issuer)"))
    }

    /// The key pair that a certificate certifies.
    ///
    /// - Parameter identifier: the merchant that the key pair must belong to; nil accepts the key pair of any merchant.
    /// - Throws: `certificateKeyUnknown`; `certificateForAnotherMerchant`; `merchantNotFound`.
    private static func keyPair(
        for facts: CertificateFacts, of identifier: MerchantIdentifier?,
        in transaction: any MerchantReading & KeyPairReading
    ) throws -> KeyPair {
        if let identifier { _ = try transaction.existingMerchant(identifier) }
        guard let keyPair = try transaction.keyPair(facts.publicKeyHash) else {
            throw MerchantError(
                .certificateKeyUnknown,
                "no key pair has the certificate's publicKeyHash \(facts.publicKeyHash) (\(facts.keyTypeName)): upload a certificate that Apple issued for a CSR of this daemon"
            )
        }
        if let identifier, identifier != keyPair.merchantIdentifier {
            throw MerchantError(
                .certificateForAnotherMerchant,
                "the certificate's key \(facts.publicKeyHash) does not belong to \(identifier): upload the certificate for the merchant whose CSR was signed"
            )
        }
        return keyPair
    }
}
