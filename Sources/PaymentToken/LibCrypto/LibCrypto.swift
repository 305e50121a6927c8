import CLibCrypto

/// What several readers of libcrypto's objects share. libcrypto keeps a queue of errors per thread; every outermost call
/// clears it, so that one token's errors are never another's.
enum LibCrypto {
    /// The bytes of a string object; empty for a null pointer.
    static func bytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string, let start = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
    }

    /// The bytes of an object identifier.
    static func bytes(oid: OpaquePointer?) -> [UInt8] {
        guard let oid, let start = OBJ_get0_data(oid) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: OBJ_length(oid)))
    }

    /// The elements of any of libcrypto's stacks, borrowed from it.
    static func elements(_ stack: OpaquePointer?) -> [OpaquePointer] {
        guard let stack else { return [] }
        return (0..<OPENSSL_sk_num(stack)).compactMap { OpaquePointer(OPENSSL_sk_value(stack, $0)) }
    }

    /// A UTCTime or GeneralizedTime in its strict form.
    static func time(_ string: UnsafePointer<ASN1_STRING>?) -> ASN1Time? {
        guard let string else { return nil }
        return ASN1Time(tag: UInt8(truncatingIfNeeded: ASN1_STRING_type(string)), bytes(string))
    }

    /// What an object writes as DER through one of libcrypto's `i2d` functions.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
        let count = Int(encode(nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var cursor = buffer.baseAddress
            written = max(0, Int(encode(&cursor)))
        }
    }
}
