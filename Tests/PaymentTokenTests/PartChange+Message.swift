import PaymentToken

/// Changes of every part of the CMS message except its certificates (RFC 5652 section 5).
extension PartChange {
    private static let data = DER.oid("1.2.840.113549.1.7.1")
    private static let sha256 = DER.oid("2.16.840.1.101.3.4.2.1")
    private static let sha512 = DER.oid("2.16.840.1.101.3.4.2.3")
    private static let contentType = "1.2.840.113549.1.9.3"
    private static let messageDigest = "1.2.840.113549.1.9.4"
    private static let signingTime = "1.2.840.113549.1.9.5"

    static let ofMessage: [PartChange] = [
        message("type of the message", [.structure], reason: .notCMS) {
            $0.contentType.bytes = Array(data.dropFirst(2))
        },
        message("version of the signed data", [.structure], reason: .wrongSignedDataVersion) { $0.version.bytes = [3] },
        message("digest algorithm announced", [.structure], reason: .wrongDigestAlgorithmSet) {
            $0.digestAlgorithms.replace(oid: sha256, with: sha512)
        },
        message("digest algorithms announced: a second", [.structure], reason: .wrongDigestAlgorithmSet) {
            var second = $0.digestAlgorithms.children[0]
            second.replace(oid: sha256, with: sha512)
            $0.digestAlgorithms.children.append(second)
        },
        message("digest algorithms announced: none", [.structure], reason: .wrongDigestAlgorithmSet) {
            $0.digestAlgorithms.children = []
        },
        message("type of the content", [.structure], reason: .wrongContentType) {
            $0.content.children[0].bytes = Array(DER.oid("1.2.840.113549.1.7.6").dropFirst(2))
        },
        message("content attached", [.structure], reason: .attachedContent) {
            $0.content.children.append(
                BERNode(0xA0, .constructed([BERNode(0x04, .primitive([1, 2, 3]))], isIndefinite: true)))
        },
        message("no signer", [.structure], reason: .wrongSignerCount(0)) { $0.signers.children = [] },
        message("two signers", [.structure], reason: .wrongSignerCount(2)) {
            $0.signers.children += $0.signers.children
        },
        message("version of the signer", [.structure], reason: .wrongSignerVersion) {
            $0.signerVersion.bytes = [3]
        },
        message("issuer that the signer names", [.structure], reason: .wrongSigningCertificateCount(0)) {
            CertificateTree.rename(&$0.issuerAndSerialNumber)
        },
        message("serial number that the signer names", [.structure], reason: .wrongSigningCertificateCount(0)) {
            $0.issuerAndSerialNumber.children[1].bytes[0] ^= 1
        },
        message("signer named by its key", [.structure], reason: .wrongSignerIdentifierForm) {
            $0.issuerAndSerialNumber = BERNode(0x80, .primitive([UInt8](repeating: 1, count: 20)))
        },
        message("digest algorithm of the signer", [.structure], reason: .wrongDigestAlgorithm) {
            $0.digestAlgorithm.replace(oid: sha256, with: sha512)
        },
        message("parameters of the digest algorithm", [.structure], reason: .wrongDigestAlgorithm) {
            $0.digestAlgorithm.children = [$0.digestAlgorithm.children[0], BERNode(0x04, .primitive([1]))]
        },
        message("signature algorithm", [.structure], reason: .wrongSignatureAlgorithm) {
            let other = DER.oid("1.2.840.10045.4.3.4")
            $0.signatureAlgorithm.children[0].bytes = Array(other.dropFirst(2))
        },
        message("signature: one bit", [.signature]) { $0.signature.bytes[$0.signature.bytes.count - 1] ^= 1 },
        message("signature: one byte more", [.signature]) { $0.signature.bytes.append(0) },
        message("signature: empty", [.signature]) { $0.signature.bytes = [] },
        message("no signed attributes", [.structure], reason: .invalidContentTypeAttribute) {
            $0.attributes.children = []
        },
        message("signed attributes: in another order", [.signature]) { $0.attributes.children.reverse() },
        message("signed attributes: one more", [.signature]) {
            $0.attributes.children.append(try BERNode(parsing: TestMint.attribute("1.2.3.4", DER.null)))
        },
        message("contentType: removed", [.structure], reason: .invalidContentTypeAttribute) {
            $0.attributes.children.remove(at: try $0.index(of: contentType))
        },
        message("contentType: another", [.structure], reason: .invalidContentTypeAttribute) {
            try $0.changeAttribute(contentType) { $0.bytes = Array(DER.oid("1.2.840.113549.1.7.2").dropFirst(2)) }
        },
        message("contentType: twice", [.structure], reason: .invalidContentTypeAttribute) {
            $0.attributes.children.append($0.attributes.children[try $0.index(of: contentType)])
        },
        message("messageDigest: removed", [.structure], reason: .invalidMessageDigestAttribute) {
            $0.attributes.children.remove(at: try $0.index(of: messageDigest))
        },
        message("messageDigest: one bit", [.messageDigest, .signature]) {
            try $0.changeAttribute(messageDigest) { $0.bytes[0] ^= 1 }
        },
        message("messageDigest: twice", [.structure], reason: .invalidMessageDigestAttribute) {
            $0.attributes.children.append($0.attributes.children[try $0.index(of: messageDigest)])
        },
        message("messageDigest: short", [.structure], reason: .invalidMessageDigestAttribute) {
            try $0.changeAttribute(messageDigest) { $0.bytes.removeLast() }
        },
        message("messageDigest: of another type", [.structure], reason: .invalidMessageDigestAttribute) {
            try $0.changeAttribute(messageDigest) { $0.tag = 0x0C }
        },
        message("signingTime: removed", [.structure], reason: .invalidSigningTimeAttribute) {
            $0.attributes.children.remove(at: try $0.index(of: signingTime))
        },
        message("signingTime: twice", [.structure], reason: .invalidSigningTimeAttribute) {
            $0.attributes.children.append($0.attributes.children[try $0.index(of: signingTime)])
        },
        message("signingTime: two values", [.structure], reason: .invalidSigningTimeAttribute) {
            let index = try $0.index(of: signingTime)
            $0.attributes.children[index].children[1].children += $0.attributes.children[index].children[1].children
        },
        // Changes the last digit of the seconds from an even digit to the next odd one or back, so that the time stays
        // valid.
        message("signingTime: a second off", [.signature]) {
            try $0.changeAttribute(signingTime) { $0.bytes[$0.bytes.count - 2] ^= 1 }
        },
        message(
            "signingTime: years off", [.signature, .signingTime, .certificateChain], reason: .invalidChain(.notYetValid)
        ) {
            try $0.changeAttribute(signingTime) { $0.bytes.replaceSubrange(0..<2, with: Array("05".utf8)) }
        },
        message("signingTime: no time", [.structure], reason: .invalidSigningTimeAttribute) {
            try $0.changeAttribute(signingTime) { $0.bytes[0] = UInt8(ascii: "x") }
        },
    ]
}
