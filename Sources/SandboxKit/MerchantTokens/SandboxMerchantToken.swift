import Crypto
import FoundationEssentials

/// Apple's record of a merchant token.
struct SandboxMerchantToken: Sendable {
    let merchantTokenIdentifier: String
    let merchantIdentifier: String
    var isLinked = true
    var tokenNotificationURL: String?
    /// Whether Apple has generated the token's key pair. Until then, the response to publicKey is 202 if the token has
    /// a `tokenNotificationURL`.
    var isPublicKeyReady = true
    /// How often a merchant reported that usage information is ready.
    var usageNotifications = 0
    /// The private key of the devices, which decrypts usage information.
    let privateKey = P384.KeyAgreement.PrivateKey()
    /// The public key to which usage information is encrypted: P-384, X9.63, in Base64.
    var publicKey: String { privateKey.publicKey.x963Representation.base64EncodedString() }

    init(_ identifier: String, of merchant: String) {
        merchantTokenIdentifier = identifier
        merchantIdentifier = merchant
    }

    /// The token as the control socket shows it.
    var document: Document {
        Document(
            merchantTokenIdentifier: merchantTokenIdentifier, merchantIdentifier: merchantIdentifier,
            state: isLinked ? "linked" : "unlinked", tokenNotificationURL: tokenNotificationURL,
            isPublicKeyReady: isPublicKeyReady, usageNotifications: usageNotifications)
    }

    struct Document: Encodable {
        let merchantTokenIdentifier: String
        let merchantIdentifier: String
        let state: String
        let tokenNotificationURL: String?
        let isPublicKeyReady: Bool
        let usageNotifications: Int
    }
}

/// An event of a merchant token.
struct SandboxTokenEvent: Sendable {
    let eventIdentifier: String
    /// The merchant under whose identifier the event can be fetched.
    let merchantIdentifier: String
    let merchantTokenIdentifier: String
    /// The event as JSON: Apple's MerchantTokenEventResponse, or the text that the test gave.
    let response: String
    /// Whether the response to the client wraps the event in `merchantTokenEvent`, as in Apple's guide. The reference
    /// has the event without a wrapper.
    let isWrapped: Bool
    /// How often the event was fetched.
    var fetches = 0
    /// The result of each attempt to notify the merchant: a status, or why there was no response. Oldest first.
    var notifications: [String] = []

    /// The event as the control socket shows it.
    var document: Document {
        Document(
            eventId: eventIdentifier, merchantIdentifier: merchantIdentifier,
            merchantTokenIdentifier: merchantTokenIdentifier, fetches: fetches, notifications: notifications)
    }

    struct Document: Encodable {
        let eventId: String
        let merchantIdentifier: String
        let merchantTokenIdentifier: String
        let fetches: Int
        let notifications: [String]
    }

    /// The body of the response to the client.
    var body: [UInt8] {
        Array((isWrapped ? #"{"statusCode":200,"merchantTokenEvent":\#(response)}"# : response).utf8)
    }
}
