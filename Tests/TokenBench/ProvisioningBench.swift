import Crypto
import Foundation
import PassProvisioning

/// Measures how many cards one core encrypts for in-app provisioning. For comparison it also measures the operations
/// that every implementation needs: for each attempt a key generation, an ECDH key agreement and the verification of
/// the leaf's signature, and for each sub-CA the verification of its signature. Apple has one sub-CA, so the daemon
/// verifies the sub-CA's signature only once.
///
/// Usage: `TokenBench provisioning LEAF.pem SUB-CA.pem ROOT.pem`
enum ProvisioningBench {
    static func run(_ stopwatch: Stopwatch, certificates paths: [String]) throws {
        let chain = try paths.map { try der(ofPEMFile: $0) }
        func newTrust() throws -> ProvisioningTrust {
            try ProvisioningTrust(roots: [chain[2]], environment: .sandbox)
        }
        let trust = try newTrust()
        let sent = Array(chain[..<2])
        let now = Date()
        let nonce = try ProvisioningNonce(hex: "9c023092")
        let nonceSignature = try NonceSignature(hex: "40" + String(repeating: "5a", count: 80))
        let card = Array(
            #"{"primaryAccountNumber":"5204240250000002","expiration":"12/49","name":"Alex Example","productType":"01"}"#
                .utf8)
        let verified = try ProvisioningCertificates(sent).verified(trust: trust, at: now)

        func cardData() throws -> CardData {
            try CardData(
                configuration: .cardNumber, network: .mastercard, card: card, nonce: nonce,
                nonceSignature: nonceSignature, at: now)
        }

        func attempt(_ trust: ProvisioningTrust) throws {
            let certificates = try ProvisioningCertificates(sent).verified(trust: trust, at: now)
            _ = try ProvisioningAttempt().encrypt(cardData(), for: certificates)
        }

        let key = P256.KeyAgreement.PrivateKey()
        let bareIntermediate = try BareVerification.p256()
        let bareRoot = try BareVerification.p384()
        let rates = try stopwatch.measure([
            ("bare P-256 key generation (swift-crypto)", { _ = P256.KeyAgreement.PrivateKey() }),
            (
                "bare P-256 ECDH (swift-crypto)",
                { _ = try key.sharedSecretFromKeyAgreement(with: verified.leafPublicKey) }
            ),
            ("bare P-256 verify (libcrypto)", { try bareIntermediate.verify() }),
            ("bare P-384 verify (libcrypto)", { try bareRoot.verify() }),
            (
                "  verify the certificates, sub-CA known",
                { _ = try ProvisioningCertificates(sent).verified(trust: trust, at: now) }
            ),
            ("  check and write the card data", { _ = try cardData() }),
            ("  encrypt", { _ = try ProvisioningAttempt().encrypt(cardData(), for: verified) }),
            ("encrypt a card, all checks, sub-CA known", { try attempt(trust) }),
            // A new trust knows no sub-CA. The time to create it is measured separately, and subtracted.
            ("  read the trusted root", { _ = try newTrust() }),
            ("  read the root and encrypt a card", { try attempt(newTrust()) }),
        ])
        let knownLimit = 1 / rates[0...2].map { 1 / $0 }.reduce(0, +)
        stopwatch.print("limit, sub-CA known: the first three", knownLimit)
        let unknownLimit = 1 / rates[0...3].map { 1 / $0 }.reduce(0, +)
        stopwatch.print("limit, sub-CA not known: the first four", unknownLimit)
        let unknown = 1 / (1 / rates[9] - 1 / rates[8])
        stopwatch.print("encrypt a card, all checks, sub-CA not known", unknown)
        print("share of the limit, sub-CA known: \(share(rates[7], knownLimit)) (aim 0.7)")
        print("share of the limit, sub-CA not known: \(share(unknown, unknownLimit)) (aim 0.7)")
    }

    private static func share(_ rate: Double, _ limit: Double) -> String { String(format: "%.2f", rate / limit) }

    private static func der(ofPEMFile path: String) throws -> Data {
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        let base64 = pem.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }.joined()
        guard let der = Data(base64Encoded: base64) else { throw CocoaError(.fileReadCorruptFile) }
        return der
    }
}
