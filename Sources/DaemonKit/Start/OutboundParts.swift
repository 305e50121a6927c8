import AppleGateway
import FoundationEssentials
import KeyCustody
import Logging
import MerchantCore
import OutboundHTTP
import SQLiteStore
import Vocabulary

/// The parts of the daemon that connect to Apple and to merchants' domains.
struct OutboundParts {
    let gateway: AppleGateway
    let domainChecker: any DomainChecker

    /// Does not check whether the certificate for authentication to Apple has expired. If it has, each call to Apple
    /// fails with this reason, but the daemon still serves decryptors.
    init(
        _ settings: Settings, _ files: ReferencedFiles, store: SQLiteStore, custody: KeyCustody, clock: any WallClock,
        logger: Logger
    ) throws {
        let gatewaySettings = settings.gateway
        var clientConfiguration = OutboundClient.Configuration()
        clientConfiguration.roots = files.gatewayRoots
        clientConfiguration.connectTimeout = gatewaySettings.connectTimeout
        var configuration = AppleGateway.Settings(
            endpoint: gatewaySettings.endpoint ?? GatewayEndpoint(settings.environment))
        configuration.responseTimeout = gatewaySettings.responseTimeout
        configuration.userAgent = "merchantkeyd/\(Program.version)"
        gateway = AppleGateway(
            settings: configuration, client: OutboundClient(clientConfiguration),
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

    /// The source of the certificate and key with which the daemon authenticates to Apple: the files in the settings,
    /// or the identity keys in the database.
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
                "users other than the owner and the group can access the private key for the connection to Apple: run 'chmod 0600' on the file",
                metadata: ["path": "\(path)", "mode": "0\(String(mode, radix: 8))"])
        }
        return identity
    }
}
