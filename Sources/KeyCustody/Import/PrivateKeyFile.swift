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
    }

    /// The largest accepted file in bytes.
    static let longest = 64 * 1024

    /// The private key of a TLS identity, which the daemon keeps in memory, and the certificates in the same file.
    struct Identity {
        let signingKey: SigningKey
        /// The certificates in DER. Empty if the file is PEM, or PKCS#12 without certificates.
        let certificates: [[UInt8]]
    }

    /// Reads the private key of a TLS identity. If the file is PKCS#12, reads its certificates too.
    static func readIdentity(
        _ file: borrowing SecretBytes, passphrase: borrowing SecretBytes
    ) throws(MerchantError) -> Identity {
        // PKCS#12 is DER, which begins with 0x30, the tag of a SEQUENCE.
        guard file.withUnsafeBytes({ $0.first == 0x30 && !PEMText.isFound(in: $0) }) else {
            return Identity(signingKey: try read(file, passphrase: passphrase).signingKey, certificates: [])
        }
        let passphrase = try Passphrase(passphrase)
        return try OpenSSLContext.perform { () throws(MerchantError) -> Identity in
            let contents = try file.withUnsafeBytes { bytes throws(MerchantError) -> PKCS12File.Contents in
                try PKCS12File.contents(bytes, passphrase)
            }
            let certificates = contents.certificates
            return Identity(signingKey: try contents.takeKey().importedKey().signingKey, certificates: certificates)
        }
    }

    /// Reads and validates the one private key of a file.
    ///
    /// - Throws: `privateKeyMalformed`, `wrongPassphrase`, `keyUnsupported`, `tooLarge` or `malformed`. No error
    ///   contains bytes of the file.
    static func read(
        _ file: borrowing SecretBytes, passphrase: borrowing SecretBytes
    ) throws(MerchantError) -> ImportedKey {
        guard file.count <= longest else {
            throw MerchantError(.tooLarge, "the private key file has \(file.count) bytes, expected at most \(longest)")
        }
        let passphrase = try Passphrase(passphrase)
        return try OpenSSLContext.perform { () throws(MerchantError) -> ImportedKey in
            let key = try file.withUnsafeBytes { bytes throws(MerchantError) -> OpenSSLKey in
                if PEMText.isFound(in: bytes) { return try readPEM(bytes, passphrase) }
                // PKCS#12 is DER, which begins with the tag of a SEQUENCE.
                guard bytes.first == 0x30 else {
                    throw malformed("is neither PEM nor PKCS#12: give the key in one of these formats")
                }
                return try PKCS12File.read(bytes, passphrase)
            }
            return try key.importedKey()
        }
    }

    private static func readPEM(
        _ bytes: UnsafeRawBufferPointer, _ passphrase: borrowing Passphrase
    ) throws(MerchantError) -> OpenSSLKey {
        let text = PEMText(reading: bytes)
        var found: OpenSSLKey?
        var others: [String] = []
        while let block = try next(text) {
            guard block.label.hasSuffix("PRIVATE KEY") else {
                others.append(block.label)
                continue
            }
            guard found == nil else { throw malformed("holds more than one private key: keep only the one to import") }
            found = try read(block, passphrase)
        }
        guard let key = found.take() else {
            throw malformed("holds no private key (found: \(PEMText.list(others)))")
        }
        return key
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
