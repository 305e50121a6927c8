import Crypto
import Secrets
import Vocabulary

/// The intermediate values of an encryption. Apple asks for them when it helps an issuer to find a fault.
///
/// The values are **secret**: they include the card data and the keys, and they are not wiped. Create a trace only for
/// test cards in the sandbox environment. The trace prints as `(redacted)`; ``text`` returns the values.
public struct EncryptionTrace: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One value.
    public struct Entry: Sendable {
        /// The name of the value in camel case, such as `sharedSecret`.
        public let name: String
        /// The value in lower-case hexadecimal.
        public let hex: String
    }

    /// The values, in the order in which they are computed.
    public let entries: [Entry]

    init(
        _ encryption: PassEncryption, plaintext: borrowing SecretBytes, ephemeralKey: P256.KeyAgreement.PrivateKey,
        certificates: VerifiedProvisioningCertificates
    ) {
        let point = encryption.pass.ephemeralPublicKey
        let sealed = encryption.pass.encryptedPassData
        let derivationInput = PassKeyDerivation.tracedInput(
            sharedSecret: encryption.sharedSecret, ephemeralPublicKey: point)
        entries = [
            Entry(name: "leafPublicKey", hex: Hex.encode(certificates.leafPublicKey.x963Representation)),
            Entry(name: "ephemeralPrivateKey", hex: Hex.encode(ephemeralKey.rawRepresentation)),
            Entry(name: "ephemeralPublicKey", hex: Hex.encode(point)),
            Entry(name: "sharedSecret", hex: encryption.sharedSecret.withUnsafeBytes { Hex.encode($0) }),
            Entry(name: "keyDerivationInput", hex: Hex.encode(derivationInput)),
            Entry(name: "symmetricKey", hex: encryption.symmetricKey.withUnsafeBytes { Hex.encode($0) }),
            Entry(name: "initializationVector", hex: Hex.encode(PassCipher.initializationVector)),
            Entry(name: "plaintext", hex: plaintext.withUnsafeBytes { Hex.encode($0) }),
            Entry(name: "ciphertext", hex: Hex.encode(sealed.dropLast(PassCipher.tagLength))),
            Entry(name: "tag", hex: Hex.encode(sealed.suffix(PassCipher.tagLength))),
            Entry(name: "encryptedPassData", hex: Hex.encode(sealed)),
        ]
    }

    /// The value with this name in lower-case hexadecimal; nil if there is none.
    public subscript(name: String) -> String? { entries.first { $0.name == name }?.hex }

    /// All values as text: one line `NAME: HEX` for each value.
    public var text: String { entries.map { "\($0.name): \($0.hex)\n" }.joined() }

    /// The placeholder `(redacted)`.
    public var description: String { "(redacted)" }
    /// The placeholder `(redacted)`.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
