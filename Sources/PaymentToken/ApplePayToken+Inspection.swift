import Crypto
import Vocabulary

extension ApplePayToken {
    /// Returns everything that can be read without a key. Nothing is verified.
    ///
    /// This method never fails. An optional property is nil if it cannot be read, and the list of certificates omits
    /// certificates that cannot be read.
    public func inspection() -> TokenInspection {
        let message = CMSMessage(signature)
        let signers = message?.signers ?? []
        let signer = signers.count == 1 ? signers[0] : nil
        let signingTime = signer?.value(of: OID.signingTime)
        let certificates = message?.certificates ?? []
        let signingCertificates = certificates.filter { signer?.identifies($0) == true }
        return TokenInspection(
            version: version, publicKeyHash: publicKeyHash.base64, transactionId: transactionId.hex,
            applicationDataHash: applicationDataHash.map { Hex.encode($0) }, keyMaterialLength: keyMaterial.bytes.count,
            ciphertextLength: data.count - MessageEncryption.tagLength, signatureLength: signature.count,
            signingTime: signingTime.flatMap { ASN1Time(tag: $0.tag, $0.bytes) }?.date,
            environment: signingCertificates.count == 1
                ? TokenEnvironment(signerCommonNames: signingCertificates[0].subjectCommonNames) : nil,
            certificates: certificates.map { certificate in
                TokenInspection.Certificate(certificate, isSigner: signingCertificates.contains { $0 === certificate })
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
