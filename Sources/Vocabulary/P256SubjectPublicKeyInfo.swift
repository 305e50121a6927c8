/// DER `SubjectPublicKeyInfo` of a P-256 key. Only one encoding is accepted: named curve, uncompressed point, 91 bytes.
///
/// Source: RFC 5480 section 2.
package enum P256SubjectPublicKeyInfo {
    /// The bytes before the point: SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING of 65 bytes without
    /// unused bits }.
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    /// The length of the encoding in bytes.
    package static let length = 91

    /// - Parameter point: X9.63, uncompressed, 65 bytes.
    package static func encode(point: some Sequence<UInt8>) -> [UInt8] { prefix + point }

    /// - Returns: the point, X9.63, 65 bytes; nil for any other length, curve or form. Does not check whether the point
    ///   is on the curve.
    package static func point(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard bytes.count == length, bytes.starts(with: prefix), bytes[prefix.count] == 0x04 else { return nil }
        return bytes[prefix.count...]
    }
}
