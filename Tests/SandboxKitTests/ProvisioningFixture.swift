import Foundation
import PassProvisioning
import SandboxKit
import Testing
import Vocabulary

/// Certificates of the sandbox for card data encryption, and cards that are encrypted to them.
struct ProvisioningFixture {
    static let nonce = "9c023092"
    static let nonceSignature = "40" + String(repeating: "5a", count: 80)
    /// A test card.
    static let card =
        #"{"primaryAccountNumber":"5555555555554444","expiration":"12/49","name":"Alex Example","productType":"MCD"}"#

    let sandbox: SandboxFixture
    let credentials: SandboxAuthority.ProvisioningCredentials

    init(fault: ProvisioningCertificateFault? = nil) throws {
        sandbox = try SandboxFixture()
        credentials = try sandbox.authority.issueProvisioningCredentials(
            notBefore: SandboxFixture.now.adding(.seconds(-60)), fault: fault)
    }

    /// The trust of a daemon whose environment is sandbox.
    func trust() throws -> ProvisioningTrust {
        let pem = try sandbox.authority.rootCertificate
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let root = try #require(Data(base64Encoded: base64))
        return try ProvisioningTrust(roots: [root], environment: .sandbox)
    }

    func certificates() throws -> ProvisioningCertificates {
        try ProvisioningCertificates([Data(credentials.leaf), Data(credentials.subCA)])
    }

    /// Encrypts a card as an issuer does.
    ///
    /// - Parameter time: the time at which the issuer checks the card.
    func encrypt(_ card: String = card, at time: Date = Date()) throws -> EncryptedPass {
        let data = try CardData(
            configuration: .cardNumber, network: .mastercard, card: Array(card.utf8),
            nonce: ProvisioningNonce(hex: Self.nonce), nonceSignature: NonceSignature(hex: Self.nonceSignature),
            at: time)
        let verified = try certificates().verified(trust: trust(), at: Date())
        return try ProvisioningAttempt().encrypt(data, for: verified)
    }

    /// The JSON that the daemon's issuer socket returns.
    static func json(_ pass: EncryptedPass, activationData: String? = "T1RQ") -> String {
        var members = [
            #""encryptedPassData":"\#(pass.encryptedPassDataBase64)""#,
            #""ephemeralPublicKey":"\#(pass.ephemeralPublicKeyBase64)""#,
        ]
        if let activationData { members.append(#""activationData":"\#(activationData)""#) }
        return "{\(members.joined(separator: ","))}"
    }
}
