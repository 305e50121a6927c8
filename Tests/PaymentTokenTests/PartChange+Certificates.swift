import Crypto
import PaymentToken

/// Changes of every part of the two certificates in a message (RFC 5280 section 4.1).
extension PartChange {
    private static let leafMarker = DER.oid(TestAuthority.leafMarker)
    private static let intermediateMarker = DER.oid(TestAuthority.intermediateMarker)
    private static let other = DER.oid("1.2.840.113635.100.6.30")

    static let ofCertificates: [PartChange] = [
        message("no certificates", [.structure], reason: .wrongSigningCertificateCount(0)) {
            $0.certificates.children = []
        },
        message("no signing certificate", [.structure], reason: .wrongSigningCertificateCount(0)) {
            $0.certificates.children.removeFirst()
        },
        message("the signing certificate twice", [.structure], reason: .wrongSigningCertificateCount(2)) {
            $0.certificates.children.append($0.leaf.node)
        },
        message("no intermediate", [.markerExtensions, .certificateChain], reason: .wrongIntermediateCount(0)) {
            $0.certificates.children.removeLast()
        },
        message("the intermediate twice", [.markerExtensions, .certificateChain], reason: .wrongIntermediateCount(2)) {
            $0.certificates.children.append($0.intermediate.node)
        },
        message("another hierarchy's intermediate", [.certificateChain]) {
            let other = TestAuthority()
            $0.certificates.children[1] = try BERNode(parsing: other.signedByRoot(other.intermediate))
        },
        // The signing certificate.
        message("signing certificate: serial number", [.structure], reason: .wrongSigningCertificateCount(0)) {
            $0.leaf.serialNumber.bytes[0] ^= 1
        },
        message("signing certificate: issuer", [.structure], reason: .wrongSigningCertificateCount(0)) {
            CertificateTree.rename(&$0.leaf.issuer)
        },
        message("signing certificate: subject", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            CertificateTree.rename(&$0.leaf.subject)
        },
        message("signing certificate: begins earlier", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.leaf.notBefore.bytes.replaceSubrange(0..<2, with: Array("05".utf8))
        },
        message("signing certificate: ends later", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.leaf.notAfter.bytes.replaceSubrange(0..<2, with: Array("49".utf8))
        },
        message("signing certificate: ends earlier", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.leaf.notAfter.bytes.replaceSubrange(0..<2, with: Array("22".utf8))
        },
        message("signing certificate: public key", [.signature, .certificateChain]) {
            $0.leaf.publicKey.bytes[20] ^= 1
        },
        message(
            "signing certificate: marker", [.markerExtensions, .certificateChain],
            reason: .missingMarkerExtensions(signingCertificate: true, intermediate: false)
        ) {
            $0.leaf.node.replace(oid: leafMarker, with: other)
        },
        message("signing certificate: signature", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.leaf.signature.bytes[$0.leaf.signature.bytes.count - 1] ^= 1
        },
        message("signing certificate: signature algorithm", [.certificateChain]) {
            $0.leaf.signatureAlgorithm.children[0].bytes = Array(DER.oid("1.2.840.10045.4.3.4").dropFirst(2))
        },
        // The intermediate.
        message("intermediate: serial number", [.certificateChain]) { $0.intermediate.serialNumber.bytes[0] ^= 1 },
        message("intermediate: issuer", [.certificateChain], reason: .invalidChain(.issuerNotFound)) {
            CertificateTree.rename(&$0.intermediate.issuer)
        },
        message("intermediate: subject", [.certificateChain], reason: .invalidChain(.issuerNotFound)) {
            CertificateTree.rename(&$0.intermediate.subject)
        },
        message("intermediate: begins earlier", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.intermediate.notBefore.bytes.replaceSubrange(0..<2, with: Array("05".utf8))
        },
        message("intermediate: ends earlier", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.intermediate.notAfter.bytes.replaceSubrange(0..<2, with: Array("22".utf8))
        },
        message("intermediate: public key", [.certificateChain]) { $0.intermediate.publicKey.bytes[20] ^= 1 },
        message("intermediate: another public key", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.intermediate.publicKey.bytes = [0] + Array(P256.Signing.PrivateKey().publicKey.x963Representation)
        },
        message(
            "intermediate: marker", [.markerExtensions, .certificateChain],
            reason: .missingMarkerExtensions(signingCertificate: false, intermediate: true)
        ) {
            $0.intermediate.node.replace(oid: intermediateMarker, with: other)
        },
        message("intermediate: signature", [.certificateChain], reason: .invalidChain(.signatureMismatch)) {
            $0.intermediate.signature.bytes[$0.intermediate.signature.bytes.count - 1] ^= 1
        },
        message(
            "markers exchanged for each other", [.markerExtensions, .certificateChain],
            reason: .missingMarkerExtensions(signingCertificate: true, intermediate: true)
        ) {
            $0.leaf.node.replace(oid: leafMarker, with: intermediateMarker)
            $0.intermediate.node.replace(oid: intermediateMarker, with: leafMarker)
        },
    ]
}
