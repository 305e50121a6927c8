/// What an inspection recognized. It contains lengths and names, but no values.
public struct InspectedValues: Sendable, Hashable {
    /// The form of the text.
    public enum Source: String, Sendable, CaseIterable {
        /// JSON.
        case json
        /// The log of a device, or another text that contains the values.
        case deviceLog
    }

    /// Whether the card data could be decrypted.
    public enum Decryption: String, Sendable, CaseIterable {
        /// There was no decryption key, no ephemeral public key or no ciphertext.
        case notAttempted
        /// The card data was encrypted with EV_ECC_v2.
        case succeeded
        /// The card data was encrypted in another way, which the findings name.
        case succeededWithFault
        /// The card data cannot be decrypted with the key.
        case failed
    }

    /// The form of the text.
    public internal(set) var source: Source
    /// The number of requests to Apple's broker in the log. The last request with values is inspected.
    public internal(set) var requestCount: Int
    /// The names of the values that the text contains, in alphabetical order.
    public internal(set) var names: [String]
    /// The length of the ciphertext and its tag in bytes, after repairs. If the decoded bytes do not contain both, the
    /// length of these bytes; nil if the value could not be decoded.
    public internal(set) var encryptedPassDataLength: Int?
    /// The length of the ephemeral public key in bytes, before the conversion to a point; nil if it could not be
    /// decoded.
    public internal(set) var ephemeralPublicKeyLength: Int?
    /// The length of the activation data in bytes; nil if it could not be decoded.
    public internal(set) var activationDataLength: Int?
    /// The encryption scheme; nil if the text does not name one that is known.
    public internal(set) var encryptionVersion: EncryptionVersion?
    /// Whether the card data could be decrypted.
    public internal(set) var decryption: Decryption

    init(source: Source, requestCount: Int, names: [String]) {
        self.source = source
        self.requestCount = requestCount
        self.names = names
        decryption = .notAttempted
    }
}
