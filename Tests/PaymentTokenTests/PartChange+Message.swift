import PaymentToken

/// Every part of the CMS message around its certificates, RFC 5652 section 5.
extension PartChange {
    private static let data = DER.oid("1.2.840.113549.1.7.1")
    private static let sha256 = DER.oid("2.16.840.1.101.3.4.2.1")
    private static let sha512 = DER.oid("2.16.840.1.101.3.4.2.3")
    private static let contentType = "1.2.840.113549.1.9.3"
    private static let messageDigest = "1.2.840.113549.1.9.4"
    private static let signingTime = "1.2.840.113549.1.9.5"

    static let ofMessage: [PartChange] = [
        message("type of the message", [.structure], says: "not a CMS message") {
            $0.contentType.bytes = Array(data.dropFirst(2))
        },
        message("version of the signed data", [.structure], says: "expected version 1") { $0.version.bytes = [3] },
        message("digest algorithm announced", [.structure], says: "announced") {
            $0.digestAlgorithms.exchange(oid: sha256, by: sha512)
        },
        message("digest algorithms announced: a second", [.structure], says: "announced") {
            var second = $0.digestAlgorithms.children[0]
            second.exchange(oid: sha256, by: sha512)
            $0.digestAlgorithms.children.append(second)
        },
        message("digest algorithms announced: none", [.structure], says: "announced") {
            $0.digestAlgorithms.children = []
        },
        message("type of the content", [.structure], says: "content type") {
            $0.content.children[0].bytes = Array(DER.oid("1.2.840.113549.1.7.6").dropFirst(2))
        },
        message("content attached", [.structure], says: "content inside") {
            $0.content.children.append(
                BERNode(0xA0, .constructed([BERNode(0x04, .primitive([1, 2, 3]))], isIndefinite: true)))
        },
        message("no signer", [.structure], says: "0 signers") { $0.signers.children = [] },
        message("two signers", [.structure], says: "2 signers") { $0.signers.children += $0.signers.children },
        message("version of the signer", [.structure], says: "signer of another version") {
            $0.signerVersion.bytes = [3]
        },
        message("issuer that the signer names", [.structure], says: "0 certificates of the signer") {
            CertificateTree.rename(&$0.issuerAndSerialNumber)
        },
        message("serial number that the signer names", [.structure], says: "0 certificates of the signer") {
            $0.issuerAndSerialNumber.children[1].bytes[0] ^= 1
        },
        message("signer named by its key", [.structure], says: "issuer and serial number") {
            $0.issuerAndSerialNumber = BERNode(0x80, .primitive([UInt8](repeating: 1, count: 20)))
        },
        message("digest algorithm of the signer", [.structure], says: "digest algorithm") {
            $0.digestAlgorithm.exchange(oid: sha256, by: sha512)
        },
        message("parameters of the digest algorithm", [.structure], says: "without parameters") {
            $0.digestAlgorithm.children = [$0.digestAlgorithm.children[0], BERNode(0x04, .primitive([1]))]
        },
        message("signature algorithm", [.structure], says: "signature algorithm") {
            let other = DER.oid("1.2.840.10045.4.3.4")
            $0.signatureAlgorithm.children[0].bytes = Array(other.dropFirst(2))
        },
        message("signature: one bit", [.signature]) { $0.signature.bytes[$0.signature.bytes.count - 1] ^= 1 },
        message("signature: one byte more", [.signature]) { $0.signature.bytes.append(0) },
        message("signature: empty", [.signature]) { $0.signature.bytes = [] },
        message("no signed attributes", [.structure], says: "contentType") { $0.attributes.children = [] },
        message("signed attributes: in another order", [.signature]) { $0.attributes.children.reverse() },
        message("signed attributes: one more", [.signature]) {
            $0.attributes.children.append(try BERNode(parsing: TestMint.attribute("1.2.3.4", DER.null)))
        },
        message("contentType: taken away", [.structure], says: "contentType") {
            $0.attributes.children.remove(at: try $0.place(of: contentType))
        },
        message("contentType: another", [.structure], says: "contentType") {
            try $0.changeAttribute(contentType) { $0.bytes = Array(DER.oid("1.2.840.113549.1.7.2").dropFirst(2)) }
        },
        message("contentType: twice", [.structure], says: "contentType") {
            $0.attributes.children.append($0.attributes.children[try $0.place(of: contentType)])
        },
        message("messageDigest: taken away", [.structure], says: "messageDigest") {
            $0.attributes.children.remove(at: try $0.place(of: messageDigest))
        },
        message("messageDigest: one bit", [.messageDigest, .signature]) {
            try $0.changeAttribute(messageDigest) { $0.bytes[0] ^= 1 }
        },
        message("messageDigest: twice", [.structure], says: "messageDigest") {
            $0.attributes.children.append($0.attributes.children[try $0.place(of: messageDigest)])
        },
        message("messageDigest: short", [.structure], says: "messageDigest") {
            try $0.changeAttribute(messageDigest) { $0.bytes.removeLast() }
        },
        message("messageDigest: of another type", [.structure], says: "messageDigest") {
            try $0.changeAttribute(messageDigest) { $0.tag = 0x0C }
        },
        message("signingTime: taken away", [.structure], says: "signingTime") {
            $0.attributes.children.remove(at: try $0.place(of: signingTime))
        },
        message("signingTime: twice", [.structure], says: "signingTime") {
            $0.attributes.children.append($0.attributes.children[try $0.place(of: signingTime)])
        },
        message("signingTime: two values", [.structure], says: "signingTime") {
            let place = try $0.place(of: signingTime)
            $0.attributes.children[place].children[1].children += $0.attributes.children[place].children[1].children
        },
        // The seconds' last digit: 0 and 1, 2 and 3, … change places, so that it stays a time.
        message("signingTime: a second off", [.signature]) {
            try $0.changeAttribute(signingTime) { $0.bytes[$0.bytes.count - 2] ^= 1 }
        },
        message("signingTime: years off", [.signature, .signingTime, .certificateChain], says: "not yet valid") {
            try $0.changeAttribute(signingTime) { $0.bytes.replaceSubrange(0..<2, with: Array("05".utf8)) }
        },
        message("signingTime: no time", [.structure], says: "signingTime") {
            try $0.changeAttribute(signingTime) { $0.bytes[0] = UInt8(ascii: "x") }
        },
    ]
}
