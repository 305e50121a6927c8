import CLibCrypto
import MerchantCore

/// The entries of a PKCS#12 file, which RFC 7292 calls bags: private keys and certificates, in the order of the file.
/// Only ``key(at:_:_:)`` decrypts a private key.
final class PKCS12Bags {
    /// Stacks of libcrypto, which own the bags.
    private var stacks: [OpaquePointer] = []
    /// The bags with private keys, plain or encrypted.
    private var keys: [OpaquePointer] = []
    /// The certificates, as pointers of libcrypto that are valid as long as this object exists.
    private(set) var certificates: [OpaquePointer] = []

    /// - Parameters:
    ///   - safes: the parts of the file.
    ///   - usesNullPassphrase: whether the file has no passphrase and was encrypted with a null pointer instead of an
    ///     empty string.
    init(
        _ safes: OpaquePointer, _ passphrase: borrowing Passphrase, _ usesNullPassphrase: Bool
    ) throws(MerchantError) {
        for index in 0..<clibcrypto_safe_count(safes) {
            guard clibcrypto_safe_is_supported(safes, index) == 1 else {
                throw PrivateKeyFile.malformed(
                    "is PKCS#12 with a part that is encrypted for a public key: export the file with only a passphrase")
            }
            let opened: OpaquePointer? =
                usesNullPassphrase
                ? clibcrypto_safe_bags(safes, index, nil, 0)
                : passphrase.withCString { clibcrypto_safe_bags(safes, index, $0, Int32(passphrase.count)) }
            guard let bags = opened else { throw OpenSSLKey.decryptionFailure() }
            stacks.append(bags)
            collect(bags)
        }
    }

    deinit {
        for certificate in certificates { X509_free(certificate) }
        for bags in stacks { clibcrypto_free_bags(bags) }
    }

    var keyCount: Int { keys.count }

    /// Decrypts a private key.
    ///
    /// - Parameter position: counted from 0.
    func key(
        at position: Int, _ passphrase: borrowing Passphrase, _ usesNullPassphrase: Bool
    ) throws(MerchantError) -> OpenSSLKey {
        let bag = keys[position]
        guard PKCS12_SAFEBAG_get_nid(bag) != NID_keyBag else {
            return try Self.key(PKCS12_SAFEBAG_get0_p8inf(bag))
        }
        let opened: OpaquePointer? =
            usesNullPassphrase
            ? PKCS12_decrypt_skey(bag, nil, 0)
            : passphrase.withCString { PKCS12_decrypt_skey(bag, $0, Int32(passphrase.count)) }
        guard let info = opened else { throw OpenSSLKey.decryptionFailure() }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return try Self.key(info)
    }

    /// - Parameter info: the private key as `PrivateKeyInfo`.
    private static func key(_ info: OpaquePointer?) throws(MerchantError) -> OpenSSLKey {
        guard let info, let key = EVP_PKCS82PKEY(info) else {
            throw PrivateKeyFile.malformed("holds a private key that cannot be read, expected P-256 or RSA-2048")
        }
        return OpenSSLKey(takingOwnershipOf: key)
    }

    /// Other bags, such as certificate revocation lists, are ignored.
    private func collect(_ bags: OpaquePointer) {
        for index in 0..<clibcrypto_bag_count(bags) {
            guard let bag = clibcrypto_bag(bags, index) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag, NID_pkcs8ShroudedKeyBag: keys.append(bag)
            case NID_certBag:
                guard PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate,
                    let certificate = PKCS12_SAFEBAG_get1_cert(bag)
                else { continue }
                certificates.append(certificate)
            case NID_safeContentsBag:
                // The bag owns the inner bags. The depth is limited: KeyDerivationLimit has refused files with too many
                // levels of nested elements.
                if let inner = PKCS12_SAFEBAG_get0_safes(bag) { collect(inner) }
            default: continue
            }
        }
    }
}
