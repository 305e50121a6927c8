import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// Checks the chain of leaf, sub-CA and trusted root.
///
/// This type makes each check itself instead of calling a general path validator, because the chain always has three
/// certificates and each fault must have its own finding. If an earlier fault would make a later check fail too, the
/// later check is not made.
///
/// Source: Apple's Security framework, `SecPolicyCreateApplePayIssuerEncryption`; RFC 5280 sections 4.2 and 6.
struct ProvisioningChainCheck {
    private static let acceptedAlgorithms: Set<Certificate.SignatureAlgorithm> = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512, .sha256WithRSAEncryption, .sha384WithRSAEncryption,
        .sha512WithRSAEncryption,
    ]

    let leaf: Certificate
    let subCA: Certificate
    let trust: ProvisioningTrust
    private(set) var findings: [CertificateFinding] = []
    /// Whether a trusted root has the name of the sub-CA's issuer.
    private let isRootNamed: Bool
    /// The trusted root that signed the sub-CA; nil if there is none, or if the signature algorithm is not accepted.
    private let issuingRoot: Certificate?
    /// The leaf's key; nil if it is not on the curve P-256.
    let leafKey: P256.KeyAgreement.PublicKey?

    init(leaf: Certificate, subCA: Certificate, trust: ProvisioningTrust) {
        self.leaf = leaf
        self.subCA = subCA
        self.trust = trust
        leafKey = leaf.agreementKey
        let candidates = trust.roots.filter { $0.subject == subCA.issuer }
        isRootNamed = !candidates.isEmpty
        issuingRoot = trust.subCAs.issuer(of: subCA) {
            guard Self.acceptedAlgorithms.contains(subCA.signatureAlgorithm) else { return nil }
            return candidates.first { $0.publicKey.isValidSignature(subCA.signature, for: subCA) }
        }
    }

    // MARK: - Identity

    mutating func checkIdentity() {
        if trust.environment == .production {
            let testCertificates = [(CertificateRole.leaf, leaf), (.subCA, subCA)].filter(Self.isOfTestEnvironment)
            for (role, certificate) in testCertificates {
                findings.append(.testCertificate(role, commonName: certificate.subject.commonNameText))
            }
            if testCertificates.contains(where: { $0.0 == .subCA }) { return }
        } else if !namesAppleRootAsIssuer {
            // The operator chose this root for the sandbox, so the root decides which sub-CA is accepted.
            return
        }
        if subCA.subject.commonNames != [ProvisioningTrust.subCACommonName] {
            findings.append(.unexpectedSubCA(commonName: subCA.subject.commonNameText))
        }
    }

    private var namesAppleRootAsIssuer: Bool { subCA.issuer == Self.appleRootName }

    private static let appleRootName = try? Certificate(derEncoded: Array(ProvisioningTrust.appleRootCAG3)).subject

    /// Apple's leaf has a common name that ends in `_UC6-PROD`. In test environments, it ends differently, and the
    /// sub-CA is named `Test Apple Worldwide Developers Relations CA - ECC`. The names of this project's sandbox begin
    /// with `Sandbox`.
    private static func isOfTestEnvironment(_ role: CertificateRole, _ certificate: Certificate) -> Bool {
        certificate.subject.commonNames.contains { name in
            switch role {
            case .leaf: name.contains("_UC6-") && !name.hasSuffix("_UC6-PROD")
            case .subCA, .root: name.hasPrefix("Test ") || name.hasPrefix("Sandbox ")
            }
        }
    }

    // MARK: - Names and signatures

    mutating func checkChain() {
        if leaf.subject == leaf.issuer, leaf.publicKey.isValidSignature(leaf.signature, for: leaf) {
            findings.append(.selfSignedLeaf)
        } else if leaf.issuer != subCA.subject {
            findings.append(.namesDoNotChain(leafIssuer: leaf.issuer.text, subCASubject: subCA.subject.text))
        } else if !Self.acceptedAlgorithms.contains(leaf.signatureAlgorithm) {
            findings.append(.weakSignatureAlgorithm(.leaf, algorithm: leaf.signatureAlgorithmText))
        } else if !subCA.publicKey.isValidSignature(leaf.signature, for: leaf) {
            findings.append(.invalidSignature(.leaf))
        }
        if !isRootNamed {
            findings.append(.untrustedRoot(subCAIssuer: subCA.issuer.text))
        } else if !Self.acceptedAlgorithms.contains(subCA.signatureAlgorithm) {
            findings.append(.weakSignatureAlgorithm(.subCA, algorithm: subCA.signatureAlgorithmText))
        } else if issuingRoot == nil {
            findings.append(.invalidSignature(.subCA))
        }
    }

    // MARK: - Extensions and key

    mutating func checkAuthority() {
        let identifier = ASN1ObjectIdentifier.X509ExtensionID.basicConstraints
        do {
            // Without basic constraints, a certificate is not a certificate authority.
            switch try leaf.extensions.basicConstraints {
            case .isCertificateAuthority: findings.append(.leafIsAuthority)
            case .notCertificateAuthority, nil: break
            }
        } catch { findings.append(.malformedExtension(.leaf, identifier: "\(identifier)")) }
        do {
            // Every path length permits the chain, because no certificate authority follows the sub-CA.
            switch try subCA.extensions.basicConstraints {
            case .isCertificateAuthority: break
            case .notCertificateAuthority, nil: findings.append(.subCANotAuthority)
            }
        } catch { findings.append(.malformedExtension(.subCA, identifier: "\(identifier)")) }
    }

    mutating func checkKeyUsage() {
        checkKeyUsage(.leaf, leaf) { $0.keyAgreement || $0.keyEncipherment }
        checkKeyUsage(.subCA, subCA) { $0.keyCertSign }
    }

    private mutating func checkKeyUsage(
        _ role: CertificateRole, _ certificate: Certificate, permits: (KeyUsage) -> Bool
    ) {
        do {
            guard let usage = try certificate.extensions.keyUsage else {
                // RFC 5280 permits every use without this extension, but Apple's certificates have it.
                findings.append(.wrongKeyUsage(role, found: "absent"))
                return
            }
            if !permits(usage) { findings.append(.wrongKeyUsage(role, found: "\(usage)")) }
        } catch {
            let identifier = ASN1ObjectIdentifier.X509ExtensionID.keyUsage
            findings.append(.malformedExtension(role, identifier: "\(identifier)"))
        }
    }

    mutating func checkMarker() {
        guard let marker = leaf.extensions[oid: ProvisioningExtension.marker] else {
            findings.append(.markerMissing)
            return
        }
        if !marker.critical { findings.append(.markerNotCritical) }
        if !marker.value.elementsEqual(ProvisioningExtension.markerValue) { findings.append(.markerNotNull) }
    }

    mutating func checkCriticalExtensions() {
        let checked: [ASN1ObjectIdentifier] = [.X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage]
        for found in leaf.extensions
        where found.critical && found.oid != ProvisioningExtension.marker && !checked.contains(found.oid) {
            findings.append(.unknownCriticalExtension(.leaf, identifier: "\(found.oid)"))
        }
        for found in subCA.extensions where found.critical && !checked.contains(found.oid) {
            findings.append(.unknownCriticalExtension(.subCA, identifier: "\(found.oid)"))
        }
    }

    mutating func checkLeafKey() {
        if leafKey == nil { findings.append(.wrongLeafKey(found: leaf.keyTypeText)) }
    }

    // MARK: - Validity

    /// Both ends of a validity period belong to it (RFC 5280 section 4.1.2.5).
    mutating func checkValidity(at time: Date) {
        guard trust.validityPeriod == .checked else { return }
        var chain = [(CertificateRole.leaf, leaf), (.subCA, subCA)]
        if let root = issuingRoot { chain.append((.root, root)) }
        for (role, certificate) in chain {
            if time < certificate.notValidBefore {
                findings.append(.notYetValid(role, from: certificate.notValidBefore))
            } else if time > certificate.notValidAfter {
                findings.append(.expired(role, since: certificate.notValidAfter))
            }
        }
    }
}

extension Certificate {
    /// The signature algorithm for messages, such as `ecdsaWithSHA256`.
    fileprivate var signatureAlgorithmText: String {
        signatureAlgorithm.description.replacing("SignatureAlgorithm.", with: "")
    }
}
