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
    ///   - response: the body that the merchant's server responded with.
    ///   - merchantPublicKey: the public key of the merchant: P-384, X9.63.
    /// - Throws: ``SandboxError`` that names the first fault.
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
        try require(ciphersuite == "HPKE_AUTH_P384_SHA384_AES_GCM_256", "ciphersuite")
        try require(data.utf8.count <= 4000, "data has more than 4000 characters")
        try require(infoHash == Self.digest(info), "infoHash")
        try require(merchantHash == Self.digest(merchantPublicKey), "merchantPublicKeyHash")
        try require(
            tokenHash == Self.digest(token.privateKey.publicKey.x963Representation), "merchantTokenPublicKeyHash")
        guard let ciphertext = Base64.decode(data), let encapsulated = Base64.decode(ephemeral) else {
            throw SandboxError("data or ephemeralPublicKey is not Base64")
        }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: token.privateKey, ciphersuite: .P384_SHA384_AES_GCM_256, info: info,
                encapsulatedKey: Data(encapsulated),
                authenticatedBy: P384.KeyAgreement.PublicKey(x963Representation: merchantPublicKey))
            return try recipient.open(Data(ciphertext))
        } catch { throw SandboxError("data cannot be decrypted with the merchant's public key") }
    }

    private func require(_ isTrue: Bool, _ fault: String) throws(SandboxError) {
        guard isTrue else { throw SandboxError("the usage information is wrong: \(fault)") }
    }

    private static func digest(_ bytes: Data) -> String { Hex.encode(SHA256.hash(data: bytes)) }
}
