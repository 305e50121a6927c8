import Crypto
import Vocabulary

extension ApplePayToken {
    /// Returns everything that can be read without a key.
    ///
    /// This method never fails. A property that cannot be read is nil, and the list of certificates omits those that
    /// cannot be read.
    public func inspection() -> TokenInspection {
        let message = CMSMessage(signature)
        let signers = message?.signers ?? []
        let signer = signers.count == 1 ? signers[0] : nil
        let time = signer?.value(of: OID.signingTime)
        let certificates = message?.certificates ?? []
        let leaves = certificates.filter { signer?.identifies($0) == true }
        return TokenInspection(
            version: version, publicKeyHash: publicKeyHash.base64, transactionId: transactionId.hex,
            applicationDataHash: applicationDataHash.map { Hex.encode($0) }, keyMaterialLength: keyMaterial.bytes.count,
            ciphertextLength: data.count - Self.tagLength, signatureLength: signature.count,
            signingTime: time.flatMap { ASN1Time(tag: $0.tag, $0.bytes) }?.date,
            environment: leaves.count == 1 ? TokenEnvironment(signerCommonNames: leaves[0].subjectCommonNames) : nil,
            certificates: certificates.map { certificate in
                TokenInspection.Certificate(certificate, isSigner: leaves.contains { $0 === certificate })
            })
    }
}

extension TokenInspection.Certificate {
    init(_ certificate: X509Certificate, isSigner: Bool) {
        self.isSigner = isSigner
        subject = certificate.subjectCommonNames.first ?? ""
        issuer = certificate.issuerCommonNames.first ?? ""
        serialNumber = Hex.encode(certificate.serialNumber)
        notBefore = certificate.notBefore?.date
        notAfter = certificate.notAfter?.date
        extensionOIDs = certificate.extensionOIDs.map(OID.dotted)
        sha256Fingerprint = Hex.encode(SHA256.hash(data: certificate.derRepresentation))
    }
}
