// The article ReadTokenMetadata.md shows what follows the imports; a test compares them.
import Crypto
import Foundation
import MerchantKeyClient
import PaymentToken

/// Verifies and decrypts the token metadata of an event.
func readTokenMetadata(
    _ json: Data, notifiedAt: Date, verifier: SignatureVerifier, keys: DecryptorClient
) async throws -> DecryptedTokenMetadata {
    let metadata = try EncryptedTokenMetadata(parsing: json)
    try verifier.verify(metadata, receivedAt: notifiedAt).requireVerified()
    let publicKeyHash = metadata.publicKeyHashBase64
    let symmetricKey =
        switch metadata.keyMaterial {
        case .ephemeralPublicKey(let sender):
            try await keys.symmetricKey(
                of: publicKeyHash, ephemeralPublicKey: Data(sender.derRepresentation).base64EncodedString())
        case .wrappedKey(let wrapped):
            try await keys.symmetricKey(of: publicKeyHash, wrappedKey: Data(wrapped.bytes).base64EncodedString())
        }
    return try metadata.decrypt(with: SymmetricKey(data: symmetricKey))
}
