import CLibCrypto

/// Why a check of a token's signature failed, as a value for programs to compare.
/// ``TokenVerification/Check/finding`` is the human-readable text.
package enum FailureReason: Hashable, Sendable {
    // The structure of the CMS message (RFC 5652). Exactly one signer and one signing certificate are required.
    case notCMS
    case trailingBytes
    case notSignedData
    case attachedContent
    case wrongContentType
    case wrongSignerCount(Int)
    case wrongDigestAlgorithm
    case wrongSignatureAlgorithm
    case unexpectedElements
    case wrongSignedDataVersion
    /// The set `digestAlgorithms` of the signed data does not consist of SHA-256 alone.
    case wrongDigestAlgorithmSet
    case wrongSignerIdentifierForm
    case wrongSignerVersion
    case invalidContentTypeAttribute
    case invalidMessageDigestAttribute
    case invalidSigningTimeAttribute
    case algorithmProtectionMismatch
    case wrongSigningCertificateCount(Int)
    // The message digest.
    case digestMismatch
    // The signature.
    case wrongSigningKeyType
    case signatureMismatch
    // The certificates. Exactly one intermediate is required.
    case wrongIntermediateCount(Int)
    /// Which of the two certificates lack the extension by which Apple marks certificates for payment tokens.
    case missingMarkerExtensions(signingCertificate: Bool, intermediate: Bool)
    case wrongSigningKeyUsage
    case invalidChain(ChainFailure)
    // The environment and the signing time.
    case wrongEnvironment
    case outsideTimeWindow
}

/// Why a certificate chain is not valid.
package enum ChainFailure: Hashable, Sendable {
    case expired
    case notYetValid
    case signatureMismatch
    case issuerNotFound
    case notCertificateAuthority
    /// The chain does not consist of the signing certificate, the intermediate and a trusted root.
    case unexpectedChain
    /// Any other error of libcrypto's `X509_verify_cert`.
    case other(code: Int32)

    /// - Parameter code: a constant `X509_V_ERR_…`, as `X509_STORE_CTX_get_error` returns it.
    init(code: Int32) {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: self = .signatureMismatch
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY: self = .issuerNotFound
        case X509_V_ERR_INVALID_CA: self = .notCertificateAuthority
        default: self = .other(code: code)
        }
    }
}
