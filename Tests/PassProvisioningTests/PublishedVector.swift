import Crypto
import FoundationEssentials
import PassProvisioning
import Testing
import Vocabulary

/// A test vector of EV_ECC_v2 that several public implementations contain. The recipient's public key is that of a leaf
/// of Apple's test environment; its private key is not published.
enum PublishedVector {
    static let plaintext = #"{"Parameter1":"Value1","Parameter2":"Value2","Parameter3":"Value3"}"#
    static let ephemeralPrivateKey = "7eee47dee108a08edd2bcd2bb762a543ca23ea96c9af09ad54beb9fa3ce1a026"
    static let ephemeralPublicKey =
        "0499a6f42e83ea4f150a78780ffb562c9cdb9b7507bc5d28cbfbf8cc3ef0af68b3"
        + "6e60cb10db69127830f7f899492017089e3b73c83fcf0ebdf2c06b613c3f88b7"
    static let leafPublicKey =
        "042e3e5ccf6b9ab04be7a22f3faccfde73c87e87155394a34815408a896ca18a37"
        + "4dac669af3bf6220fc863767f4af47507c5bc221fc4a19874daf39b4074e3eb8"
    static let sharedSecret = "a88b995fecbdf756515ed42ba53a6ccca4f5936f69cf4d15352c94c592b347b1"
    static let keyDerivationInput =
        "00000001" + sharedSecret + "0d69642d6165733235362d47434d" + "4170706c65" + ephemeralPublicKey
    static let symmetricKey = "083080d3d0c521c02cd3ae2134363d09ea50dff914677fab9e22f18f9c28a3b9"
    static let encryptedPassData =
        "e3ef6ba2ffa05b6985fe129e3cb6845c4ea1e94ae98d31a538a4e24906fb720d764d640894cd9de7cec00114396651a1"
        + "ccaedcf480c57a959e925c04492b9cf85fc711fab3cbed10dc2ba99a2bb063ceff8de1"
    static let encryptedPassDataBase64 =
        "4+9rov+gW2mF/hKePLaEXE6h6UrpjTGlOKTiSQb7cg12TWQIlM2d587AARQ5ZlGhzK7c9IDFepWeklwESSuc+F/HEfqzy+0Q3CupmiuwY87/jeE="
    static let ephemeralPublicKeyBase64 =
        "BJmm9C6D6k8VCnh4D/tWLJzbm3UHvF0oy/v4zD7wr2izbmDLENtpEngw9/iZSSAXCJ47c8g/zw698sBrYTw/iLc="

    static func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

    static func ephemeralKey() throws -> P256.KeyAgreement.PrivateKey {
        try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(ephemeralPrivateKey))
    }

    static func leafKey() throws -> P256.KeyAgreement.PublicKey {
        try P256.KeyAgreement.PublicKey(x963Representation: bytes(leafPublicKey))
    }

    static func recipient() throws -> VerifiedProvisioningCertificates {
        VerifiedProvisioningCertificates(uncheckedLeafPublicKey: try leafKey())
    }

    static func pass() throws -> EncryptedPass {
        EncryptedPass(
            encryptedPassData: Data(try bytes(encryptedPassData)),
            ephemeralPublicKey: Data(try bytes(ephemeralPublicKey)))
    }
}
