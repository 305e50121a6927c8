import Crypto
import Foundation
import PassProvisioning

/// Measures how many cards one core encrypts for in-app provisioning. For comparison it also measures the operations
/// that every implementation needs for each attempt: one key generation, one ECDH key agreement, and the two signatures
/// of the chain.
///
/// Usage: `TokenBench provisioning LEAF.pem SUB-CA.pem ROOT.pem`
enum ProvisioningBench {
    static func run(_ stopwatch: Stopwatch, certificates paths: [String]) throws {
        let chain = try paths.map { try der(ofPEMFile: $0) }
        let trust = try ProvisioningTrust(roots: [chain[2]], environment: .sandbox)
        let handedOver = Array(chain[..<2])
        let now = Date()
        let nonce = try ProvisioningNonce(hex: "9c023092")
        let nonceSignature = try NonceSignature(hex: "40" + String(repeating: "5a", count: 80))
        let card = Array(
            #"{"primaryAccountNumber":"5204240250000002","expiration":"12/30","name":"Alex Example","productType":"01"}"#
                .utf8)
        let verified = try ProvisioningCertificates(handedOver).verified(trust: trust, at: now)

        func cardData() throws -> CardData {
            try CardData(
                configuration: .cardNumber, network: .mastercard, card: card, nonce: nonce,
                nonceSignature: nonceSignature)
        }

        func attempt() throws {
            let certificates = try ProvisioningCertificates(handedOver).verified(trust: trust, at: now)
            _ = try ProvisioningAttempt().encrypt(cardData(), for: certificates)
        }

        let generate = try stopwatch.measure("bare P-256 key generation (swift-crypto)") {
            _ = P256.KeyAgreement.PrivateKey()
        }
        let key = P256.KeyAgreement.PrivateKey()
        let agree = try stopwatch.measure("bare P-256 ECDH (swift-crypto)") {
            _ = try key.sharedSecretFromKeyAgreement(with: verified.leafPublicKey)
        }
        let bareIntermediate = try BareVerification.p256()
        let verifyLeaf = try stopwatch.measure("bare P-256 verify (libcrypto)") { try bareIntermediate.verify() }
        let bareRoot = try BareVerification.p384()
        let verifySubCA = try stopwatch.measure("bare P-384 verify (libcrypto)") { try bareRoot.verify() }
        let limit = 1 / (1 / generate + 1 / agree + 1 / verifyLeaf + 1 / verifySubCA)
        stopwatch.print("  limit: these four, once each", limit)
        try stopwatch.measure("  verify the certificates") {
            _ = try ProvisioningCertificates(handedOver).verified(trust: trust, at: now)
        }
        try stopwatch.measure("  check and write the card data") { _ = try cardData() }
        try stopwatch.measure("  encrypt") {
            _ = try ProvisioningAttempt().encrypt(cardData(), for: verified)
        }
        let rate = try stopwatch.measure("encrypt a card, all checks", attempt)
        print("  share of the limit: \(String(format: "%.2f", rate / limit)) (aim 0.7)")
    }

    private static func der(ofPEMFile path: String) throws -> Data {
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        let base64 = pem.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }.joined()
        guard let der = Data(base64Encoded: base64) else { throw CocoaError(.fileReadCorruptFile) }
        return der
    }
}
