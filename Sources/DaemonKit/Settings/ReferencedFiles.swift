import AppleGateway
import FoundationEssentials
import KeyCustody
import MerchantCore
import OutboundHTTP
import PaymentToken
import PortalServer

/// The content of the files that the settings name, read and validated. A start, `config check` and `diagnose` all use
/// this type.
struct ReferencedFiles {
    /// The roots to which payment tokens must chain; nil: Apple's root, which is built in.
    let tokenRoots: [TrustRoot]?
    /// The CAs that issue the certificates of key pairs; nil: issuers are not verified.
    let certificateIssuers: CertificateIssuers?
    let gatewayRoots: TrustRoots
    let domainCheckRoots: TrustRoots
    /// The certificate and private key with which the daemon authenticates to Apple; nil: the identity keys in the
    /// database are used.
    let identity: IdentityFiles?

    /// - Throws: ``SettingsError`` naming the setting and the file.
    init(reading settings: Settings) throws {
        tokenRoots = try Self.tokenRoots(settings.trust.tokenRoots)
        certificateIssuers = try settings.trust.certificateIssuers.map { paths in
            // Most operators name only Apple's intermediate CAs, so Apple's root is added to complete the chains.
            try CertificateIssuers(
                reading: try paths.map { try Self.file("trust.certificate-issuers", $0) }
                    + [TrustRoot.appleRootCAG3.derRepresentation])
        }
        gatewayRoots = try Self.roots("apple.gateway.trust-roots", settings.gateway.trustRoots)
        domainCheckRoots = try Self.roots("domain-check.trust-roots", settings.domainCheck.trustRoots)
        // The daemon reads these files again when they change. This read only checks them.
        if let portal = settings.portal {
            do throws(PortalTLSError) {
                _ = try PortalTLS(reading: portal.tlsFiles, at: SystemClock().now)
            } catch { throw SettingsError("\(error)") }
        }
        do { identity = try settings.gateway.identityFiles.map { try IdentityFiles($0) } } catch {
            throw SettingsError("'apple.gateway.identity': \(error)")
        }
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
