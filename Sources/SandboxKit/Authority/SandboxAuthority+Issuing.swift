package import Vocabulary
import X509

/// Issues merchants' certificates for CSRs, as Apple's developer portal does.
extension SandboxAuthority {
    /// 760 days, as in all certificates of Apple that the authors have seen. Apple documents 25 months.
    private static let validityPeriod = Duration.seconds(760 * 86_400)

    /// Issues a certificate for a merchant's CSR. Like Apple, ignores the subject of the CSR.
    ///
    /// - Parameters:
    ///   - csr: a PKCS#10 CSR, PEM or DER.
    ///   - notAfter: the end of the validity period; if nil, one second less than 760 days after `notBefore`, because
    ///     RFC 5280 counts both ends as part of the period.
    /// - Returns: the certificate in DER, the content of the `.cer` file that Apple's portal offers.
    /// - Throws: ``SandboxError`` for a CSR that Apple's portal would reject, and for an empty validity period.
    package func issue(
        csr: [UInt8], merchant: MerchantIdentifier, purpose: KeyPurpose = .paymentProcessing, notBefore: Timestamp,
        notAfter: Timestamp? = nil
    ) throws -> [UInt8] {
        let request = try SigningRequest(csr, purpose: purpose)
        let end = notAfter ?? notBefore.adding(Self.validityPeriod - .seconds(1))
        guard notBefore < end else {
            throw SandboxError("notAfter \(end) must be later than notBefore \(notBefore)")
        }
        let template = CertificateTemplate(
            subject: try SandboxName.merchant(merchant, purpose: purpose),
            role: purpose == .identity ? .identity(merchant) : .paymentProcessing(merchant), notBefore: notBefore,
            notAfter: end)
        let issuer = self[purpose == .identity ? .identityIssuer : .processingIssuer]
        return try TLV.der(issuer.certify(template, publicKey: request.publicKey))
    }
}
