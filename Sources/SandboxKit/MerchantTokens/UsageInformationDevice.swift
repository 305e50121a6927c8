import Crypto
import FoundationEssentials
import StrictJSON
import Vocabulary

/// Decrypts usage information as a device does.
///
/// Source: Apple, "Apple Pay Merchant Token Management API", GetMerchantTokenUsageInformationPackageResponse.
struct UsageInformationDevice {
    let token: SandboxMerchantToken

    /// - Parameters:
    ///   - response: the body of the response of the merchant's server.
    ///   - merchantPublicKey: the public key of the merchant: P-384, X9.63.
    /// - Throws: ``JSONFault`` or ``SandboxError``, which names the first fault.
    func decrypt(_ response: JSONObject, merchantPublicKey: Data) throws -> Data {
        var fields = JSONFields(response)
        let ciphersuite = try fields.requiredString("ciphersuite")
        let data = try fields.requiredString("data")
        let ephemeral = try fields.requiredString("ephemeralPublicKey")
        let infoHash = try fields.requiredString("infoHash")
        let merchantHash = try fields.requiredString("merchantPublicKeyHash")
        let tokenHash = try fields.requiredString("merchantTokenPublicKeyHash")
        try fields.refuseUnknown()
        let info =
            Data("ApplePayMerchantTokenUsageInformation_1.0".utf8)
            + Data(SHA256.hash(data: Data(token.merchantTokenIdentifier.utf8)))
        try require("ciphersuite", ciphersuite, equals: "HPKE_AUTH_P384_SHA384_AES_GCM_256")
        guard data.utf8.count <= 4000 else {
            throw Self.fault("'data' has \(data.utf8.count) characters, expected at most 4000")
        }
        try require("infoHash", infoHash, equals: Self.digest(info))
        try require("merchantPublicKeyHash", merchantHash, equals: Self.digest(merchantPublicKey))
        try require(
            "merchantTokenPublicKeyHash", tokenHash,
            equals: Self.digest(token.privateKey.publicKey.x963Representation))
        guard let ciphertext = Base64.decode(data), let encapsulated = Base64.decode(ephemeral) else {
            throw Self.fault("'data' or 'ephemeralPublicKey' is not Base64")
        }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: token.privateKey, ciphersuite: .P384_SHA384_AES_GCM_256, info: info,
                encapsulatedKey: Data(encapsulated),
                authenticatedBy: P384.KeyAgreement.PublicKey(x963Representation: merchantPublicKey))
            return try recipient.open(Data(ciphertext))
        } catch {
            throw Self.fault("'data' cannot be decrypted with the token's private key and the merchant's public key")
        }
    }

    private func require(_ name: String, _ found: String, equals expected: String) throws(SandboxError) {
        guard found == expected else {
            throw Self.fault("'\(name)' is '\(found.prefix(100))', expected '\(expected)'")
        }
    }

    private static func fault(_ reason: String) -> SandboxError {
        SandboxError("the usage information is invalid: \(reason)")
    }

    private static func digest(_ bytes: Data) -> String { Hex.encode(SHA256.hash(data: bytes)) }
}
