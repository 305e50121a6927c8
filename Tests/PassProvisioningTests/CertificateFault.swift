import Crypto
import CryptoExtras
import FoundationEssentials
import PassProvisioning
import SwiftASN1
import Testing
import X509

/// One change of a valid chain, and the findings that it must cause.
struct CertificateFault: Sendable, CustomTestStringConvertible {
    let name: String
    let codes: [CertificateFinding.Code]
    let change: @Sendable (inout TestChain) throws -> Void

    init(
        _ name: String, _ codes: CertificateFinding.Code...,
        change: @escaping @Sendable (inout TestChain) throws -> Void
    ) {
        self.name = name
        self.codes = codes
        self.change = change
    }

    var testDescription: String { name }

    static let all = chain + authorities + keyUsages + markers + criticalExtensions + keys + names + times

    /// Shared by all tests, because generating an RSA key is slow.
    private static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    private static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
    private static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
    private static let nameConstraints: ASN1ObjectIdentifier = [2, 5, 29, 30]
    private static let tokenSigner: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 29]

    private static let chain = [
        CertificateFault("the leaf names another issuer", .namesDoNotChain) { $0.leaf.issuer = "Other CA" },
        CertificateFault("another key signed the leaf", .invalidSignature) {
            $0.leaf.signer = .init(P256.Signing.PrivateKey())
        },
        CertificateFault("the leaf signed itself", .selfSignedLeaf) {
            $0.leaf.issuer = $0.leaf.subject
            $0.leaf.signer = .init(try P256.Signing.PrivateKey(rawRepresentation: $0.leafKey.rawRepresentation))
        },
        CertificateFault("the root is not trusted", .untrustedRoot) { $0.subCA.issuer = "Other root" },
        CertificateFault("the sub-CA signed itself", .untrustedRoot) {
            $0.subCA.issuer = $0.subCA.subject
            $0.subCA.signer = .init($0.subCAKey)
        },
        CertificateFault("another key signed the sub-CA", .invalidSignature) {
            $0.subCA.signer = .init(P384.Signing.PrivateKey())
        },
        CertificateFault("the leaf is signed with SHA-1", .weakSignatureAlgorithm) {
            let key = try rsaKey.get()
            $0.subCA.publicKey = .init(key.publicKey)
            $0.leaf.signer = .init(key)
            $0.leaf.algorithm = .sha1WithRSAEncryption
        },
        CertificateFault("the sub-CA is signed with SHA-1", .weakSignatureAlgorithm) {
            let key = try rsaKey.get()
            $0.root.publicKey = .init(key.publicKey)
            $0.root.signer = .init(key)
            $0.root.algorithm = .sha256WithRSAEncryption
            $0.subCA.signer = .init(key)
            $0.subCA.algorithm = .sha1WithRSAEncryption
        },
    ]

    private static let authorities = [
        CertificateFault("the sub-CA has no basic constraints", .subCANotAuthority) {
            $0.subCA.basicConstraints = nil
        },
        CertificateFault("the sub-CA is no authority", .subCANotAuthority) {
            $0.subCA.basicConstraints = .notCertificateAuthority
        },
        CertificateFault("the leaf is an authority", .leafIsAuthority) {
            $0.leaf.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
        },
        CertificateFault("the basic constraints of the leaf are malformed", .malformedExtension) {
            $0.leaf.basicConstraints = nil
            $0.leaf.otherExtensions.append(malformed(basicConstraints))
        },
        CertificateFault("the basic constraints of the sub-CA are malformed", .malformedExtension) {
            $0.subCA.basicConstraints = nil
            $0.subCA.otherExtensions.append(malformed(basicConstraints))
        },
    ]

    private static let keyUsages = [
        CertificateFault("the leaf is for signatures", .wrongKeyUsage) {
            $0.leaf.keyUsage = KeyUsage(digitalSignature: true)
        },
        CertificateFault("the leaf has no key usage", .wrongKeyUsage) { $0.leaf.keyUsage = nil },
        CertificateFault("the sub-CA signs only revocation lists", .wrongKeyUsage) {
            $0.subCA.keyUsage = KeyUsage(cRLSign: true)
        },
        CertificateFault("the sub-CA has no key usage", .wrongKeyUsage) { $0.subCA.keyUsage = nil },
        CertificateFault("the key usage of the leaf is malformed", .malformedExtension) {
            $0.leaf.keyUsage = nil
            $0.leaf.otherExtensions.append(malformed(keyUsage))
        },
        CertificateFault("the key usage of the sub-CA is malformed", .malformedExtension) {
            $0.subCA.keyUsage = nil
            $0.subCA.otherExtensions.append(malformed(keyUsage))
        },
    ]

    private static let markers = [
        CertificateFault("the marker is missing", .markerMissing) { $0.leaf.otherExtensions = [] },
        CertificateFault("the leaf has another marker", .markerMissing) {
            $0.leaf.otherExtensions = [.init(oid: tokenSigner, critical: false, value: TestChain.null[...])]
        },
        CertificateFault("the leaf has another critical marker", .markerMissing, .unknownCriticalExtension) {
            $0.leaf.otherExtensions = [.init(oid: tokenSigner, critical: true, value: TestChain.null[...])]
        },
        CertificateFault("the marker is not critical", .markerNotCritical) {
            $0.leaf.otherExtensions = [.init(oid: TestChain.marker, critical: false, value: TestChain.null[...])]
        },
        CertificateFault("the marker is an empty octet string", .markerNotNull) {
            $0.leaf.otherExtensions = [.init(oid: TestChain.marker, critical: true, value: [0x04, 0x00])]
        },
        CertificateFault("the marker has no value", .markerNotNull) {
            $0.leaf.otherExtensions = [.init(oid: TestChain.marker, critical: true, value: [])]
        },
    ]

    private static let criticalExtensions = [
        CertificateFault("the leaf has an unknown critical extension", .unknownCriticalExtension) {
            $0.leaf.otherExtensions.append(.init(oid: [1, 2, 3, 4], critical: true, value: TestChain.null[...]))
        },
        CertificateFault("the sub-CA has critical name constraints", .unknownCriticalExtension) {
            $0.subCA.otherExtensions.append(.init(oid: nameConstraints, critical: true, value: [0x30, 0x00]))
        },
        CertificateFault("the sub-CA has the marker of the leaf", .unknownCriticalExtension) {
            $0.subCA.otherExtensions.append(
                .init(oid: TestChain.marker, critical: true, value: TestChain.null[...]))
        },
    ]

    private static let keys = [
        CertificateFault("the leaf has a P-384 key", .wrongLeafKey) {
            $0.leaf.publicKey = .init(P384.Signing.PrivateKey().publicKey)
        },
        CertificateFault("the leaf has a P-521 key", .wrongLeafKey) {
            $0.leaf.publicKey = .init(P521.Signing.PrivateKey().publicKey)
        },
        CertificateFault("the leaf has an Ed25519 key", .wrongLeafKey) {
            $0.leaf.publicKey = .init(Curve25519.Signing.PrivateKey().publicKey)
        },
        CertificateFault("the leaf has an RSA key", .wrongLeafKey) {
            $0.leaf.publicKey = .init(try rsaKey.get().publicKey)
        },
    ]

    private static let names = [
        CertificateFault("the sub-CA has another name", .unexpectedSubCA) {
            $0.subCA.subject = "Apple Worldwide Developer Relations CA - G3"
            $0.leaf.issuer = $0.subCA.subject
        },
        CertificateFault("the leaf is of a test environment", .testCertificate) {
            $0.leaf.subject = "ecc-crypto-services-encipherment_UC6-InMemory"
        },
        CertificateFault("the sub-CA is of a test environment", .testCertificate) {
            $0.subCA.subject = "Test Apple Worldwide Developers Relations CA - ECC"
            $0.leaf.issuer = $0.subCA.subject
        },
    ]

    private static let times = [
        CertificateFault("the leaf is not yet valid", .notYetValid) { $0.leaf.notBefore = TestChain.now + 1 },
        CertificateFault("the leaf has expired", .expired) { $0.leaf.notAfter = TestChain.now - 1 },
        CertificateFault("the sub-CA is not yet valid", .notYetValid) { $0.subCA.notBefore = TestChain.now + 1 },
        CertificateFault("the sub-CA has expired", .expired) { $0.subCA.notAfter = TestChain.now - 1 },
        CertificateFault("the root has expired", .expired) { $0.root.notAfter = TestChain.now - 1 },
        CertificateFault("the whole chain has expired", .expired, .expired, .expired) {
            $0.root.notAfter = TestChain.now - 1
            $0.subCA.notAfter = TestChain.now - 1
            $0.leaf.notAfter = TestChain.now - 1
        },
    ]

    private static func malformed(_ identifier: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: identifier, critical: true, value: [0x04, 0x00])
    }
}
