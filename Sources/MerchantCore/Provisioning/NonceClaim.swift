import Crypto
package import Vocabulary

/// The record that a nonce of in-app provisioning was used: by which user, and when. Contains no card data.
package struct NonceClaim: Hashable, Sendable {
    /// SHA-256 of the nonce together with its `nonceSignature`.
    ///
    /// A nonce has only 4 bytes, so two devices may have the same one. `nonceSignature`, which the device computes over
    /// the nonce, distinguishes such devices. A caller that changes the signature gets card data that Apple refuses.
    package let digest: Bits256
    package let caller: String
    package let at: Timestamp

    package init(digest: Bits256, caller: String, at: Timestamp) {
        self.digest = digest
        self.caller = caller
        self.at = at
    }

    /// - Parameters:
    ///   - nonce: the nonce in lower-case hexadecimal digits.
    ///   - nonceSignature: the device's signature in lower-case hexadecimal digits.
    package init(nonce: String, nonceSignature: String, caller: String, at: Timestamp) {
        let text = "merchantkeyd nonce 1\n\(nonce)\n\(nonceSignature)"
        guard let digest = Bits256(bytes: Array(SHA256.hash(data: Array(text.utf8)))) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        self.init(digest: digest, caller: caller, at: at)
    }
}
