package import Crypto
import FoundationEssentials
package import PassProvisioning
import Secrets
import StrictJSON
import Vocabulary

/// Stands in for Apple's provisioning broker, to which a device sends the card that an issuer encrypted: decrypts the
/// card data, and checks it.
///
/// Unlike the rest of the sandbox, the broker shares the decryption and the rules for card data with the module
/// `PassProvisioning`. The tests of that module compare its results with a published test vector and with another
/// implementation.
package struct ProvisioningBroker: Sendable {
    /// The values with which the broker checks the card data; nil for values that are not checked.
    package struct Expectation: Sendable {
        package var network: ProvisioningNetwork?
        /// The nonce that Wallet handed to the app.
        package var nonce: [UInt8]?
        /// The signature of the nonce.
        package var nonceSignature: [UInt8]?

        package init() {}
    }

    private let privateKey: P256.KeyAgreement.PrivateKey

    package init(privateKey: P256.KeyAgreement.PrivateKey) { self.privateKey = privateKey }

    /// - Parameter path: the path of a private key in PEM, such as `provisioning-leaf.key.pem`.
    /// - Throws: ``SandboxError`` if the file is not a P-256 private key in PEM.
    package init(keyFile path: String) throws(SandboxError) {
        let pem = String(decoding: try Files.read(path), as: UTF8.self)
        do {
            privateKey = try P256.KeyAgreement.PrivateKey(pemRepresentation: pem)
        } catch {
            throw SandboxError("'\(path)' is not a P-256 private key in PEM: use the file provisioning-leaf.key.pem")
        }
    }

    /// Returns the answer to a request of a device.
    ///
    /// - Parameter body: a JSON object with `encryptedPassData`, `ephemeralPublicKey` and `activationData` in Base64.
    package func answer(to body: [UInt8], expecting expectation: Expectation = Expectation()) -> BrokerAnswer {
        var fields: JSONFields
        do throws(JSONFault) { fields = try JSONFields(parsing: body) } catch {
            return BrokerAnswer(findings: [BrokerFinding.malformedBody(error.description)])
        }
        let inspection = PassInspection(
            text: body, decryptionKey: privateKey, network: expectation.network, at: .now)
        let faults = inspection.findings.filter { $0.isFault }
        guard faults.isEmpty else { return BrokerAnswer(findings: faults) }
        do throws(JSONFault) {
            return answer(for: try Self.pass(in: &fields), expecting: expectation)
        } catch { return BrokerAnswer(findings: [BrokerFinding.malformedBody(error.description)]) }
    }

    /// Returns the answer to a card in which the inspection found no fault.
    private func answer(for pass: EncryptedPass, expecting expectation: Expectation) -> BrokerAnswer {
        do {
            return BrokerAnswer(
                findings: Self.mismatches(in: try PassDecryption.decrypt(pass, with: privateKey), with: expectation))
        } catch { return BrokerAnswer(findings: [error]) }
    }

    private static func pass(in fields: inout JSONFields) throws(JSONFault) -> EncryptedPass {
        guard let data = Base64.decode(try fields.requiredString("encryptedPassData")),
            let key = Base64.decode(try fields.requiredString("ephemeralPublicKey"))
        else { throw JSONFault("encryptedPassData or ephemeralPublicKey is not Base64") }
        return EncryptedPass(encryptedPassData: data, ephemeralPublicKey: key)
    }

    /// Compares the nonce and its signature with those that Wallet handed out.
    private static func mismatches(
        in plaintext: borrowing SecretBytes, with expectation: Expectation
    ) -> [any ProvisioningFinding] {
        // The inspection has found that the card data is JSON.
        guard var fields = plaintext.withUnsafeBytes({ try? JSONFields(parsing: Array($0)) }) else { return [] }
        func isOther(_ name: String, _ expected: [UInt8]?) -> Bool {
            guard let expected else { return false }
            let text = (try? fields.string(name)) ?? ""
            return Hex.decode(text) != expected
        }
        var found: [any ProvisioningFinding] = []
        if isOther("nonce", expectation.nonce) { found.append(BrokerFinding.nonceMismatch) }
        if isOther("nonceSignature", expectation.nonceSignature) { found.append(BrokerFinding.nonceSignatureMismatch) }
        return found
    }
}

extension ProvisioningFinding {
    /// Whether Apple's broker refuses a card because of this finding. Warnings are not faults.
    fileprivate var isFault: Bool {
        switch self {
        case let finding as CardDataFinding: !finding.isWarning
        case let finding as PassDataFinding: !finding.isWarning
        default: true
        }
    }
}
