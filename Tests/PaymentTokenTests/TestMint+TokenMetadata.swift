import Foundation
import PaymentToken

extension TestMint {
    static let mpan = "5204240250000002"
    static let metadataPlaintext = #"{"expirationDate":"310131","mpan":"\#(mpan)","mpanId":"MPAN-0001"}"#

    /// The decoded fields of encrypted token metadata, so that a test can change any of them.
    struct MetadataParts {
        /// The field `version`, which Apple does not send.
        var version: String?
        var keyName: String
        var keyMaterial: [UInt8]
        var publicKeyHash: [UInt8]
        var data: [UInt8]
        var signature: [UInt8]

        var json: String {
            let version = version.map { #","version":"\#($0)""# } ?? ""
            return #"{"data":"\#(base64(data))","\#(keyName)":"\#(base64(keyMaterial))","#
                + #""publicKeyHash":"\#(base64(publicKeyHash))","signature":"\#(base64(signature))"\#(version)}"#
        }

        func metadata() throws -> EncryptedTokenMetadata { try EncryptedTokenMetadata(parsing: Array(json.utf8)) }

        private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
    }

    /// A mint whose plaintext is token metadata.
    static func ofMetadata(_ version: ApplePayToken.Version = .ecV1, plaintext: String = metadataPlaintext) -> TestMint
    {
        TestMint(version: version, plaintext: plaintext)
    }

    func metadata() throws -> EncryptedTokenMetadata { try metadataParts().metadata() }

    /// Encrypts and signs the plaintext as token metadata.
    func metadataParts() throws -> MetadataParts {
        let encryption = try encrypted()
        return MetadataParts(
            version: nil, keyName: version == .ecV1 ? "ephemeralPublicKey" : "wrappedKey",
            keyMaterial: encryption.keyMaterial, publicKeyHash: encryption.publicKeyHash, data: encryption.data,
            signature: try message(over: changeSignedContent(encryption.keyMaterial + encryption.data)))
    }
}
