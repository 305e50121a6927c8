import Crypto
import Vocabulary

extension ApplePayToken {
    /// Everything that can be read without a key. Never fails: what does not read is left out.
    public func inspection() -> TokenInspection {
        let message = CMSMessage(signature)
        let time = message?.signers.first?.value(of: OID.signingTime)
        return TokenInspection(
            version: version, publicKeyHash: publicKeyHash.base64, transactionId: transactionId.hex,
            applicationDataHash: applicationDataHash.map { Hex.encode($0) },
            ciphertextLength: data.count - Self.tagLength, signatureLength: signature.count,
            signingTime: time.flatMap { ASN1Time(tag: $0.tag, $0.bytes) }?.date,
            certificates: message.map { $0.certificates.map(TokenInspection.Certificate.init) } ?? [])
    }
}

extension TokenInspection.Certificate {
    init(_ certificate: X509Certificate) {
        subject = certificate.subjectCommonNames.first ?? ""
        issuer = certificate.issuerCommonNames.first ?? ""
        serialNumber = Hex.encode(certificate.serialNumber)
        notBefore = certificate.notBefore?.date
        notAfter = certificate.notAfter?.date
        extensionOIDs = certificate.extensionOIDs.map(OID.dotted)
        sha256Fingerprint = Hex.encode(SHA256.hash(data: certificate.derRepresentation))
    }
}
