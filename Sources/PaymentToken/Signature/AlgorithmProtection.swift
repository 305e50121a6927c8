/// The value of the CMSAlgorithmProtection attribute (RFC 6211). The attribute is signed and repeats the signer's
/// algorithm identifiers, which are not signed. So a replaced algorithm identifier is detected.
struct AlgorithmProtection {
    /// The object identifier of the digest algorithm.
    let digest: [UInt8]
    /// The object identifier of the signature algorithm.
    let signature: [UInt8]

    /// - Parameter der: `SEQUENCE { digestAlgorithm, [1] signatureAlgorithm }` in DER, including the tag and length of
    ///   the SEQUENCE.
    init?(_ der: [UInt8]) {
        var reader = DERReader(der)
        guard var fields = reader.enter(0x30), reader.isAtEnd, var digest = fields.enter(0x30),
            let digestOID = digest.readContents(0x06), var signature = fields.enter(0xA1), fields.isAtEnd,
            let signatureOID = signature.readContents(0x06)
        else { return nil }
        self.digest = Array(der[digestOID])
        self.signature = Array(der[signatureOID])
    }
}
