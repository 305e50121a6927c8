import AppleGateway
import FoundationEssentials
import KeyCustody
import Logging
import MerchantCore
import OutboundHTTP
import SQLiteStore
import Vocabulary

/// The parts that reach the network outward, put together from the settings.
struct GatewayParts {
    let gateway: AppleGateway
    let domainChecker: any DomainChecker

    /// Refuses files that cannot be read; an identity that has ended is told by each call and stops nobody else's work.
    init(
        _ settings: Settings, store: SQLiteStore, custody: KeyCustody, clock: any WallClock, logger: Logger
    ) throws {
        let named = settings.gateway
        let identities = try Self.identities(named, store: store, custody: custody, clock: clock, logger: logger)
        var outbound = OutboundClient.Configuration()
        outbound.roots = try Self.roots("apple.gateway.trust-roots", named.trustRoots)
        outbound.connectTimeout = named.connectTimeout
        var configuration = AppleGateway.Settings(
            endpoint: try Self.endpoint(named.url, settings.environment))
        configuration.answerTimeout = named.answerTimeout
        configuration.userAgent = "merchantkeyd/\(Program.version)"
        gateway = AppleGateway(
            settings: configuration, client: OutboundClient(outbound), identities: identities, clock: clock,
            logger: logger)
        domainChecker = DomainCheck(settings: try Self.domainCheck(named.domainCheck))
        if named.domainCheck.allowsInternalAddresses {
            logger.warning(
                "domain checks may ask internal addresses: meant for tests and for sites that are inside",
                metadata: ["setting": "domain-check.allow-internal-addresses"])
        }
    }

    func shutdown() async { await gateway.shutdown() }

    private static func endpoint(_ url: String?, _ environment: Environment) throws -> GatewayEndpoint {
        guard let url else { return GatewayEndpoint(environment) }
        do { return try GatewayEndpoint(url) } catch { throw SettingsError("'apple.gateway.url': \(error)") }
    }

    private static func identities(
        _ settings: GatewaySettings, store: SQLiteStore, custody: KeyCustody, clock: any WallClock, logger: Logger
    ) throws -> any IdentitySource {
        guard let files = settings.identityFiles else {
            return CustodyIdentities(custody: custody) { [merchant = settings.identityMerchant] in
                try store.readNow { try $0.identityKeys(at: clock.now) }
                    .filter { key in
                        let owner = key.keyPair.merchantIdentifier
                        return merchant.map { $0 == owner } ?? owner.isPlatformIntegrator
                    }
                    .map { .init(keyPair: $0.keyPair, certificates: [$0.certificate]) }
            }
        }
        let path = files.privateKey ?? files.certificate
        let mode = (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
        if let mode, mode & 0o007 != 0 {
            logger.warning(
                "the identity's private key can be read by everybody on this machine",
                metadata: ["path": "\(path)", "mode": "0\(String(mode, radix: 8))"])
        }
        do { return try IdentityFiles(files) } catch { throw SettingsError("'apple.gateway.identity': \(error)") }
    }

    private static func roots(_ setting: String, _ paths: [String]) throws -> TrustRoots {
        guard !paths.isEmpty else { return .system }
        var pem: [UInt8] = []
        for path in paths {
            do { pem += Array(try Data(contentsOf: URL(filePath: path))) + [UInt8(ascii: "\n")] } catch {
                throw SettingsError("'\(setting)' names \(path), which cannot be read: \(error)")
            }
        }
        do { return try TrustRoots(pem: pem) } catch { throw SettingsError("'\(setting)': \(error)") }
    }

    private static func domainCheck(_ named: DomainCheckSettings) throws -> DomainCheck.Settings {
        var settings = DomainCheck.Settings()
        settings.allowsInternalAddresses = named.allowsInternalAddresses
        settings.roots = try roots("domain-check.trust-roots", named.trustRoots)
        settings.timeout = named.timeout
        for entry in named.resolve {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let domain = DomainName(ascii: parts[0]),
                let address = DomainCheck.Address(String(parts[1]))
            else {
                throw SettingsError("'domain-check.resolve' has '\(entry)', expected NAME=ADDRESS or NAME=ADDRESS:PORT")
            }
            settings.addresses[domain.rawValue] = address
        }
        return settings
    }
}
