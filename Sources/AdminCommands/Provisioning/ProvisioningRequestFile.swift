package import FoundationEssentials
import PassProvisioning
import StrictJSON
import WireAPI

/// A file with the request to encrypt one card: the body of `POST /v1/in-app-provisioning/requests`.
package struct ProvisioningRequestFile: Sendable {
    /// The certificates in Base64, as the app sent them.
    package let certificates: [String]
    let configuration: CardConfiguration
    let network: ProvisioningNetwork
    /// The card as a JSON object, without nonce, nonceSignature and version.
    let card: [UInt8]
    /// In hexadecimal.
    package let nonce: String
    /// In hexadecimal.
    let nonceSignature: String
    /// The card network's one-time password in Base64, which is not encrypted.
    package let activationData: String?

    /// - Throws: ``CommandFailure``. Its message says which part of the JSON is missing or invalid, and quotes no value
    ///   of the card.
    package init(_ bytes: Data) throws(CommandFailure) {
        do throws(JSONFault) {
            var fields = try JSONFields(parsing: bytes)
            certificates = try fields.certificates()
            nonce = try fields.requiredString("nonce")
            nonceSignature = try fields.requiredString("nonceSignature")
            configuration = try fields.configuration()
            network = try fields.network()
            guard case .object(let object) = try fields.value("card") else {
                throw JSONFault(
                    "'card' is missing or not an object; expected a JSON object with the fields that Apple documents")
            }
            card = Array(JSONText.compact(.object(object)).utf8)
            activationData = try fields.string("activationData")
            try fields.refuseUnknown()
        } catch { throw CommandFailure(.failed, "the request can't be read: \(error)") }
    }
}

extension JSONFields {
    fileprivate mutating func configuration() throws(JSONFault) -> CardConfiguration {
        guard case .number(let digits) = try value("configuration"), let number = Int(digits),
            let configuration = CardConfiguration(rawValue: number)
        else { throw JSONFault("'configuration' is missing or invalid, expected 1, 2 or 3") }
        return configuration
    }

    fileprivate mutating func network() throws(JSONFault) -> ProvisioningNetwork {
        let name = try requiredString("network")
        guard let network = ProvisioningNetwork(rawValue: name) else {
            let names = ProvisioningNetwork.allCases.map(\.rawValue).joined(separator: ", ")
            throw JSONFault("'network' is '\(name.prefix(40))', expected one of \(names)")
        }
        return network
    }
}
