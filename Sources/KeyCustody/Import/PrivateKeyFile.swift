import CLibCrypto
import MerchantCore
import Secrets
import Vocabulary

/// Reads a private key file: PEM (PKCS#8, SEC1, PKCS#1; plain or encrypted) or PKCS#12.
enum PrivateKeyFile {
    /// A validated private key of a type that Apple certifies.
    struct ImportedKey: ~Copyable {
        let bytes: PrivateKeyBytes
        let signingKey: SigningKey
        /// The certificates in the same file, in DER.
        var certificates: [[UInt8]] = []
        /// Whether the file has no other private key.
        var isOnlyKey = true
    }

    /// A private key of a file, before it is validated, and the certificates in the same file in DER.
    struct Contents: ~Copyable {
        let key: OpenSSLKey
        let certificates: [[UInt8]]
        /// How many private keys the file has.
        let keyCount: Int

        /// Returns the key and discards the certificates.
        consuming func takeKey() -> OpenSSLKey { key }
    }

    /// The largest accepted file in bytes.
    static let longest = 64 * 1024

    /// The private key of a TLS identity, which the daemon keeps in memory, and the certificates in the same file.
    struct Identity {
        let signingKey: SigningKey
        /// The certificates in DER; empty if the file contains none.
        let certificates: [[UInt8]]
    }

    /// Reads the private key of a TLS identity, and the certificates in the same file. Of several private keys in a
    /// PKCS#12 file, reads the first.
    static func readIdentity(
        _ file: borrowing SecretBytes, passphrase: borrowing SecretBytes
    ) throws(MerchantError) -> Identity {
        let imported = try read(file, number: 1, passphrase: passphrase)
        return Identity(signingKey: imported.signingKey, certificates: imported.certificates)
    }

    /// Reads and validates one private key of a file, and reads the certificates in the same file.
    ///
    /// - Parameter number: which private key of a PKCS#12 file, counted from 1; nil for the only one.
    /// - Throws: `privateKeyMalformed`, `wrongPassphrase`, `privateKeyNotChosen`, `keyUnsupported`, `tooLarge` or
    ///   `malformed`. No error contains bytes of the file.
    static func read(
        _ file: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes
    ) throws(MerchantError) -> ImportedKey {
        guard file.count <= longest else {
            throw MerchantError(.tooLarge, "the private key file has \(file.count) bytes, expected at most \(longest)")
        }
        let passphrase = try Passphrase(passphrase)
        return try OpenSSLContext.perform { () throws(MerchantError) -> ImportedKey in
            let contents = try file.withUnsafeBytes { bytes throws(MerchantError) -> Contents in
                if PEMText.isFound(in: bytes) {
                    _ = try position(of: number, among: 1)
                    return try readPEM(bytes, passphrase)
                }
                // PKCS#12 is DER, which begins with the tag of a SEQUENCE.
                guard bytes.first == 0x30 else {
                    throw malformed("is neither PEM nor PKCS#12: give the key in one of these formats")
                }
                return try PKCS12File.contents(bytes, number, passphrase)
            }
            let (certificates, keyCount) = (contents.certificates, contents.keyCount)
            var imported = try contents.takeKey().importedKey()
            imported.certificates = certificates
            imported.isOnlyKey = keyCount == 1
            return imported
        }
    }

    private static func readPEM(
        _ bytes: UnsafeRawBufferPointer, _ passphrase: borrowing Passphrase
    ) throws(MerchantError) -> Contents {
        let text = PEMText(reading: bytes)
        var found: OpenSSLKey?
        var certificates: [[UInt8]] = []
        var others: [String] = []
        while let block = try next(text) {
            guard block.label.hasSuffix("PRIVATE KEY") else {
                if block.label == "CERTIFICATE" { certificates.append(Array(block.bytes)) }
                others.append(block.label)
                continue
            }
            guard found == nil else { throw malformed("holds more than one private key: keep only the one to import") }
            found = try read(block, passphrase)
        }
        guard let key = found.take() else {
            throw malformed("holds no private key (found: \(PEMText.list(others)))")
        }
        return Contents(key: key, certificates: certificates, keyCount: 1)
    }

    private static func next(_ text: borrowing PEMText) throws(MerchantError) -> PEMBlock? {
        do { return try text.next() } catch { throw malformed("holds a PEM block that is incomplete or not Base64") }
    }

    private static func read(
        _ block: consuming PEMBlock, _ passphrase: borrowing Passphrase
    ) throws(MerchantError) -> OpenSSLKey {
        switch block.label {
        case "PRIVATE KEY": return try OpenSSLKey(pkcs8: block.bytes)
        case "ENCRYPTED PRIVATE KEY":
            try requirePassphrase(passphrase)
            return try OpenSSLKey(encryptedPKCS8: block.bytes, passphrase)
        case "EC PRIVATE KEY", "RSA PRIVATE KEY":
            let type = block.label == "EC PRIVATE KEY" ? EVP_PKEY_EC : EVP_PKEY_RSA
            guard block.isEncrypted else { return try OpenSSLKey(traditional: block.bytes, type) }
            try requirePassphrase(passphrase)
            guard try block.decrypt(passphrase: passphrase) else { throw wrongPassphrase }
            // RFC 1421 encryption has no integrity check: about one wrong passphrase in 256 decrypts to random bytes,
            // which are not a key.
            do { return try OpenSSLKey(traditional: block.bytes, type) } catch { throw wrongPassphrase }
        default:
            throw MerchantError(
                .keyUnsupported,
                "the label of the PEM block is '\(block.label)', expected PRIVATE KEY, ENCRYPTED PRIVATE KEY, EC PRIVATE KEY or RSA PRIVATE KEY"
            )
        }
    }

    /// - Parameter number: counted from 1; nil for the only private key.
    /// - Returns: the position of the private key, counted from 0.
    /// - Throws: `privateKeyNotChosen` if there is no private key with this number, or if there are several and no
    ///   number.
    static func position(of number: Int?, among count: Int) throws(MerchantError) -> Int {
        let number = number ?? (count == 1 ? 1 : 0)
        guard number >= 1, number <= count else {
            throw MerchantError(
                .privateKeyNotChosen,
                "the private key file holds \(count.counted("private key")): send 'keyNumber', 1 to \(count), or import each private key with 'key import-all'"
            )
        }
        return number - 1
    }

    /// - Throws: `wrongPassphrase` if the passphrase is empty, although the file is encrypted.
    static func requirePassphrase(_ passphrase: borrowing Passphrase) throws(MerchantError) {
        guard !passphrase.isEmpty else {
            throw MerchantError(.wrongPassphrase, "the private key file is encrypted: a passphrase is needed")
        }
    }

    static var wrongPassphrase: MerchantError {
        MerchantError(.wrongPassphrase, "the passphrase does not decrypt the private key file")
    }

    /// - Parameter predicate: the end of a sentence that begins with "the private key file".
    static func malformed(_ predicate: String) -> MerchantError {
        MerchantError(.privateKeyMalformed, "the private key file \(predicate)")
    }
}
