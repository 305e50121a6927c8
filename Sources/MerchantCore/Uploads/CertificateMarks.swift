import FoundationEssentials
package import Vocabulary

/// The kind and the merchant of a certificate, found in its bytes without parsing the certificate.
package struct CertificateMarks: Hashable, Sendable {
    /// The hash of the merchant identifier in Apple's extension 1.2.840.113635.100.6.32; nil if it is absent.
    package let merchantIdentifierHash: MerchantIdentifierHash?
    /// Whether the subject shows that this is a merchant identity certificate.
    package let isIdentity: Bool

    package init(merchantIdentifierHash: MerchantIdentifierHash?, isIdentity: Bool) {
        self.merchantIdentifierHash = merchantIdentifierHash
        self.isIdentity = isIdentity
    }

    /// The object identifier of the extension, followed by the value: an octet string of 66 bytes that contains a
    /// UTF8String of 64 bytes.
    private static let merchantExtension: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x20, 0x04, 0x42, 0x0C, 0x40,
    ]

    init(der: [UInt8]) {
        isIdentity = CertificateUploadDiagnosis.contains("Apple Pay Merchant Identity", in: der)
        guard let found = der.firstRange(of: Self.merchantExtension) else {
            merchantIdentifierHash = nil
            return
        }
        let digits = der[found.upperBound...].prefix(64)
        merchantIdentifierHash = MerchantIdentifierHash(text: String(decoding: digits, as: UTF8.self))
    }

    /// - Parameter text: the Base64 text of a PEM block, without the lines that begin and end the block.
    init(base64 text: Substring) {
        let data = Data(base64Encoded: String(text), options: .ignoreUnknownCharacters)
        self.init(der: data.map { Array($0) } ?? [])
    }
}
