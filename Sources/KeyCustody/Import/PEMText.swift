import CLibCrypto
import MerchantCore
import Secrets

/// Reads the blocks of a PEM file (RFC 7468) one by one. Skips text outside of blocks.
struct PEMText: ~Copyable {
    private let bio: OpaquePointer

    /// - Parameter text: the file's contents, which must stay valid for the lifetime of this value.
    init(reading text: UnsafeRawBufferPointer) {
        guard let bio = BIO_new_mem_buf(text.baseAddress, Int32(text.count)) else {
            preconditionFailure("a read-only BIO allocates only a few bytes")
        }
        self.bio = bio
    }

    deinit { BIO_free(bio) }

    /// Whether the bytes contain the start of a PEM block. If not, a valid file is DER.
    static func isFound(in bytes: some Collection<UInt8>) -> Bool {
        bytes.firstRange(of: Array("-----BEGIN ".utf8)) != nil
    }

    /// A text for an error message with up to five of the labels. Only labels are shown, because the content of a block
    /// may be secret.
    static func list(_ labels: [String]) -> String {
        labels.isEmpty ? "nothing" : Set(labels).sorted().prefix(5).joined(separator: ", ")
    }

    /// Reads the next block.
    ///
    /// - Returns: nil after the last block.
    /// - Throws: `malformed` for a block that is incomplete or not Base64. The caller replaces this error by an error
    ///   that names the kind of file.
    borrowing func next() throws(MerchantError) -> PEMBlock? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard PEM_read_bio(bio, &name, &header, &data, &count) == 1, let name, let header, let data else {
            guard clibcrypto_err_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
                throw MerchantError(.malformed, "a PEM block is incomplete or not Base64")
            }
            return nil
        }
        defer { CRYPTO_free(name, #fileID, #line) }
        return PEMBlock(label: String(cString: name), header: header, data: data, count: count)
    }
}

/// One decoded PEM block. Its bytes may be secret, so they are wiped when the value ends.
struct PEMBlock: ~Copyable {
    let label: String
    private let header: UnsafeMutablePointer<CChar>
    private let data: UnsafeMutablePointer<UInt8>
    private var count: Int
    private let capacity: Int

    fileprivate init(
        label: String, header: UnsafeMutablePointer<CChar>, data: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        self.label = label
        self.header = header
        self.data = data
        self.count = count
        capacity = count
    }

    deinit {
        CRYPTO_free(header, #fileID, #line)
        CRYPTO_clear_free(data, capacity, #fileID, #line)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: count) }

    /// Whether the block is encrypted as in RFC 1421 (`Proc-Type: 4,ENCRYPTED`), which OpenSSL used before PKCS#8.
    var isEncrypted: Bool { String(cString: header).contains("ENCRYPTED") }

    /// Decrypts the block in place.
    ///
    /// - Returns: false for a wrong passphrase. But about one wrong passphrase in 256 happens to give valid padding:
    ///   this method then returns true, and the decrypted bytes are random.
    /// - Throws: `keyUnsupported` for an unsupported cipher.
    mutating func decrypt(passphrase: borrowing Passphrase) throws(MerchantError) -> Bool {
        var cipher = EVP_CIPHER_INFO()
        guard PEM_get_EVP_CIPHER_INFO(header, &cipher) == 1 else {
            throw MerchantError(.keyUnsupported, "the PEM block is encrypted with an unsupported cipher")
        }
        var length = count
        let isDecrypted = passphrase.withCallback { callback, context in
            PEM_do_header(&cipher, data, &length, callback, context) == 1
        }
        guard isDecrypted else { return false }
        count = length
        return true
    }
}
