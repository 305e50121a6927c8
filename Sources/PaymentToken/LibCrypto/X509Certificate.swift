import CLibCrypto
import Vocabulary

/// An X.509 certificate, parsed by libcrypto.
final class X509Certificate: @unchecked Sendable {
    // Proof for @unchecked Sendable: this class does not modify the object, and libcrypto locks its lazily filled
    // caches.
    let pointer: OpaquePointer

    /// Adds a reference to a certificate that another object owns.
    init(sharing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.pointer = pointer
    }

    /// - Returns: nil if the bytes are not exactly one certificate.
    init?(derRepresentation: [UInt8]) {
        let parsed: OpaquePointer? = derRepresentation.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let parsed = d2i_X509(nil, &cursor, buffer.count) else { return nil }
            guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
                X509_free(parsed)
                return nil
            }
            return parsed
        }
        ERR_clear_error()
        guard let parsed else { return nil }
        pointer = parsed
    }

    deinit { X509_free(pointer) }

    var derRepresentation: [UInt8] { LibCrypto.encoded { i2d_X509(pointer, $0) } }
    var notBefore: ASN1Time? { LibCrypto.time(X509_get0_notBefore(pointer)) }
    var notAfter: ASN1Time? { LibCrypto.time(X509_get0_notAfter(pointer)) }
    var serialNumber: [UInt8] { LibCrypto.bytes(X509_get0_serialNumber(pointer)) }
    var subjectCommonNames: [String] { Self.commonNames(X509_get_subject_name(pointer)) }
    var issuerCommonNames: [String] { Self.commonNames(X509_get_issuer_name(pointer)) }

    /// The public key; nil if it cannot be decoded or is neither an EC nor an RSA key.
    var verificationKey: VerificationKey? { X509_get0_pubkey(pointer).flatMap(VerificationKey.init(sharing:)) }

    /// Whether subject and issuer are equal, as in a root certificate. The signature is not checked.
    var isSelfIssued: Bool {
        X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
    }

    /// Whether the key usage includes digitalSignature. Also true without a key usage extension, because such a
    /// certificate permits every use (RFC 5280 section 4.2.1.3).
    var allowsDigitalSignature: Bool { X509_get_key_usage(pointer) & UInt32(KU_DIGITAL_SIGNATURE) != 0 }

    /// Whether the basic constraints say that this is a CA certificate. For old forms of CA certificates, which have no
    /// basic constraints, libcrypto returns values other than 1.
    var isCertificateAuthority: Bool { X509_check_ca(pointer) == 1 }

    var extensionOIDs: [[UInt8]] {
        (0..<X509_get_ext_count(pointer)).map { index in
            LibCrypto.bytes(oid: X509_EXTENSION_get_object(X509_get_ext(pointer, index)))
        }
    }

    func hasExtension(_ oid: [UInt8]) -> Bool { extensionOIDs.contains(oid) }

    /// The contents of the DER `IssuerAndSerialNumber` of this certificate, without tag and length (RFC 5652
    /// section 10.2.4).
    var issuerAndSerialNumber: [UInt8] {
        LibCrypto.encoded { i2d_X509_NAME(X509_get_issuer_name(pointer), $0) }
            + LibCrypto.encoded { i2d_ASN1_INTEGER(X509_get0_serialNumber(pointer), $0) }
    }

    private static func commonNames(_ name: OpaquePointer?) -> [String] {
        var names: [String] = []
        var index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        while index >= 0 {
            let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index))
            names.append(String(decoding: LibCrypto.bytes(value), as: UTF8.self))
            index = X509_NAME_get_index_by_NID(name, NID_commonName, index)
        }
        return names
    }
}
