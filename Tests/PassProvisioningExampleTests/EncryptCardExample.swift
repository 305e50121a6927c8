// The article EncryptACard.md shows what follows; a test compares them.
import Foundation
import PassProvisioning

/// Encrypts a card for the request of an app. `card` is a JSON object with Apple's keys, without `nonce`,
/// `nonceSignature` and `version`.
func encryptCard(
    _ card: [UInt8], certificates: [String], nonce: String, nonceSignature: String
) throws -> EncryptedPass {
    let verified = try ProvisioningCertificates(base64: certificates)
        .verified(trust: ProvisioningTrust(), at: Date())
    let data = try CardData(
        configuration: .cardNumber, network: .mastercard, card: card, nonce: ProvisioningNonce(hex: nonce),
        nonceSignature: NonceSignature(hex: nonceSignature), at: Date())
    return try ProvisioningAttempt().encrypt(data, for: verified)
}
