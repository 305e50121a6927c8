import CLibCrypto

/// The reason why a check of a token's signature failed, which programs can compare.
/// ``TokenVerification/Check/finding`` is the human-readable text.
package enum FailureReason: Hashable, Sendable {
    // The structure of the CMS message.
    case notCMS
    case trailingBytes
    case notSignedData
    case attachedContent
    case contentType
    case signerCount(Int)
    case digestAlgorithm
    case signatureAlgorithm
    case unexpectedElements
    case signedDataVersion
    case digestAlgorithmSet
    case signerIdentifier
    case signerVersion
    case contentTypeAttribute
    case messageDigestAttribute
    case signingTimeAttribute
    case algorithmProtectionAttribute
    case signingCertificateCount(Int)
    // The message digest.
    case digestMismatch
    // The signature.
    case signingKeyType
    case signatureMismatch
    // The markers and the certificate chain.
    case intermediateCount(Int)
    case missingMarkers(signingCertificate: Bool, intermediate: Bool)
    case signingKeyUsage
    case chain(ChainFailure)
    // The environment and the signing time.
    case environment
    case outsideTimeWindow
}

/// The reason why a certificate chain is not valid.
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
