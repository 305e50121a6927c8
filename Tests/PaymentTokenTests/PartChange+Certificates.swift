import Crypto
import PaymentToken

/// Every part of the two certificates that a message carries, RFC 5280 section 4.1.
extension PartChange {
    private static let leafMarker = DER.oid(TestAuthority.leafMarker)
    private static let intermediateMarker = DER.oid(TestAuthority.intermediateMarker)
    private static let other = DER.oid("1.2.840.113635.100.6.30")

    static let ofCertificates: [PartChange] = [
        message("no certificates", [.structure], says: "0 certificates of the signer") {
            $0.certificates.children = []
        },
        message("no signing certificate", [.structure], says: "0 certificates of the signer") {
            $0.certificates.children.removeFirst()
        },
        message("the signing certificate twice", [.structure], says: "2 certificates of the signer") {
            $0.certificates.children.append($0.leaf.node)
        },
        message("no intermediate", [.markers, .certificateChain], says: "0 intermediate") {
            $0.certificates.children.removeLast()
        },
        message("the intermediate twice", [.markers, .certificateChain], says: "2 intermediate") {
            $0.certificates.children.append($0.intermediate.node)
        },
        message("another hierarchy's intermediate", [.certificateChain]) {
            let stranger = TestAuthority()
            $0.certificates.children[1] = try BERNode(parsing: stranger.signedByRoot(stranger.intermediate))
        },
        // The signing certificate.
        message("signing certificate: serial number", [.structure], says: "0 certificates of the signer") {
            $0.leaf.serialNumber.bytes[0] ^= 1
        },
        message("signing certificate: issuer", [.structure], says: "0 certificates of the signer") {
            CertificateTree.rename(&$0.leaf.issuer)
        },
        message("signing certificate: subject", [.certificateChain], says: "signature failure") {
            CertificateTree.rename(&$0.leaf.subject)
        },
        message("signing certificate: begins earlier", [.certificateChain], says: "signature failure") {
            $0.leaf.notBefore.bytes.replaceSubrange(0..<2, with: Array("05".utf8))
        },
        message("signing certificate: ends later", [.certificateChain], says: "signature failure") {
            $0.leaf.notAfter.bytes.replaceSubrange(0..<2, with: Array("49".utf8))
        },
        message("signing certificate: ends earlier", [.certificateChain], says: "signature failure") {
            $0.leaf.notAfter.bytes.replaceSubrange(0..<2, with: Array("22".utf8))
        },
        message("signing certificate: public key", [.signature, .certificateChain]) {
            $0.leaf.publicKey.bytes[20] ^= 1
        },
        message("signing certificate: marker", [.markers, .certificateChain], says: "6.29") {
            $0.leaf.node.exchange(oid: leafMarker, by: other)
        },
        message("signing certificate: signature", [.certificateChain], says: "signature failure") {
            $0.leaf.signature.bytes[$0.leaf.signature.bytes.count - 1] ^= 1
        },
        message("signing certificate: signature algorithm", [.certificateChain]) {
            $0.leaf.signatureAlgorithm.children[0].bytes = Array(DER.oid("1.2.840.10045.4.3.4").dropFirst(2))
        },
        // The intermediate.
        message("intermediate: serial number", [.certificateChain]) { $0.intermediate.serialNumber.bytes[0] ^= 1 },
        message("intermediate: issuer", [.certificateChain], says: "issuer") {
            CertificateTree.rename(&$0.intermediate.issuer)
        },
        message("intermediate: subject", [.certificateChain], says: "issuer") {
            CertificateTree.rename(&$0.intermediate.subject)
        },
        message("intermediate: begins earlier", [.certificateChain], says: "signature failure") {
            $0.intermediate.notBefore.bytes.replaceSubrange(0..<2, with: Array("05".utf8))
        },
        message("intermediate: ends earlier", [.certificateChain], says: "signature failure") {
            $0.intermediate.notAfter.bytes.replaceSubrange(0..<2, with: Array("22".utf8))
        },
        message("intermediate: public key", [.certificateChain]) { $0.intermediate.publicKey.bytes[20] ^= 1 },
        message("intermediate: another public key", [.certificateChain], says: "signature failure") {
            $0.intermediate.publicKey.bytes = [0] + Array(P256.Signing.PrivateKey().publicKey.x963Representation)
        },
        message("intermediate: marker", [.markers, .certificateChain], says: "6.2.14") {
            $0.intermediate.node.exchange(oid: intermediateMarker, by: other)
        },
        message("intermediate: signature", [.certificateChain], says: "signature failure") {
            $0.intermediate.signature.bytes[$0.intermediate.signature.bytes.count - 1] ^= 1
        },
        message("markers exchanged for each other", [.markers, .certificateChain], says: "6.29") {
            $0.leaf.node.exchange(oid: leafMarker, by: intermediateMarker)
            $0.intermediate.node.exchange(oid: intermediateMarker, by: leafMarker)
        },
    ]
}
