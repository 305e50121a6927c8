public import FoundationEssentials
package import Secrets
import StrictJSON

/// The card data of one provisioning attempt: the JSON that is encrypted for Apple.
///
/// The JSON lies in memory that is overwritten when the last copy of the value is destroyed. The value prints as
/// `(redacted)`.
public struct CardData: Sendable {
    /// Owns the JSON. `CardData` is copyable, so it cannot contain the noncopyable `SecretBytes` itself.
    private final class Plaintext: Sendable {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    private let plaintext: Plaintext
    /// The configuration of the card data.
    public let configuration: CardConfiguration
    /// The network of the card.
    public let network: ProvisioningNetwork
    /// The findings that do not prevent the use of the card data, for example `configurationNotValidated`.
    public let warnings: [CardDataFinding]
    /// The last four digits of the card number; nil unless the card data contains the card number.
    public let lastFourDigits: String?

    /// Checks a card and writes the card data.
    ///
    /// - Parameters:
    ///   - configuration: the form of the card data.
    ///   - network: the network of the card.
    ///   - card: the card as a JSON object in UTF-8, with the member names that Apple defines. `nonce`,
    ///     `nonceSignature` and `version` must be absent: this initializer adds them. The caller must wipe these bytes.
    ///   - nonce: the nonce of this attempt.
    ///   - nonceSignature: the device's signature of the nonce.
    ///   - now: the present time. The card must not have expired.
    /// - Throws: ``CardDataFindings`` if a finding is not a warning. The error also contains the warnings.
    public init(
        configuration: CardConfiguration, network: ProvisioningNetwork, card: [UInt8], nonce: ProvisioningNonce,
        nonceSignature: NonceSignature, at now: Date
    ) throws(CardDataFindings) {
        let object: JSONObject
        do throws(CardDataFinding) { object = try CardText.parse(card) } catch { throw CardDataFindings([error]) }
        defer { CardText.wipe(object) }
        var check = CardCheck(form: .request, configuration: configuration, network: network, at: now)
        check.check(object)
        guard check.findings.allSatisfy(\.isWarning) else { throw CardDataFindings(check.findings) }
        self.configuration = configuration
        self.network = network
        warnings = check.findings + nonceSignature.warnings
        lastFourDigits = Self.lastFourDigits(of: object)
        let added = [
            JSONObject.Member(name: CardDataKey.nonce.rawValue, value: .string(nonce.hex)),
            JSONObject.Member(name: CardDataKey.nonceSignature.rawValue, value: .string(nonceSignature.hex)),
            JSONObject.Member(name: CardDataKey.version.rawValue, value: .string(CardDataKey.currentVersion)),
        ]
        plaintext = Plaintext(CardJSONWriter.secretBytes(JSONObject(members: object.members + added)))
    }

    private static func lastFourDigits(of card: JSONObject) -> String? {
        guard case .string(let number) = card[CardDataKey.primaryAccountNumber.rawValue] else { return nil }
        return String(number.suffix(4))
    }

    /// The length of the JSON in bytes.
    public var count: Int { plaintext.bytes.count }

    /// A copy of the exact JSON: keys in the order of their names, no white space, no escaped slash.
    package func serialized() -> SecretBytes {
        SecretBytes(count: plaintext.bytes.count) { memory in
            plaintext.bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
        }
    }

    /// Calls a closure with the exact JSON. The pointer is valid only during the call.
    public func withSerializedBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try plaintext.bytes.withUnsafeBytes(body)
    }
}

extension CardData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The placeholder `(redacted)`.
    public var description: String { "(redacted)" }
    /// The placeholder `(redacted)`.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
