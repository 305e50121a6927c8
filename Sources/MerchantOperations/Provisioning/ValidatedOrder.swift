import MerchantCore
import PassProvisioning
import Vocabulary

/// An order whose certificates, nonce and card data have no faults.
struct ValidatedOrder: Sendable {
    let certificates: VerifiedProvisioningCertificates
    let nonce: ProvisioningNonce
    let nonceSignature: NonceSignature
    let card: CardData

    /// - Throws: `provisioningDataInvalid` with every finding.
    init(_ order: ProvisioningOrder, trust: ProvisioningTrust, at now: Timestamp) throws(MerchantError) {
        var findings: [InputFinding] = []
        let certificates = Self.certificates(order, trust, now, &findings)
        let nonce = try? ProvisioningNonce(hex: order.nonce)
        let signature = try? NonceSignature(hex: order.nonceSignature)
        if nonce == nil { findings += Self.faults(ProvisioningNonce.findings(hex: order.nonce)) }
        if signature == nil { findings += Self.faults(NonceSignature.findings(hex: order.nonceSignature)) }
        let card = Self.card(order, nonce, signature, now, &findings)
        guard findings.isEmpty, let certificates, let nonce, let signature, let card else {
            throw .provisioningDataInvalid(findings)
        }
        (self.certificates, self.nonce, nonceSignature, self.card) = (certificates, nonce, signature, card)
    }

    private static func certificates(
        _ order: ProvisioningOrder, _ trust: ProvisioningTrust, _ now: Timestamp, _ findings: inout [InputFinding]
    ) -> VerifiedProvisioningCertificates? {
        let certificates: ProvisioningCertificates
        do throws(CertificateFinding) {
            certificates = try ProvisioningCertificates(base64: order.certificates)
        } catch {
            findings.append(InputFinding(error))
            return nil
        }
        do throws(CertificateFinding) { return try certificates.verified(trust: trust, at: now.date) } catch {
            // The error is only the first finding.
            let all = certificates.findings(trust: trust, at: now.date)
            findings += all.isEmpty ? [InputFinding(error)] : all.map { InputFinding($0) }
            return nil
        }
    }

    /// - Parameters:
    ///   - nonce: nil if the nonce has a fault. A placeholder then takes its place, because the faults of the card data
    ///     do not depend on the nonce.
    ///   - signature: nil if the signature has a fault. A placeholder then takes its place too.
    /// - Returns: nil if the card has a fault. The card data of an order with another fault is never used.
    private static func card(
        _ order: ProvisioningOrder, _ nonce: ProvisioningNonce?, _ signature: NonceSignature?, _ now: Timestamp,
        _ findings: inout [InputFinding]
    ) -> CardData? {
        guard let nonce = nonce ?? (try? ProvisioningNonce(hex: "00000000")),
            let signature = signature ?? (try? NonceSignature(hex: String(repeating: "00", count: 81)))
        else { return nil }
        do throws(CardDataFindings) {
            return try CardData(
                configuration: order.configuration, network: order.network, card: order.card, nonce: nonce,
                nonceSignature: signature, at: now.date)
        } catch {
            findings += faults(error.all)
            return nil
        }
    }

    private static func faults(_ findings: [CardDataFinding]) -> [InputFinding] {
        findings.filter { !$0.isWarning }.map { InputFinding($0) }
    }
}
