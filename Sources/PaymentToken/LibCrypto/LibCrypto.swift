import CLibCrypto

/// Conversions from libcrypto's objects to Swift values.
///
/// libcrypto keeps a queue of errors for each thread. The types of this folder clear the queue after they parse
/// or verify, so that errors of one token are not reported for the next token.
enum LibCrypto {
    /// Returns the bytes of an ASN.1 string; empty for a null pointer.
    static func bytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string, let start = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
    }

    /// Returns the contents octets (DER without tag and length) of an object identifier; empty for a null pointer.
    static func bytes(oid: OpaquePointer?) -> [UInt8] {
        guard let oid, let start = OBJ_get0_data(oid) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: OBJ_length(oid)))
    }

    /// Returns the elements of a libcrypto stack (`STACK_OF`). The stack still owns them.
    static func elements(_ stack: OpaquePointer?) -> [OpaquePointer] {
        guard let stack else { return [] }
        return (0..<OPENSSL_sk_num(stack)).compactMap { OpaquePointer(OPENSSL_sk_value(stack, $0)) }
    }

    /// Returns the time of a UTCTime or GeneralizedTime; nil if ``ASN1Time`` does not accept its form.
    static func time(_ string: UnsafePointer<ASN1_STRING>?) -> ASN1Time? {
        guard let string else { return nil }
        return ASN1Time(tag: UInt8(truncatingIfNeeded: ASN1_STRING_type(string)), bytes(string))
    }

    /// Returns the DER encoding of an object; empty if the encoding fails.
    ///
    /// - Parameter encode: calls one of libcrypto's `i2d` functions.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
        // Without a buffer, an `i2d` function returns only the length of the encoding.
        let count = Int(encode(nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var cursor = buffer.baseAddress
            written = max(0, Int(encode(&cursor)))
        }
    }
}
