import FoundationEssentials
import PassProvisioning
import PaymentToken
import Vocabulary

/// The roots to which Apple's provisioning certificates must chain, read from the files of `provisioning.trust-roots`.
struct ProvisioningRoots: Sendable {
    /// nil: Apple Root CA - G3, which is built in.
    let roots: [TrustRoot]?
    let trust: ProvisioningTrust

    /// - Returns: nil if the settings define no in-app provisioning.
    /// - Throws: ``SettingsError`` if a file cannot be used, or if the roots do not fit the environment.
    init?(_ settings: Settings) throws {
        guard let provisioning = settings.provisioning else { return nil }
        roots = try Self.read(provisioning.trustRoots)
        let environment = settings.environment
        if environment == .production, let roots, roots.contains(where: { $0 != .appleRootCAG3 }) {
            throw SettingsError(
                "'provisioning.trust-roots' names a certificate other than Apple Root CA - G3, but 'environment' is production; remove 'provisioning.trust-roots', or set 'environment: sandbox' for tests"
            )
        }
        do throws(CertificateFinding) {
            trust = try ProvisioningTrust(
                roots: roots.map { $0.map { Data($0.derRepresentation) } } ?? [ProvisioningTrust.appleRootCAG3],
                environment: environment == .production ? .production : .sandbox,
                validityPeriod: provisioning.validityPeriod)
        } catch {
            throw SettingsError("'provisioning.trust-roots': \(error.message); \(error.action)")
        }
    }

    private static func read(_ paths: [String]) throws -> [TrustRoot]? {
        guard !paths.isEmpty else { return nil }
        return try paths.flatMap { path in
            let bytes = try SmallFile.read(path, named: "'provisioning.trust-roots' names \(path), which")
            do { return try TrustRoot.reading(pem: String(decoding: bytes, as: UTF8.self)) } catch {
                throw SettingsError("'provisioning.trust-roots' names \(path): \(error)")
            }
        }
    }
}
