public import Crypto
import FoundationEssentials
import Secrets

extension ApplePayToken.Version {
    /// Bytes in the symmetric key: AES-256 for EC_v1, AES-128 for RSA_v1.
    public var symmetricKeyLength: Int {
        switch self {
        case .ecV1: 32
        case .rsaV1: 16
        }
    }
}

extension ApplePayToken {
    /// AES-GCM's initialization vector: 16 zero bytes. (The 12 of most protocols open no payment token: GCM treats the
    /// two lengths differently, NIST SP 800-38D section 7.1. A zero vector is sound because no key is used twice.)
    static let initializationVector = [UInt8](repeating: 0, count: 16)
    static let tagLength = 16

    /// Opens the token. Says nothing about who made it: that is the signature's part.
    ///
    /// - Parameter key: 32 bytes for EC_v1, 16 for RSA_v1.
    /// - Throws: ``PaymentTokenError`` with code `wrongKey` for another length; `decryptionFailed` in every other case,
    ///   always with the same words, so that a caller learns nothing about why.
    public func decrypt(with key: SymmetricKey) throws(PaymentTokenError) -> DecryptedPaymentData {
        guard key.bitCount == version.symmetricKeyLength * 8 else {
            throw PaymentTokenError(
                .wrongKey,
                "found a symmetric key of \(key.bitCount / 8) bytes, "
                    + "expected \(version.symmetricKeyLength) for \(version.rawValue)")
        }
        var plaintext: Data
        do {
            plaintext = try AES.GCM.open(
                AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: Self.initializationVector),
                    ciphertext: data.dropLast(Self.tagLength), tag: data.suffix(Self.tagLength)),
                using: key)
        } catch {
            throw PaymentTokenError(
                .decryptionFailed,
                "the symmetric key does not open the token: it is for another key pair or merchant, or was changed")
        }
        defer { Wipe.bytes(&plaintext) }
        return DecryptedPaymentData(plaintext: SecretBytes(copying: plaintext))
    }
}
