package import MerchantCore
package import Vocabulary

/// A key pair with its certificates and its observed use.
package struct KeyView: Sendable {
    package let keyPair: KeyPair
    package let certificates: [StoredCertificate]
    /// The CSR, PKCS#10 in DER; nil if the key pair has none, or if the view was read without it.
    package let certificateSigningRequest: [UInt8]?
    /// The certificate that decryptors get together with the key pair, at the time at which this view was read; nil if
    /// the key pair has no certificate.
    package let certificateInUse: StoredCertificate?
    /// nil if no use was observed.
    package let use: KeyUse?
    /// Warnings for the caller of a request that uploads a certificate or imports a key pair.
    package private(set) var warnings: [String] = []
    /// Whether the request uploaded a certificate that was stored before, so that it changed no key pair.
    package private(set) var isStoredAlready = false
    /// The key pair whose certificate the merchant must upload now, if a request on the portal uploaded a certificate
    /// that was stored before; nil if there is no such key pair, and for other requests.
    package private(set) var awaitedKey: PublicKeyHash?

    /// The same view, for an upload of a certificate that was stored before.
    func storedAlready() -> KeyView {
        var view = self
        view.isStoredAlready = true
        return view
    }

    /// The same view, for an upload of a certificate that was stored before, although the certificate of another key
    /// pair must be uploaded now.
    func awaiting(_ hash: PublicKeyHash) -> KeyView {
        var view = self
        view.awaitedKey = hash
        view.warnings.append(
            "this certificate of the key \(keyPair.publicKeyHash) was stored already, and nothing was changed: upload the certificate that Apple issued for the CSR of the key \(hash)"
        )
        return view
    }

    /// The same view. Warns if the issuer of the certificate in use was not verified, unless this is a sandbox, in
    /// which the certificates are only for tests.
    func warningOfIssuer(in environment: Environment) -> KeyView {
        guard environment == .production, let certificate = certificateInUse, !certificate.issuerVerified else {
            return self
        }
        var view = self
        view.warnings.append(
            "the daemon did not verify that Apple issued the certificate (serial number \(certificate.serialNumber)), because the setting trust.certificate-issuers is not set: tokens for the key fail if the certificate is not Apple's"
        )
        return view
    }
}

extension KeyView {
    fileprivate init(
        _ keyPair: KeyPair, _ certificates: [StoredCertificate], _ use: KeyUse?,
        certificateSigningRequest: [UInt8]? = nil, at now: Timestamp
    ) {
        self.keyPair = keyPair
        self.certificates = certificates
        self.certificateSigningRequest = certificateSigningRequest
        certificateInUse = certificates.certificateInUse(at: now)
        self.use = use
    }
}

extension KeyPairReading where Self: KeyUseReading {
    func view(_ keyPair: KeyPair, at now: Timestamp, withCSR: Bool = false) throws -> KeyView {
        let hash = keyPair.publicKeyHash
        return KeyView(
            keyPair, try certificates(of: hash), try keyUse(of: hash),
            certificateSigningRequest: withCSR ? try certificateSigningRequest(of: hash) : nil, at: now)
    }

    /// The views of several key pairs, without their CSRs. Reads the certificates and the uses of all of them at once.
    func views(_ keyPairs: [KeyPair], at now: Timestamp) throws -> [KeyView] {
        let hashes = keyPairs.map(\.publicKeyHash)
        let (certificates, uses) = (try certificates(of: hashes), try keyUses(of: hashes))
        return keyPairs.map { keyPair in
            let hash = keyPair.publicKeyHash
            return KeyView(keyPair, certificates[hash] ?? [], uses[hash], at: now)
        }
    }
}

extension KeyPairReading {
    /// - Throws: `keyNotFound`.
    func existingKeyPair(_ hash: PublicKeyHash) throws -> KeyPair {
        guard let keyPair = try keyPair(hash) else { throw MerchantError.keyNotFound(hash) }
        return keyPair
    }

    /// The current key pair of the same merchant, purpose and algorithm.
    func currentKeyPair(matching keyPair: KeyPair) throws -> KeyPair? {
        try keyPairs(of: keyPair.merchantIdentifier).first {
            $0.state == .current && $0.purpose == keyPair.purpose && $0.algorithm == keyPair.algorithm
        }
    }

    /// Whether the merchant has at least `count` pending key pairs of the purpose; false if `count` is nil.
    func hasPendingKeyPairs(_ count: Int?, of merchant: MerchantIdentifier, _ purpose: KeyPurpose) throws -> Bool {
        guard let count else { return false }
        return try keyPairs(of: merchant).count { $0.purpose == purpose && $0.state == .pending } >= count
    }

    func countActivePaymentProcessingKeyPairs(of merchant: MerchantIdentifier) throws -> Int {
        try keyPairSummaries(of: [merchant])[merchant]?.active ?? 0
    }
}
