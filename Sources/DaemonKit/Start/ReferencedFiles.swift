import AppleGateway
import FoundationEssentials
import KeyCustody
import MerchantCore
import OutboundHTTP
import PaymentToken
import PortalServer
import Vocabulary

/// The content of the certificate and key files that the settings name, read and validated. Does not contain the master
/// key and the portal's files.
struct ReferencedFiles {
    /// The roots to which payment tokens must chain; nil: Apple's root, which is built in.
    let tokenRoots: [TrustRoot]?
    /// The CAs that issue the certificates of key pairs; nil: issuers are not verified.
    let certificateIssuers: CertificateIssuers?
    let gatewayRoots: TrustRoots
    let domainCheckRoots: TrustRoots
    /// nil if the settings define no in-app provisioning.
    let provisioning: ProvisioningRoots?
    /// nil if the settings name no hook for usage information.
    let usageInformationKey: UsageInformationKey?
    /// The certificate and private key with which the daemon authenticates to Apple; nil: the identity keys in the
    /// database are used.
    let identity: IdentityFiles?

    /// - Parameter findings: receives every problem, with the names of the setting and the file.
    /// - Returns: nil if a file whose content it would contain cannot be used.
    static func read(_ settings: Settings, _ findings: inout PreparationFindings) -> ReferencedFiles? {
        let now = SystemClock().now
        let tokenRoots = findings.collect { try Self.tokenRoots(settings.trust.tokenRoots) }
        let issuers = findings.collect { try Self.certificateIssuers(settings.trust.certificateIssuers) }
        let gatewayRoots = findings.collect {
            try Self.roots("apple.gateway.trust-roots", settings.gateway.trustRoots)
        }
        let domainCheckRoots = findings.collect {
            try Self.roots("domain-check.trust-roots", settings.domainCheck.trustRoots)
        }
        let provisioning = findings.collect { try ProvisioningRoots(settings) }
        let usageInformationKey = findings.collect {
            try settings.merchantTokens.usageInformation.map { try UsageInformationKeyFile.read($0.privateKey) }
        }
        // The portal reads its files again when they change. This read only checks them.
        if let portal = settings.portal {
            _ = findings.collect { try PortalTLS(reading: portal.tlsFiles, at: now) }
        }
        let identity = findings.collect("'apple.gateway.identity': ") {
            try settings.gateway.identityFiles.map { try IdentityFiles($0) }
        }
        guard let tokenRoots, let issuers, let gatewayRoots, let domainCheckRoots, let provisioning, let identity,
            let usageInformationKey
        else { return nil }
        checkUse(of: issuers, identity, settings, at: now, &findings)
        return ReferencedFiles(
            tokenRoots: tokenRoots, certificateIssuers: issuers, gatewayRoots: gatewayRoots,
            domainCheckRoots: domainCheckRoots, provisioning: provisioning, usageInformationKey: usageInformationKey,
            identity: identity)
    }

    /// Warns about files that are valid but unsuitable, such as issuers without Apple's intermediate CA.
    private static func checkUse(
        of issuers: CertificateIssuers?, _ identity: IdentityFiles?, _ settings: Settings, at now: Timestamp,
        _ findings: inout PreparationFindings
    ) {
        if settings.environment == .production, let issuers, !issuers.containsApplePaymentProcessingIssuer {
            findings.warn(
                "'trust.certificate-issuers' does not contain Apple Worldwide Developer Relations CA - G2 (SHA-256 \(CertificateIssuers.applePaymentProcessingIssuer)), so the daemon will refuse the payment processing certificates that Apple issues; download that certificate from https://www.apple.com/certificateauthority/"
            )
        }
        do { _ = try identity?.identity(of: .platform, at: now) } catch {
            findings.warn("'apple.gateway.identity': \(error); calls to Apple will fail")
        }
    }

    private static func certificateIssuers(_ paths: [String]?) throws -> CertificateIssuers? {
        guard let paths else { return nil }
        // Most operators name only Apple's intermediate CAs, so Apple's root is added to complete the chains.
        return try CertificateIssuers(
            reading: try paths.map { try file("trust.certificate-issuers", $0) }
                + [TrustRoot.appleRootCAG3.derRepresentation])
    }

    private static func tokenRoots(_ paths: [String]) throws -> [TrustRoot]? {
        guard !paths.isEmpty else { return nil }
        return try paths.flatMap { path in
            let text = String(decoding: try file("trust.token-roots", path), as: UTF8.self)
            do { return try TrustRoot.reading(pem: text) } catch {
                throw SettingsError("'trust.token-roots' names \(path): \(error)")
            }
        }
    }

    private static func roots(_ setting: String, _ paths: [String]) throws -> TrustRoots {
        guard !paths.isEmpty else { return .system }
        let pem = try paths.flatMap { try file(setting, $0) + [UInt8(ascii: "\n")] }
        do { return try TrustRoots(pem: pem) } catch { throw SettingsError("'\(setting)': \(error)") }
    }

    private static func file(_ setting: String, _ path: String) throws -> [UInt8] {
        try SmallFile.read(path, named: "'\(setting)' names \(path), which")
    }
}
