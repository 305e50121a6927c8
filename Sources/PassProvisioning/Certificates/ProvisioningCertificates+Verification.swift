import Crypto
public import FoundationEssentials
import X509

extension ProvisioningCertificates {
    /// Makes every check that does not depend on a failed check, and returns the faults in a fixed order.
    ///
    /// The chain must consist of exactly three certificates: the leaf, the sub-CA and a trusted root.
    ///
    /// - Parameters:
    ///   - trust: which certificates are accepted.
    ///   - time: the time at which the certificates must be valid, usually now.
    /// - Returns: the faults; empty if the certificates are accepted.
    public func findings(trust: ProvisioningTrust, at time: Date) -> [CertificateFinding] {
        check(trust: trust, at: time).findings
    }

    /// Makes the checks of ``findings(trust:at:)``.
    ///
    /// - Throws: the first finding.
    public func verified(
        trust: ProvisioningTrust, at time: Date
    ) throws(CertificateFinding) -> VerifiedProvisioningCertificates {
        let check = check(trust: trust, at: time)
        if let finding = check.findings.first { throw finding }
        guard let key = check.leafKey else { throw .wrongLeafKey(found: leaf.keyTypeText) }
        return VerifiedProvisioningCertificates(leafPublicKey: key)
    }

    private func check(trust: ProvisioningTrust, at time: Date) -> ProvisioningChainCheck {
        var check = ProvisioningChainCheck(leaf: leaf, subCA: subCA, trust: trust)
        check.checkIdentity()
        check.checkChain()
        check.checkAuthority()
        check.checkKeyUsage()
        check.checkMarker()
        check.checkCriticalExtensions()
        check.checkLeafKey()
        check.checkValidity(at: time)
        return check
    }
}

extension Certificate {
    /// The public key for key agreement; nil if it is not on the curve P-256.
    var agreementKey: P256.KeyAgreement.PublicKey? {
        guard let key = P256.Signing.PublicKey(publicKey) else { return nil }
        return try? P256.KeyAgreement.PublicKey(x963Representation: key.x963Representation)
    }

    /// The type of the public key for messages, such as `P384` or `RSA2048`.
    var keyTypeText: String { publicKey.description.replacing(".PublicKey", with: "") }
}
