import Crypto
import CryptoExtras
import Foundation
import PaymentToken
import Testing
import Vocabulary

/// A real token from a public test suite, which also published its private key if ``hasKey``. The files are in the
/// directory that the environment variable `MERCHANTKEYD_FIXTURES` names.
struct Fixture: Sendable, CustomTestStringConvertible {
    static let directory = ProcessInfo.processInfo.environment["MERCHANTKEYD_FIXTURES"]
    static let areAvailable = directory != nil
    static let merchantIdentifier = "merchant.basistheory.sales"

    let path: String
    let signingTime: String
    var hasKey: Bool { path.hasPrefix("rolled-merchant") }
    var testDescription: String { path }

    static let all = [
        Fixture(path: "rolled-merchant/ec-old", signingTime: "2023-03-20T20:46:55Z"),
        Fixture(path: "rolled-merchant/ec-new", signingTime: "2023-09-13T13:49:38Z"),
        Fixture(path: "rolled-merchant/rsa", signingTime: "2024-01-08T17:54:44Z"),
        Fixture(path: "verify-only/ec-2024", signingTime: "2024-10-30T22:28:45Z"),
    ]
    static let withKeys = all.filter(\.hasKey)

    func read(_ suffix: String) throws -> Data {
        try Data(contentsOf: URL(filePath: "\(Self.directory ?? "")/\(path).\(suffix)"))
    }

    func token() throws -> ApplePayToken { try ApplePayToken(parsing: read("paymentData.json")) }

    func signedAt() throws -> Timestamp { try #require(Timestamp(rfc3339: signingTime)) }

    /// Restores the symmetric key with the published private key.
    func symmetricKey(merchantIdentifier: String = Self.merchantIdentifier) throws -> SymmetricKey {
        // Skips the `EC PARAMETERS` block that OpenSSL may write first: the key block contains the same parameters.
        let file = String(decoding: try read("key.pem"), as: UTF8.self)
        let pem = "-----BEGIN " + (file.components(separatedBy: "-----BEGIN ").last ?? "")
        switch try token().keyMaterial {
        case .ephemeralPublicKey(let ephemeral):
            let secret = try P256.KeyAgreement.PrivateKey(pemRepresentation: pem)
                .sharedSecretFromKeyAgreement(with: ephemeral.agreementKey)
            return try SymmetricKeyDerivation.symmetricKey(
                sharedSecret: secret, merchantIdentifier: merchantIdentifier)
        case .wrappedKey(let wrapped):
            return SymmetricKey(
                data: try _RSA.Encryption.PrivateKey(pemRepresentation: pem)
                    .decrypt(wrapped.bytes, padding: .PKCS1_OAEP_SHA256))
        }
    }
}
