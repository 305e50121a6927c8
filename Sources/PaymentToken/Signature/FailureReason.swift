import CLibCrypto

/// Why a check of a token's signature failed, as a value for programs to compare.
/// ``TokenVerification/Check/finding`` is the human-readable text.
package enum FailureReason: Hashable, Sendable {
    // The structure of the CMS message (RFC 5652). Exactly one signer and one signing certificate are required.
    case notCMS
    case trailingBytes
    case notSignedData
    /// The message contains the signed content, but must be a detached signature.
    case attachedContent
    /// The type of the signed content is not `data`.
    case wrongContentType
    case wrongSignerCount(Int)
    case wrongDigestAlgorithm
    case wrongSignatureAlgorithm
    /// The message contains elements that Apple's signatures do not have.
    case unexpectedElements
    case wrongSignedDataVersion
    /// The set `digestAlgorithms` of the signed data does not consist of SHA-256 alone.
    case wrongDigestAlgorithmSet
    /// The signer is not identified by issuer and serial number.
    case wrongSignerIdentifierForm
    case wrongSignerVersion
    // A signed attribute is missing, repeated, or has a value that is not permitted.
    case invalidContentTypeAttribute
    case invalidMessageDigestAttribute
    case invalidSigningTimeAttribute
    /// The signed attribute CMSAlgorithmProtection cannot be read, or names other algorithms than the signer info.
    case algorithmProtectionMismatch
    /// The number of certificates in the message that the signer identifier matches.
    case wrongSigningCertificateCount(Int)
    // The message digest.
    case digestMismatch
    // The signature.
    /// EC_v1 requires an EC key, and RSA_v1 an RSA key.
    case wrongSigningKeyType
    case signatureMismatch
    // The certificates. Exactly one intermediate is required.
    case wrongIntermediateCount(Int)
    /// A certificate lacks the extension by which Apple marks certificates for payment tokens. A value is true if that
    /// certificate lacks its extension.
    case missingMarkerExtensions(signingCertificate: Bool, intermediate: Bool)
    /// The key usage of the signing certificate does not include digitalSignature.
    case wrongSigningKeyUsage
    case invalidChain(ChainFailure)
    // The environment and the signing time.
    /// The token is from Apple's sandbox, but only tokens of production are accepted.
    case wrongEnvironment
    /// The signing time is more than five minutes before or after the time of receipt.
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
