public import Crypto
public import FoundationEssentials

/// An inspection of what an app passed to PassKit, sent to the issuer's server or logged.
///
/// Apple's broker answers every fault with the same error. An inspection names the faults that it finds. If it can
/// repair a fault, it continues with the repaired value, because one fault can hide others. With the private key of the
/// sandbox's leaf, it also decrypts and checks the card data.
///
/// ```swift
/// let inspection = PassInspection(text: Array(json.utf8), decryptionKey: nil)
/// for finding in inspection.findings { print(finding.message, finding.action) }
/// ```
public struct PassInspection: Sendable {
    /// The findings, in the order of the checks; empty if there is none.
    public let findings: [any ProvisioningFinding]
    /// What was recognized.
    public let values: InspectedValues

    /// Inspects a text. This never fails: a text that cannot be read is a finding.
    ///
    /// - Parameters:
    ///   - text: JSON with `encryptedPassData`, `ephemeralPublicKey` and `activationData`; JSON with `certificates`,
    ///     `nonce` and `nonceSignature`; or a device's log with a `POST …/broker/v4/devices/…/cards` request.
    ///   - decryptionKey: the private key of the leaf; nil if only Apple has it.
    ///   - network: the network of the card; nil if it is not known.
    ///   - now: the time at which the card must not have expired; nil to skip this check.
    public init(
        text: [UInt8], decryptionKey: P256.KeyAgreement.PrivateKey? = nil, network: ProvisioningNetwork? = nil,
        at now: Date? = nil
    ) {
        var run = InspectionRun(InspectedText(text), decryptionKey: decryptionKey, network: network, at: now)
        run.inspect()
        findings = run.findings
        values = run.values
    }
}
