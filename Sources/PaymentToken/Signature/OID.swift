/// Object identifiers, as DER without tag and length.
enum OID {
    /// 1.2.840.113549.1.7.1
    static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    /// 1.2.840.113549.1.7.2
    static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    /// 1.2.840.113549.1.9.3
    static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    /// 1.2.840.113549.1.9.4
    static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
    /// 1.2.840.113549.1.9.5
    static let signingTime: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x05]
    /// 1.2.840.113549.1.9.52, RFC 6211
    static let algorithmProtection: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x34]
    /// 2.16.840.1.101.3.4.2.1
    static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
    /// 1.2.840.10045.4.3.2
    static let ecdsaWithSHA256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
    /// 1.2.840.113549.1.1.1
    static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    /// 1.2.840.113549.1.1.11
    static let sha256WithRSA: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]
    /// 1.2.840.113635.100.6.29: Apple's marker extension of certificates that sign payment tokens.
    static let tokenSigningLeaf: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x1D]
    /// 1.2.840.113635.100.6.2.14: Apple's marker extension of the intermediate certificate, which belongs to the
    /// certificate authority "Apple Application Integration CA - G3" or its successor.
    static let applicationIntegrationCA: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x02, 0x0E]

    /// Returns the object identifier as dotted numbers (X.690 section 8.19).
    static func dotted(_ bytes: some Collection<UInt8>) -> String {
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        for byte in bytes {
            guard number < 1 << 56 else { return "(too long)" }
            number = number << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 {
                if numbers.isEmpty {
                    // The encoding combines the first two numbers: 40 times the first, plus the second.
                    let first = min(number / 40, 2)
                    numbers = [first, number - first * 40]
                } else {
                    numbers.append(number)
                }
                number = 0
            }
        }
        return numbers.map(String.init).joined(separator: ".")
    }
}
