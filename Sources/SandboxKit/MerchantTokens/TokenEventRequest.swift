import FoundationEssentials
import StrictJSON
import Vocabulary

/// A test's request on the control socket to create an event of a merchant token.
struct TokenEventRequest {
    /// The name is a guess: no published source shows the field that contains encrypted metadata.
    private static let defaultMetadataField = "encryptedTokenMetadata"

    let merchantIdentifier: String
    let merchantTokenIdentifier: String
    let tokenNotificationURL: String?
    /// Whether the event unlinks the token.
    let unlinks: Bool
    /// Whether the merchant is notified.
    let notifies: Bool
    private let isWrapped: Bool?
    private let response: String

    /// Parses the body of the request. Lengths and values are not checked, so that a test can create an event that
    /// Apple would never send.
    ///
    /// - Throws: ``JSONFault`` or ``SandboxError``.
    init(_ body: [UInt8], by authority: SandboxAuthority, at now: Timestamp) throws {
        var fields = try JSONFields(parsing: body)
        merchantIdentifier = try fields.requiredString("merchantIdentifier")
        merchantTokenIdentifier = try fields.requiredString("merchantTokenIdentifier")
        tokenNotificationURL = try fields.string("tokenNotificationURL")
        isWrapped = try fields.bool("wrapped")
        notifies = try fields.bool("notify") ?? true
        let eventType = try fields.requiredString("eventType")
        unlinks = eventType == "UNLINK"
        var event = JSONObjectWriter()
        event.string("eventType", eventType)
        event.string("merchantTokenIdentifier", merchantTokenIdentifier)
        if let metadata = try fields.value("merchantTokenMetadata") {
            event.literal("merchantTokenMetadata", JSONText.compact(metadata))
        }
        if var encrypted = try fields.fields("encryptedMetadata") {
            let field = try encrypted.string("field") ?? Self.defaultMetadataField
            event.literal(field, try Self.encryptedMetadata(&encrypted, by: authority, at: now))
        }
        event.string("reason", try fields.string("reason") ?? "UNLINKDEVICE")
        response = try fields.string("response") ?? event.text
        try fields.refuseUnknown()
    }

    /// - Parameter wraps: whether the event is wrapped if the request has no `wrapped` member.
    func event(wraps: Bool) -> SandboxTokenEvent {
        SandboxTokenEvent(
            eventIdentifier: UUID().uuidString.lowercased(), merchantIdentifier: merchantIdentifier,
            merchantTokenIdentifier: merchantTokenIdentifier, response: response, isWrapped: isWrapped ?? wraps)
    }

    private static func encryptedMetadata(
        _ fields: inout JSONFields, by authority: SandboxAuthority, at now: Timestamp
    ) throws -> String {
        var metadata = TokenMetadata()
        if let date = try fields.string("expirationDate") { metadata.expirationDate = date }
        if let mpan = try fields.string("mpan") { metadata.mpan = mpan }
        metadata.mpanIdentifier = try fields.string("mpanId")
        let certificate = try fields.requiredString("certificate")
        let hasValidSignature = try fields.bool("validSignature") ?? true
        try fields.refuseUnknown()
        return try authority.encryptedTokenMetadata(
            metadata, certificate: Files.read(certificate), signingTime: now, hasValidSignature: hasValidSignature)
    }
}
