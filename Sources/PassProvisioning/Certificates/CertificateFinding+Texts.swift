import Vocabulary

extension CertificateFinding {
    /// What failed, with the values that were found.
    public var message: String {
        switch self {
        case .wrongCertificateCount(let count):
            "\(count.counted("certificate was", "certificates were")) sent, expected two: the leaf and the sub-CA"
        case .sameCertificateTwice: "both certificates are the same, expected the leaf and the sub-CA"
        case .invalidBase64(let position): "certificate \(position) is not Base64"
        case .base64Twice(let position): "certificate \(position) is encoded in Base64 twice"
        case .base64InsteadOfDER(let position): "certificate \(position) is Base64 text, expected DER"
        case .pemInsteadOfDER(let position): "certificate \(position) is in PEM, expected DER"
        case .malformedCertificate(let position):
            "certificate \(position) is not exactly one X.509 certificate in DER"
        case .unsupportedAlgorithm(let position):
            "certificate \(position) contains a type of key, or is signed with an algorithm, that is not supported"
        case .noRoots: "there is no trusted root, expected at least one"
        case .malformedRoot(let position): "trusted root \(position) is not exactly one X.509 certificate in DER"
        case .notARoot(let position):
            "trusted root \(position) is not the self-signed certificate of a certificate authority that may have a sub-CA"
        case .testCertificate(let role, let name):
            "the \(role) '\(name)' belongs to a test environment, but the environment is production"
        case .unexpectedSubCA(let name):
            "the common name of the sub-CA is '\(name)', expected '\(ProvisioningTrust.subCACommonName)'"
        case .selfSignedLeaf: "the leaf is signed with its own key, expected the key of the sub-CA"
        case .namesDoNotChain(let issuer, let subject):
            "the issuer of the leaf is '\(issuer)', but the subject of the sub-CA is '\(subject)'"
        case .untrustedRoot(let issuer): "the issuer of the sub-CA, '\(issuer)', is not a trusted root"
        case .weakSignatureAlgorithm(let role, let algorithm):
            "the \(role) is signed with \(algorithm), expected ECDSA or RSA with SHA-256, SHA-384 or SHA-512"
        case .invalidSignature(.leaf): "the signature of the leaf was not made with the key of the sub-CA"
        case .invalidSignature(let role):
            "the signature of the \(role) was not made with the key of a trusted root"
        case .malformedExtension(let role, let identifier):
            "the extension \(identifier) of the \(role) cannot be read"
        case .subCANotAuthority: "the sub-CA is not a certificate authority by its basic constraints"
        case .leafIsAuthority: "the leaf is a certificate authority by its basic constraints"
        case .wrongKeyUsage(.leaf, let found):
            "the key usage of the leaf is \(found), expected keyAgreement or keyEncipherment"
        case .wrongKeyUsage(let role, let found): "the key usage of the \(role) is \(found), expected keyCertSign"
        case .markerMissing: "the leaf has no extension \(ProvisioningExtension.markerText)"
        case .markerNotCritical: "the extension \(ProvisioningExtension.markerText) of the leaf is not critical"
        case .markerNotNull: "the value of extension \(ProvisioningExtension.markerText) of the leaf is not NULL"
        case .unknownCriticalExtension(let role, let identifier):
            "the \(role) has the critical extension \(identifier), which is not supported"
        case .wrongLeafKey(let found): "the public key of the leaf is \(found), expected P-256"
        case .notYetValid(let role, let from): "the \(role) is valid only from \(Timestamp(from)) on"
        case .expired(let role, let since): "the \(role) expired at \(Timestamp(since))"
        }
    }

    /// What to do.
    public var action: String {
        switch self {
        case .wrongCertificateCount, .sameCertificateTwice:
            "send the certificates that PassKit gave the app, all of them and no others"
        case .invalidBase64:
            "make the app encode the DER bytes from PassKit once, in Base64 with padding and without line breaks"
        case .base64Twice: "make the app encode the DER bytes from PassKit only once"
        case .base64InsteadOfDER: "decode the Base64 text, or pass it as Base64"
        case .pemInsteadOfDER: "make the app send the DER bytes from PassKit, in Base64 without BEGIN and END lines"
        case .malformedCertificate:
            "make the app send the bytes from PassKit unchanged, and check that none are cut off"
        case .unsupportedAlgorithm, .wrongLeafKey, .leafIsAuthority:
            "check that the app sends the certificates from PassKit for this request; Apple's leaf has a P-256 key"
        case .noRoots: "name at least one root, such as Apple Root CA - G3"
        case .malformedRoot, .notARoot: "use Apple Root CA - G3, or the root of the sandbox"
        case .testCertificate:
            "use a device and an app in the production environment, or set the environment of this host to sandbox"
        case .unexpectedSubCA, .selfSignedLeaf, .namesDoNotChain, .invalidSignature, .weakSignatureAlgorithm,
            .subCANotAuthority, .wrongKeyUsage, .malformedExtension, .unknownCriticalExtension:
            "refuse the request, and check that the app sends both certificates from PassKit unchanged"
        case .untrustedRoot:
            "refuse the request; for a test environment, set the environment to sandbox and add its root to the trusted roots"
        case .markerMissing, .markerNotCritical, .markerNotNull:
            "refuse the request: only a leaf with this critical extension is for in-app provisioning"
        case .notYetValid: "check the clock of this host"
        case .expired:
            "check the clock of this host, and that the app sends the certificates of this request and not stored ones"
        }
    }
}
