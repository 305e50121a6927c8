import CLibCrypto

/// A CMS message, parsed by libcrypto. The encoding may be BER with indefinite lengths, which Apple uses.
package final class CMSMessage {
    let pointer: OpaquePointer
    /// The number of bytes after the end of the message.
    package let trailingCount: Int

    /// - Returns: nil if the bytes do not begin with a CMS message.
    package init?(_ bytes: [UInt8]) {
        var trailing = 0
        let parsed: OpaquePointer? = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let start = buffer.baseAddress, let parsed = d2i_CMS_ContentInfo(nil, &cursor, buffer.count),
                let end = cursor
            else { return nil }
            trailing = buffer.count - (end - start)
            return parsed
        }
        ERR_clear_error()
        guard let parsed else { return nil }
        pointer = parsed
        trailingCount = trailing
    }

    deinit {
        CMS_ContentInfo_free(pointer)
        // Functions that read the message can leave errors in the thread's queue.
        ERR_clear_error()
    }

    /// The message encoded again as DER, with definite lengths.
    var derRepresentation: [UInt8] { LibCrypto.encoded { i2d_CMS_ContentInfo(pointer, $0) } }

    var isSignedData: Bool { OBJ_obj2nid(CMS_get0_type(pointer)) == NID_pkcs7_signed }

    /// The object identifier of the signed content's type. A detached message names this type too, although it has no
    /// content.
    var contentType: [UInt8] { LibCrypto.bytes(oid: CMS_get0_eContentType(pointer)) }

    /// Whether the message has no content. A message whose content has zero bytes is not detached.
    var isDetached: Bool {
        guard let content = CMS_get0_content(pointer) else { return false }
        return content.pointee == nil
    }

    /// The signers, in the order of the message. Their pointers point into the memory of the message.
    package var signers: [CMSSigner] {
        LibCrypto.elements(CMS_get0_SignerInfos(pointer)).map { CMSSigner(message: self, pointer: $0) }
    }

    var certificates: [X509Certificate] {
        guard let stack = CMS_get1_certs(pointer) else { return [] }
        defer { OPENSSL_sk_pop_free(stack) { X509_free(OpaquePointer($0)) } }
        return LibCrypto.elements(stack).map(X509Certificate.init(sharing:))
    }
}

/// A signer of a CMS message and its signed attributes.
package struct CMSSigner {
    /// The owner of the memory to which `pointer` points.
    let message: CMSMessage
    let pointer: OpaquePointer

    /// The algorithm identifier of a digest or signature.
    struct Algorithm: Equatable {
        let oid: [UInt8]
        /// Whether the parameters are absent or NULL. Both mean that the algorithm has no parameters.
        let hasNoParameters: Bool
    }

    /// The value of a signed attribute: its universal tag and its contents.
    package struct Value {
        package let tag: UInt8
        package let bytes: [UInt8]
    }

    var algorithms: (digest: Algorithm, signature: Algorithm) {
        var (digest, signature): (UnsafeMutablePointer<X509_ALGOR>?, UnsafeMutablePointer<X509_ALGOR>?) = (nil, nil)
        CMS_SignerInfo_get0_algs(pointer, nil, nil, &digest, &signature)
        return (Self.algorithm(digest), Self.algorithm(signature))
    }

    /// The object identifiers of the signed attributes, in the order of the message.
    var attributeTypes: [[UInt8]] {
        let count = CMS_signed_get_attr_count(pointer)
        guard count > 0 else { return [] }
        return (0..<count).map { index in
            LibCrypto.bytes(oid: X509_ATTRIBUTE_get0_object(CMS_signed_get_attr(pointer, index)))
        }
    }

    /// Returns the value of the signed attribute with this object identifier; nil if the attribute is absent, occurs
    /// twice, or does not have exactly one value (RFC 5652 section 11).
    package func value(of attribute: [UInt8]) -> Value? {
        let indices = attributeTypes.indices.filter { attributeTypes[$0] == attribute }
        guard indices.count == 1, let found = CMS_signed_get_attr(pointer, CInt(indices[0])),
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

    /// Whether the signer identifier in the message names this certificate.
    func identifies(_ certificate: X509Certificate) -> Bool {
        CMS_SignerInfo_cert_cmp(pointer, certificate.pointer) == 0
    }

    /// Whether the signature over the signed attributes verifies with the public key of this certificate.
    func isSigned(by certificate: X509Certificate) -> Bool {
        CMS_SignerInfo_set1_signer_cert(pointer, certificate.pointer)
        defer { ERR_clear_error() }
        return CMS_SignerInfo_verify(pointer) == 1
    }

    private static func algorithm(_ identifier: UnsafeMutablePointer<X509_ALGOR>?) -> Algorithm {
        var oid: OpaquePointer?
        var parameters = CInt(V_ASN1_UNDEF)
        X509_ALGOR_get0(&oid, &parameters, nil, identifier)
        return Algorithm(
            oid: LibCrypto.bytes(oid: oid), hasNoParameters: parameters == V_ASN1_UNDEF || parameters == V_ASN1_NULL)
    }
}
