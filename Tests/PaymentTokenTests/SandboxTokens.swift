import Crypto
import CryptoExtras
import Foundation
import PaymentToken
import SandboxKit
import Testing
import Vocabulary

/// Tokens made by the sandbox, an implementation that is independent of the library, and the merchant keys for them.
struct SandboxTokens: Sendable {
    static let shared = Result { try SandboxTokens() }
    static let merchant = "merchant.com.example.sandbox"

    /// The kinds of tokens, each with the change that makes it from an ordinary token.
    static let kinds: [(name: String, change: @Sendable (inout TokenParameters) -> Void)] = [
        ("plain", { _ in }),
        ("applicationData", { $0.applicationData = Array("order 4711".utf8) }),
        ("EMV", { $0.dataType = .emv }),
        (
            "merchant token",
            {
                $0.merchantTokenIdentifier = "DAPLMC0000"
                $0.hasMerchantTokenMetadata = true
            }
        ),
        (
            "authentication responses",
            { parameters in
                guard let other = MerchantIdentifier("merchant.com.example.other") else { return }
                parameters.authenticationResponses = [.init(merchant: other, amount: 250)]
            }
        ),
    ]

    let signedAt = Timestamp(millisecondsSince1970: 1_795_237_200_000)  // 2026-11-21T05:00:00Z
    let trustRoots: [TrustRoot]
    private let authority: SandboxAuthority
    private let certificates: [ApplePayToken.Version: [UInt8]]
    private let privateKeys: [ApplePayToken.Version: String]

    private init() throws {
        authority = try SandboxAuthority(createdAt: signedAt)
        trustRoots = try TrustRoot.reading(pem: authority.rootCertificate)
        var certificates: [ApplePayToken.Version: [UInt8]] = [:]
        var privateKeys: [ApplePayToken.Version: String] = [:]
        let merchant = try #require(MerchantIdentifier(Self.merchant))
        for version in ApplePayToken.Version.allCases {
            let options = version == .ecV1 ? ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] : ["rsa:2048"]
            let keyFile = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).key")
            defer { try? FileManager.default.removeItem(at: keyFile) }
            let csr = try OpenSSL.run(
                ["req", "-new", "-nodes", "-subj", "/CN=x", "-keyout", keyFile.path, "-newkey"] + options)
            certificates[version] = try authority.issue(
                csr: csr, merchant: merchant, purpose: .paymentProcessing, notBefore: signedAt)
            privateKeys[version] = try String(contentsOf: keyFile, encoding: .utf8)
        }
        (self.certificates, self.privateKeys) = (certificates, privateKeys)
    }

    func minted(_ version: ApplePayToken.Version, _ change: (inout TokenParameters) -> Void) throws -> MintedToken {
        var parameters = TokenParameters(signingTime: signedAt)
        change(&parameters)
        return try authority.mintToken(parameters, certificate: try #require(certificates[version]))
    }

    /// Mints encrypted token metadata.
    func metadata(_ version: ApplePayToken.Version, _ metadata: TokenMetadata) throws -> String {
        try authority.encryptedTokenMetadata(
            metadata, certificate: try #require(certificates[version]), signingTime: signedAt)
    }

    func symmetricKey(of message: some AppleMessage) throws -> SymmetricKey {
        let pem = try #require(privateKeys[message.version])
        switch message.keyMaterial {
        case .ephemeralPublicKey(let sender):
            return try SymmetricKeyDerivation.symmetricKey(
                sharedSecret: P256.KeyAgreement.PrivateKey(pemRepresentation: pem)
                    .sharedSecretFromKeyAgreement(with: sender.agreementKey),
                merchantIdentifier: Self.merchant)
        case .wrappedKey(let wrapped):
            return SymmetricKey(
                data: try _RSA.Encryption.PrivateKey(pemRepresentation: pem)
                    .decrypt(wrapped.bytes, padding: .PKCS1_OAEP_SHA256))
        }
    }
}
