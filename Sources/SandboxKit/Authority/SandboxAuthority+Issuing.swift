package import Vocabulary
import X509

/// The certificates portal: a CSR goes in, a signed certificate comes out.
extension SandboxAuthority {
    /// 760 days, as on every real certificate seen ("25 months" in Apple's words).
    private static let certificateLife = Duration.seconds(760 * 86_400)

    /// Signs a merchant's CSR as Apple does: the names come from the account, not from the CSR.
    ///
    /// - Parameters:
    ///   - csr: PKCS#10, PEM or DER.
    ///   - notAfter: one second before 760 days after `notBefore`, unless given.
    /// - Returns: the certificate's DER, what Apple's portal calls a `.cer` file.
    /// - Throws: ``SandboxFault`` for a CSR that Apple's portal would refuse.
    package func issue(
        csr: [UInt8], merchant: MerchantIdentifier, purpose: KeyPurpose = .paymentProcessing, notBefore: Timestamp,
        notAfter: Timestamp? = nil
    ) throws -> [UInt8] {
        let request = try SigningRequest(csr, purpose: purpose)
        let end = notAfter ?? notBefore.adding(Self.certificateLife - .seconds(1))
        guard notBefore < end else {
            throw SandboxFault("found an end of validity at \(end), expected one after \(notBefore)")
        }
        let template = CertificateTemplate(
            subject: try SandboxName.merchant(merchant, purpose: purpose),
            role: purpose == .identity ? .identity(merchant) : .paymentProcessing(merchant), notBefore: notBefore,
            notAfter: end)
        let issuer = self[purpose == .identity ? .identityIssuer : .processingIssuer]
        return try TLV.der(issuer.certify(template, publicKey: request.publicKey))
    }
}
