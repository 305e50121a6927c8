import CLibCrypto

/// One CMS message, as libcrypto reads it: BER with indefinite lengths, as Apple writes it.
package final class CMSMessage {
    let pointer: OpaquePointer
    /// Bytes after the end of the message.
    package let trailingCount: Int

    /// - Returns: nil unless the bytes begin with a CMS message.
    package init?(_ bytes: [UInt8]) {
        var left = 0
        let read: OpaquePointer? = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let start = buffer.baseAddress, let read = d2i_CMS_ContentInfo(nil, &cursor, buffer.count),
                let end = cursor
            else { return nil }
            left = buffer.count - (end - start)
            return read
        }
        ERR_clear_error()
        guard let read else { return nil }
        pointer = read
        trailingCount = left
    }

    deinit {
        CMS_ContentInfo_free(pointer)
        // Whatever was asked of the message may have left errors in the thread's queue.
        ERR_clear_error()
    }

    /// The message once more in DER: every length definite.
    var derRepresentation: [UInt8] { LibCrypto.encoded { i2d_CMS_ContentInfo(pointer, $0) } }

    var isSignedData: Bool { OBJ_obj2nid(CMS_get0_type(pointer)) == NID_pkcs7_signed }

    /// The content's type, which stays in the message where the content itself does not.
    var contentType: [UInt8] { LibCrypto.bytes(oid: CMS_get0_eContentType(pointer)) }

    /// Whether the content is elsewhere. False for a message that carries any content, even an empty one.
    var isDetached: Bool {
        guard let content = CMS_get0_content(pointer) else { return false }
        return content.pointee == nil
    }

    /// Borrowed from the message.
    package var signers: [CMSSigner] {
        LibCrypto.elements(CMS_get0_SignerInfos(pointer)).map { CMSSigner(message: self, pointer: $0) }
    }

    var certificates: [X509Certificate] {
        guard let stack = CMS_get1_certs(pointer) else { return [] }
        defer { OPENSSL_sk_pop_free(stack) { X509_free(OpaquePointer($0)) } }
        return LibCrypto.elements(stack).map(X509Certificate.init(sharing:))
    }
}

/// One signer of a message, and the attributes it signed.
package struct CMSSigner {
    /// Keeps the memory that `pointer` points into.
    let message: CMSMessage
    let pointer: OpaquePointer

    /// An algorithm and whether its parameters are absent or NULL, the two forms that mean none.
    struct Algorithm: Equatable {
        let oid: [UInt8]
        let hasNoParameters: Bool
    }

    /// One signed attribute's only value: its universal tag and its content.
    package struct Value {
        package let tag: UInt8
        package let bytes: [UInt8]
    }

    var algorithms: (digest: Algorithm, signature: Algorithm) {
        var (digest, signature): (UnsafeMutablePointer<X509_ALGOR>?, UnsafeMutablePointer<X509_ALGOR>?) = (nil, nil)
        CMS_SignerInfo_get0_algs(pointer, nil, nil, &digest, &signature)
        return (Self.algorithm(digest), Self.algorithm(signature))
    }

    /// The types of the signed attributes, in the order read.
    var attributeTypes: [[UInt8]] {
        let count = CMS_signed_get_attr_count(pointer)
        guard count > 0 else { return [] }
        return (0..<count).map { index in
            LibCrypto.bytes(oid: X509_ATTRIBUTE_get0_object(CMS_signed_get_attr(pointer, index)))
        }
    }

    /// - Returns: nil unless the attribute is there exactly once and has exactly one value, RFC 5652 section 11.
    package func value(of attribute: [UInt8]) -> Value? {
        let places = attributeTypes.indices.filter { attributeTypes[$0] == attribute }
        guard places.count == 1, let found = CMS_signed_get_attr(pointer, CInt(places[0])),
            X509_ATTRIBUTE_count(found) == 1, let type = X509_ATTRIBUTE_get0_type(found, 0)
        else { return nil }
        let tag = ASN1_TYPE_get(type)
        switch tag {
        case V_ASN1_OBJECT:
            return Value(tag: UInt8(tag), bytes: LibCrypto.bytes(oid: type.pointee.value.object))
        case V_ASN1_OCTET_STRING, V_ASN1_UTCTIME, V_ASN1_GENERALIZEDTIME, V_ASN1_SEQUENCE:
            return Value(tag: UInt8(tag), bytes: LibCrypto.bytes(type.pointee.value.asn1_string))
        default: return nil
        }
    }

    /// Whether this certificate is the one the signer names by issuer and serial number.
    func isNamed(by certificate: X509Certificate) -> Bool {
        CMS_SignerInfo_cert_cmp(pointer, certificate.pointer) == 0
    }

    /// Whether the certificate's key made the signature over the signed attributes.
    func isSigned(by certificate: X509Certificate) -> Bool {
        CMS_SignerInfo_set1_signer_cert(pointer, certificate.pointer)
        defer { ERR_clear_error() }
        return CMS_SignerInfo_verify(pointer) == 1
    }

    private static func algorithm(_ read: UnsafeMutablePointer<X509_ALGOR>?) -> Algorithm {
        var oid: OpaquePointer?
        var parameters = CInt(V_ASN1_UNDEF)
        X509_ALGOR_get0(&oid, &parameters, nil, read)
        return Algorithm(
            oid: LibCrypto.bytes(oid: oid), hasNoParameters: parameters == V_ASN1_UNDEF || parameters == V_ASN1_NULL)
    }
}
