extension CertificateFinding {
    /// The codes of all findings. The raw value is ``CertificateFinding/code``.
    public enum Code: String, Sendable, CaseIterable {
        /// ``CertificateFinding/wrongCertificateCount(_:)``
        case wrongCertificateCount
        /// ``CertificateFinding/sameCertificateTwice``
        case sameCertificateTwice
        /// ``CertificateFinding/invalidBase64(position:)``
        case invalidBase64
        /// ``CertificateFinding/base64Twice(position:)``
        case base64Twice
        /// ``CertificateFinding/base64InsteadOfDER(position:)``
        case base64InsteadOfDER
        /// ``CertificateFinding/pemInsteadOfDER(position:)``
        case pemInsteadOfDER
        /// ``CertificateFinding/malformedCertificate(position:)``
        case malformedCertificate
        /// ``CertificateFinding/unsupportedAlgorithm(position:)``
        case unsupportedAlgorithm
        /// ``CertificateFinding/noRoots``
        case noRoots
        /// ``CertificateFinding/malformedRoot(position:)``
        case malformedRoot
        /// ``CertificateFinding/notARoot(position:)``
        case notARoot
        /// ``CertificateFinding/testCertificate(_:commonName:)``
        case testCertificate
        /// ``CertificateFinding/unexpectedSubCA(commonName:)``
        case unexpectedSubCA
        /// ``CertificateFinding/selfSignedLeaf``
        case selfSignedLeaf
        /// ``CertificateFinding/namesDoNotChain(leafIssuer:subCASubject:)``
        case namesDoNotChain
        /// ``CertificateFinding/untrustedRoot(subCAIssuer:)``
        case untrustedRoot
        /// ``CertificateFinding/weakSignatureAlgorithm(_:algorithm:)``
        case weakSignatureAlgorithm
        /// ``CertificateFinding/invalidSignature(_:)``
        case invalidSignature
        /// ``CertificateFinding/malformedExtension(_:identifier:)``
        case malformedExtension
        /// ``CertificateFinding/subCANotAuthority``
        case subCANotAuthority
        /// ``CertificateFinding/leafIsAuthority``
        case leafIsAuthority
        /// ``CertificateFinding/wrongKeyUsage(_:found:)``
        case wrongKeyUsage
        /// ``CertificateFinding/markerMissing``
        case markerMissing
        /// ``CertificateFinding/markerNotCritical``
        case markerNotCritical
        /// ``CertificateFinding/markerNotNull``
        case markerNotNull
        /// ``CertificateFinding/unknownCriticalExtension(_:identifier:)``
        case unknownCriticalExtension
        /// ``CertificateFinding/wrongLeafKey(found:)``
        case wrongLeafKey
        /// ``CertificateFinding/notYetValid(_:from:)``
        case notYetValid
        /// ``CertificateFinding/expired(_:since:)``
        case expired
    }

    /// The kind of fault.
    public var kind: Code {
        switch self {
        case .wrongCertificateCount: .wrongCertificateCount
        case .sameCertificateTwice: .sameCertificateTwice
        case .invalidBase64: .invalidBase64
        case .base64Twice: .base64Twice
        case .base64InsteadOfDER: .base64InsteadOfDER
        case .pemInsteadOfDER: .pemInsteadOfDER
        case .malformedCertificate: .malformedCertificate
        case .unsupportedAlgorithm: .unsupportedAlgorithm
        case .noRoots: .noRoots
        case .malformedRoot: .malformedRoot
        case .notARoot: .notARoot
        case .testCertificate: .testCertificate
        case .unexpectedSubCA: .unexpectedSubCA
        case .selfSignedLeaf: .selfSignedLeaf
        case .namesDoNotChain: .namesDoNotChain
        case .untrustedRoot: .untrustedRoot
        case .weakSignatureAlgorithm: .weakSignatureAlgorithm
        case .invalidSignature: .invalidSignature
        case .malformedExtension: .malformedExtension
        case .subCANotAuthority: .subCANotAuthority
        case .leafIsAuthority: .leafIsAuthority
        case .wrongKeyUsage: .wrongKeyUsage
        case .markerMissing: .markerMissing
        case .markerNotCritical: .markerNotCritical
        case .markerNotNull: .markerNotNull
        case .unknownCriticalExtension: .unknownCriticalExtension
        case .wrongLeafKey: .wrongLeafKey
        case .notYetValid: .notYetValid
        case .expired: .expired
        }
    }

    /// The raw value of ``kind``.
    public var code: String { kind.rawValue }
}
