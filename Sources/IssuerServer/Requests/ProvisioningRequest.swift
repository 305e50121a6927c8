import FoundationEssentials
import MerchantCore
import MerchantOperations
import PassProvisioning
import Secrets
import StrictJSON
import Vocabulary

/// The body of `POST /v1/in-app-provisioning/requests`.
///
/// This type checks the JSON structure of the body, the configuration, the network, and the Base64 of activation data.
/// The use case validates the certificates, the nonce and the card's data, so that it can report all their faults at
/// once.
struct ProvisioningRequest {
    /// How many certificates a body may have. Apple issues two. The use case reports any other number up to this limit.
    private static let maximumCertificates = 8

    let order: ProvisioningOrder

    /// - Throws: ``JSONFault``, which quotes no values: they may be card data.
    init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        let certificates = try Self.certificates(&fields)
        let nonce = try fields.requiredString("nonce")
        let nonceSignature = try fields.requiredString("nonceSignature")
        let configuration = try Self.configuration(&fields)
        let network = try Self.network(&fields)
        let card = try Self.card(&fields)
        let activationData = try Self.activationData(&fields)
        // The error does not quote the unknown name: a client that swaps names and values would send card data as a
        // name.
        guard fields.unknown.isEmpty else {
            throw JSONFault(
                "the body has an unknown field, expected only 'activationData', 'card', 'certificates', 'configuration', 'network', 'nonce', 'nonceSignature'; the card's own fields belong in 'card'"
            )
        }
        order = ProvisioningOrder(
            certificates: certificates, nonce: nonce, nonceSignature: nonceSignature, configuration: configuration,
            network: network, card: card, activationData: activationData)
    }

    /// Overwrites the card's data and the activation data. Call this after the request was answered.
    func wipe() {
        Wipe.sharedBytes(of: order.card)
        if let activationData = order.activationData { Wipe.sharedBytes(of: activationData) }
    }

    private static func certificates(_ fields: inout JSONFields) throws(JSONFault) -> [String] {
        guard case .array(let items) = try fields.value("certificates") else {
            throw JSONFault(
                "'certificates' is missing or not an array, expected an array of DER certificates in Base64")
        }
        guard items.count <= maximumCertificates else {
            throw JSONFault(
                "'certificates' has \(items.count) elements, expected the 2 certificates that Apple gave the app")
        }
        var certificates: [String] = []
        for item in items {
            guard case .string(let text) = item else {
                throw JSONFault("an element of 'certificates' is \(item.kind), expected a DER certificate in Base64")
            }
            certificates.append(text)
        }
        return certificates
    }

    private static func configuration(_ fields: inout JSONFields) throws(JSONFault) -> CardConfiguration {
        let numbers = CardConfiguration.allCases.map { "\($0.rawValue)" }.joined(separator: ", ")
        guard case .number(let text) = try fields.value("configuration"), let number = Int(jsonNumber: text),
            let configuration = CardConfiguration(rawValue: number)
        else { throw JSONFault("'configuration' is missing or unknown, expected one of the numbers \(numbers)") }
        return configuration
    }

    private static func network(_ fields: inout JSONFields) throws(JSONFault) -> ProvisioningNetwork {
        guard let network = ProvisioningNetwork(rawValue: try fields.requiredString("network")) else {
            let names = ProvisioningNetwork.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw JSONFault("'network' is unknown, expected one of \(names)")
        }
        return network
    }

    private static func card(_ fields: inout JSONFields) throws(JSONFault) -> [UInt8] {
        let value = try fields.value("card")
        guard let value, case .object = value else {
            throw JSONFault("'card' is missing or not an object, expected an object with Apple's keys")
        }
        return Array(JSONText.compact(value).utf8)
    }

    private static func activationData(_ fields: inout JSONFields) throws(JSONFault) -> [UInt8]? {
        guard let text = try fields.string("activationData") else { return nil }
        guard let data = Base64.decode(text), !data.isEmpty else {
            throw JSONFault(
                "'activationData' is empty or not Base64, expected the bytes of the network's one-time password in Base64"
            )
        }
        return Array(data)
    }
}
