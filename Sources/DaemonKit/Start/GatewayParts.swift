import AppleGateway
import FoundationEssentials
import KeyCustody
import Logging
import MerchantCore
import OutboundHTTP
import SQLiteStore
import Vocabulary

/// The clients of Apple's gateway and of merchants' domains. Both open outbound connections.
struct GatewayParts {
    let gateway: AppleGateway
    let domainChecker: any DomainChecker

    /// Does not throw if the identity certificate has expired: each call to Apple reports that.
    init(
        _ settings: Settings, _ files: ReferencedFiles, store: SQLiteStore, custody: KeyCustody, clock: any WallClock,
        logger: Logger
    ) throws {
        let gatewaySettings = settings.gateway
        var outbound = OutboundClient.Configuration()
        outbound.roots = files.gatewayRoots
        outbound.connectTimeout = gatewaySettings.connectTimeout
        var configuration = AppleGateway.Settings(
            endpoint: gatewaySettings.endpoint ?? GatewayEndpoint(settings.environment))
        configuration.answerTimeout = gatewaySettings.answerTimeout
        configuration.userAgent = "merchantkeyd/\(Program.version)"
        gateway = AppleGateway(
            settings: configuration, client: OutboundClient(outbound),
            identities: Self.identities(
                gatewaySettings, files, store: store, custody: custody, clock: clock, logger: logger),
            clock: clock, logger: logger)
        var domainCheck = DomainCheck.Settings()
        domainCheck.allowsInternalAddresses = settings.domainCheck.allowsInternalAddresses
        domainCheck.roots = files.domainCheckRoots
        domainCheck.timeout = settings.domainCheck.timeout
        domainCheck.addresses = settings.domainCheck.addresses
        domainChecker = DomainCheck(settings: domainCheck)
        if domainCheck.allowsInternalAddresses {
            logger.warning(
                "domain checks may connect to internal addresses: use this only for tests and for internal sites",
                metadata: ["setting": "domain-check.allow-internal-addresses"])
        }
    }

    func shutdown() async { await gateway.shutdown() }

    private static func identities(
        _ settings: GatewaySettings, _ files: ReferencedFiles, store: SQLiteStore, custody: KeyCustody,
        clock: any WallClock, logger: Logger
    ) -> any IdentitySource {
        guard let identity = files.identity, let location = settings.identityFiles else {
            return CustodyIdentities(custody: custody) { [merchant = settings.identityMerchant] in
                try store.readNow { try $0.identityKeys(at: clock.now) }
                    .filter { key in
                        let owner = key.keyPair.merchantIdentifier
                        return merchant.map { $0 == owner } ?? owner.isPlatformIntegrator
                    }
                    .map { .init(keyPair: $0.keyPair, certificates: [$0.certificate]) }
            }
        }
        let path = location.privateKey ?? location.certificate
        let mode = (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
        if let mode, mode & 0o007 != 0 {
            logger.warning(
                "every user on this machine can read the private key of the identity: run 'chmod 0600' on its file",
                metadata: ["path": "\(path)", "mode": "0\(String(mode, radix: 8))"])
        }
        return identity
    }
}
