import Crypto
import Foundation
import MerchantCore
import OutboundHTTP
import StrictJSON
import Vocabulary

extension GatewayResponse {
    /// The limits of an event's JSON. Apple specifies none.
    private static let eventLimits = JSONLimits(bytes: 256 * 1024, depth: 16, values: 4_096)
    /// Apple's limit for `eventType`, in characters. Also used for names for which Apple specifies no limit.
    private static let longestName = 64
    /// In characters.
    private static let longestReason = 256

    /// Reads an event. In Apple's reference, the event is the whole body. In Apple's integration guide, the event is
    /// the field `merchantTokenEvent` of the body.
    func merchantTokenEvent() throws(GatewayError) -> MerchantTokenEvent {
        guard status == 200 else { throw isSuccess ? unexpected("the status is \(status), expected 200") : failure }
        let body = try object("MerchantTokenEventResponse")
        let event = body.object("merchantTokenEvent") ?? body
        guard let type = event.string("eventType"), Self.isName(type) else {
            throw unexpected(
                "the field 'eventType' is missing or invalid, expected 1 to \(Self.longestName) printable characters")
        }
        guard let token = event.string("merchantTokenIdentifier").flatMap(MerchantTokenIdentifier.init(text:)) else {
            throw unexpected(
                "the field 'merchantTokenIdentifier' is missing or invalid, expected 1 to \(MerchantTokenIdentifier.longest) characters"
            )
        }
        let metadata = event.object("merchantTokenMetadata")
        return MerchantTokenEvent(
            type: type, merchantTokenIdentifier: token,
            // Apple requires a reason, but the daemon does not need one.
            reason: event.displayText("reason", limit: Self.longestReason) ?? "",
            card: metadata.flatMap(MerchantTokenCard.init),
            encryptedMetadata: [event, metadata].compactMap(\.self).lazy.compactMap(\.encryptedTokenMetadata).first)
    }

    /// Reads the public key of a merchant token.
    ///
    /// - Returns: nil if Apple has not generated the key yet.
    func merchantTokenPublicKey() throws(GatewayError) -> MerchantTokenPublicKey? {
        if status == 202 { return nil }
        guard status == 200 else { throw isSuccess ? unexpected("the status is \(status), expected 200") : failure }
        let body = try object("the public key of a merchant token")
        guard let key = body.string("merchantTokenPublicKey").flatMap({ Data(base64Encoded: $0) }),
            (try? P384.KeyAgreement.PublicKey(x963Representation: key)) != nil
        else {
            throw unexpected(
                "the field 'merchantTokenPublicKey' is missing or invalid, expected a P-384 point in X9.63 form, in Base64"
            )
        }
        guard let ciphersuite = body.string("supportedCiphersuite"), Self.isName(ciphersuite) else {
            throw unexpected(
                "the field 'supportedCiphersuite' is missing or invalid, expected 1 to \(Self.longestName) printable characters"
            )
        }
        return MerchantTokenPublicKey(x963: Array(key), ciphersuite: ciphersuite)
    }

    /// - Parameter expected: what the body should contain, for the error.
    private func object(_ expected: String) throws(GatewayError) -> JSONObject {
        guard case .object(let object)? = try? JSONParser.parse(bytes, limits: Self.eventLimits) else {
            throw unexpected("the response has \(byteCount) not a JSON object within the limits, expected \(expected)")
        }
        return object
    }

    /// Whether the text has 1 to 64 printable ASCII characters.
    private static func isName(_ text: String) -> Bool {
        (1...longestName).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
