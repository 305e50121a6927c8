import Crypto
import Glibc
package import MerchantCore
package import PaymentToken
import Secrets
package import Vocabulary

/// The platform's private key of `merchant-tokens.usage-information.private-key`, which authenticates usage information
/// to the devices that decrypt it.
package struct UsageInformationKey: Sendable {
    private let privateKey: P384.KeyAgreement.PrivateKey

    /// X9.63, uncompressed.
    package var publicKey: [UInt8] { Array(privateKey.publicKey.x963Representation) }

    /// - Parameter path: the path of a file with a P-384 private key in PEM: PKCS#8 (`PRIVATE KEY`) or SEC1
    ///   (`EC PRIVATE KEY`), not encrypted.
    /// - Throws: `privateKeyMalformed` if the file contains no such key, if users other than its owner may write to it,
    ///   or if users other than its owner and group may read it.
    package init(reading path: String) throws(MerchantError) {
        let file = try Self.content(of: path)
        let key = file.withUnsafeBytes { bytes in
            try? P384.KeyAgreement.PrivateKey(pemRepresentation: String(decoding: bytes, as: UTF8.self))
        }
        guard let key else {
            throw MerchantError(
                .privateKeyMalformed,
                "the file \(path) is not a P-384 private key in PEM; create one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384"
            )
        }
        privateKey = key
    }

    /// - Parameters:
    ///   - content: the usage information package.
    ///   - token: the merchant token to which the package belongs.
    ///   - publicKey: the merchant token's public key: P-384, X9.63.
    package func encrypt(
        _ content: [UInt8], for token: MerchantTokenIdentifier, publicKey: [UInt8]
    ) throws(PaymentTokenError) -> MerchantTokenUsageInformation {
        try MerchantTokenUsageInformation(
            encrypting: content, merchantTokenIdentifier: token.rawValue, merchantTokenPublicKey: publicKey,
            merchantPrivateKey: privateKey)
    }

    /// Permissions that the file must not have: write and execute for the group, all for others.
    private static let forbiddenPermissions: mode_t = 0o037

    private static func content(of path: String) throws(MerchantError) -> SecretBytes {
        do throws(IdentityError) {
            return try IdentityFiles.bytes(path, named: "the file", withoutPermissions: forbiddenPermissions)
        } catch { throw MerchantError(.privateKeyMalformed, "\(error)") }
    }
}
