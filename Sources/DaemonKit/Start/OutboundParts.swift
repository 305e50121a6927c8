import AppleGateway
import FoundationEssentials
import KeyCustody
import Logging
import MerchantCore
import OutboundHTTP
import Vocabulary

/// The parts of the daemon that connect to Apple and to merchants' domains.
struct OutboundParts {
    /// The largest number of connections to one of Apple's hosts with one identity. Apple needs a fraction of a second
    /// for each merchant session, so the daemon needs many connections when many buyers pay at the same time.
    private static let connectionsPerIdentity = 128

    /// Serves registrations, merchant sessions and merchant tokens.
    let gateway: AppleGateway
    let domainChecker: any DomainChecker

    /// Does not check whether the certificate for authentication to Apple has expired. If it has, each call to Apple
    /// fails with this reason, but the daemon still serves decryptors.
    init(
        _ settings: Settings, _ files: ReferencedFiles, store: ObservedStore, custody: KeyCustody,
        clock: any WallClock, logger: Logger
    ) throws {
        let gatewaySettings = settings.gateway
        var clientConfiguration = OutboundClient.Configuration()
        clientConfiguration.roots = files.gatewayRoots
        clientConfiguration.connectTimeout = gatewaySettings.connectTimeout
        clientConfiguration.connectionsPerHost = Self.connectionsPerIdentity
        var configuration = AppleGateway.Settings(
            endpoint: gatewaySettings.endpoint ?? GatewayEndpoint(settings.environment))
        configuration.responseTimeout = gatewaySettings.responseTimeout
        configuration.userAgent = "merchantkeyd/\(Program.version)"
        configuration.eventMethod = settings.merchantTokens.eventMethod
        gateway = AppleGateway(
            settings: configuration, client: OutboundClient(clientConfiguration),
            identities: Self.identities(
                gatewaySettings, files, store: store, custody: custody, logger: logger),
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

    /// The source of the certificates and keys with which the daemon authenticates to Apple. The platform's certificate
    /// and key are files in the settings or an identity key in the database. A merchant's own identity key is always in
    /// the database.
    private static func identities(
        _ settings: GatewaySettings, _ files: ReferencedFiles, store: ObservedStore, custody: KeyCustody, logger: Logger
    ) -> any IdentitySource {
        let platform = settings.identityMerchant
        let custodyIdentities = CustodyIdentities(custody: custody, cache: store.caches.identities) {
            [store = store.store] owner, time in
            try store.readNow { try $0.identityKeys(of: owner, platform: platform, at: time) }
        }
        guard let identity = files.identity, let location = settings.identityFiles else { return custodyIdentities }
        let path = location.privateKey ?? location.certificate
        let mode = (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
        if let mode, mode & 0o007 != 0 {
            logger.warning(
                "users other than the owner and the group can access the private key for the connection to Apple: run 'chmod 0600' on the file",
                metadata: ["path": "\(path)", "mode": "0\(String(mode, radix: 8))"])
        }
        return FileAndCustodyIdentities(files: identity, custody: custodyIdentities)
    }
}
