import MerchantCore
package import MerchantOperations
import Vocabulary
package import WireAPI

extension KeyDocument {
    package init(_ view: KeyView) {
        let keyPair = view.keyPair
        self.init(
            keyPair.publicKeyHash, of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm,
            purpose: keyPair.purpose, origin: keyPair.origin.rawValue, createdAt: keyPair.createdAt,
            state: keyPair.state, since: keyPair.stateSince)
        notBefore = view.certificateInUse?.notBefore
        notAfter = view.certificateInUse?.notAfter
        revocationReason = keyPair.revocationReason
        destroyAfter = keyPair.destroyAfter
        exportedAt = keyPair.exportedAt
        certificates = view.certificates.sorted { ($0.notBefore, $0.storedAt) > ($1.notBefore, $1.storedAt) }
            .map(CertificateDocument.init)
        csr = view.certificateSigningRequest.map { PEM.encode($0, label: "CERTIFICATE REQUEST") }
        use = view.use.map(KeyUseDocument.init)
        warnings = view.warnings.isEmpty ? nil : view.warnings
        alreadyStored = view.isStoredAlready ? true : nil
        awaitedPublicKeyHash = view.awaitedKey
    }
}

extension KeyUseDocument {
    init(_ use: KeyUse) {
        self.init()
        requests = use.requests.map(UseSummary.init)
        decryptions = use.decryptions.map(UseSummary.init)
    }
}

extension KeyUseDocument.UseSummary {
    init(_ use: Occurrences) { self.init(use.count, from: use.first, to: use.last) }
}

extension CertificateDocument {
    init(_ certificate: StoredCertificate) {
        self.init(
            pem: PEM.encode(certificate.der, label: "CERTIFICATE"), fingerprint: Hex.encode(certificate.fingerprint),
            identification: (certificate.subject, certificate.issuer, certificate.serialNumber),
            validFrom: certificate.notBefore, to: certificate.notAfter, storedAt: certificate.storedAt)
        issuerVerified = certificate.issuerVerified
    }
}
