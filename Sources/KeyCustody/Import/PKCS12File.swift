import CLibCrypto
import MerchantCore

/// Reads PKCS#12 files (`.p12`, `.pfx`), RFC 7292, including old files that are encrypted with RC2-40 or triple DES.
enum PKCS12File {
    /// Reads one private key and the certificates. The private key's own certificate comes first.
    ///
    /// - Parameter number: which private key, counted from 1; nil for the only one.
    static func contents(
        _ bytes: UnsafeRawBufferPointer, _ number: Int?, _ passphrase: borrowing Passphrase
    ) throws(MerchantError) -> PrivateKeyFile.Contents {
        var next = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let file = d2i_PKCS12(nil, &next, bytes.count) else {
            throw PrivateKeyFile.malformed("is DER but not PKCS#12, expected PKCS#12 or PEM")
        }
        defer { PKCS12_free(file) }
        guard UnsafePointer(next) == bytes.assumingMemoryBound(to: UInt8.self).baseAddress.map({ $0 + bytes.count })
        else {
            throw PrivateKeyFile.malformed("is PKCS#12, but has further bytes after the PKCS#12 structure")
        }
        guard PKCS12_mac_present(file) == 1 else {
            throw PrivateKeyFile.malformed(
                "is PKCS#12 without a MAC, which would show whether the passphrase is right: export the file with a MAC"
            )
        }
        let rounds = try KeyDerivationLimit.check(bytes)
        try checkMAC(file, passphrase)
        // RFC 7292 calls the list of a file's parts `AuthenticatedSafe`, and libcrypto calls them safes.
        guard let safes = PKCS12_unpack_authsafes(file) else { throw OpenSSLKey.decryptionFailure() }
        defer { clibcrypto_free_safes(safes) }
        // An absent passphrase is encoded as a null pointer or as an empty string. Use the encoding for which the MAC
        // is valid, and try the null pointer first.
        let usesNullPassphrase = passphrase.isEmpty && PKCS12_verify_mac(file, nil, 0) == 1
        try checkEncryptedParts(safes, passphrase, usesNullPassphrase, after: rounds)

        let bags = try PKCS12Bags(safes, passphrase, usesNullPassphrase)
        guard bags.keyCount > 0 else {
            throw PrivateKeyFile.malformed("is PKCS#12 without a private key: export the file with its private key")
        }
        let position = try PrivateKeyFile.position(of: number, among: bags.keyCount)
        let key = try bags.key(at: position, passphrase, usesNullPassphrase)
        var own: [[UInt8]] = []
        var others: [[UInt8]] = []
        for certificate in bags.certificates {
            guard let encoded = der(certificate) else { continue }
            if key.isCertified(by: certificate) { own.append(encoded) } else { others.append(encoded) }
        }
        return PrivateKeyFile.Contents(key: key, certificates: own + others, keyCount: bags.keyCount)
    }

    private static func der(_ certificate: OpaquePointer) -> [UInt8]? {
        var memory: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &memory)
        guard count > 0, let memory else { return nil }
        defer { CRYPTO_free(memory, #fileID, #line) }
        return Array(UnsafeBufferPointer(start: memory, count: Int(count)))
    }

    /// Applies ``KeyDerivationLimit`` to the encrypted parts of the file. A part may contain keys that are encrypted
    /// again, and only its decryption shows how many rounds those keys need.
    private static func checkEncryptedParts(
        _ safes: OpaquePointer, _ passphrase: borrowing Passphrase, _ usesNullPassphrase: Bool, after rounds: Int
    ) throws(MerchantError) {
        var rounds = rounds
        for index in 0..<clibcrypto_safe_count(safes) {
            var content: UnsafeMutablePointer<UInt8>?
            var count: Int32 = 0
            let opened =
                usesNullPassphrase
                ? clibcrypto_open_safe(safes, index, nil, 0, &content, &count)
                : passphrase.withCString {
                    clibcrypto_open_safe(safes, index, $0, Int32(passphrase.count), &content, &count)
                }
            // 0 means that this part is not encrypted, so `rounds` already includes its rounds.
            guard opened != 0 else { continue }
            guard opened == 1, let content else { throw OpenSSLKey.decryptionFailure() }
            defer { CRYPTO_clear_free(content, Int(count), #fileID, #line) }
            rounds = try KeyDerivationLimit.check(
                UnsafeRawBufferPointer(start: content, count: Int(count)), after: rounds)
        }
    }

    /// Checks the passphrase: the MAC over the file's contents is valid only for the right passphrase.
    private static func checkMAC(_ file: OpaquePointer, _ passphrase: borrowing Passphrase) throws(MerchantError) {
        let isMACValid = passphrase.withCString { PKCS12_verify_mac(file, $0, Int32(passphrase.count)) } == 1
        // Programs that write PKCS#12 encode an absent passphrase either as an empty string or as a null pointer.
        guard isMACValid || (passphrase.isEmpty && PKCS12_verify_mac(file, nil, 0) == 1) else {
            try PrivateKeyFile.requirePassphrase(passphrase)
            throw PrivateKeyFile.wrongPassphrase
        }
    }
}
