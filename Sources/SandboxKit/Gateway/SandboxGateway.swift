import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Vocabulary

/// The server that stands in for Apple's gateway: HTTPS on the loopback interface, with client certificates.
package final class SandboxGateway: Sendable {
    package struct Settings: Sendable {
        /// The TCP port; 0 for any free port.
        package var port = 0
        /// The names in the server certificate, in addition to `localhost`, `127.0.0.1` and `::1`.
        package var names: [SandboxServerName] = []
        /// The file of the registrations; nil to keep them in memory only.
        package var registrationsPath: String?
        /// The path of the control socket; nil for none.
        package var controlPath: String?
        package var faults: [GatewayFault] = []
        /// The limit of calls per second; the response to further calls is 429. Nil for no limit.
        package var callsPerSecond: Int?
        /// The verifier of domains; nil if domains are not verified.
        package var domainVerifier: DomainVerifier?
        /// The delay of a response with the fault `slow`.
        package var slowReplyDelay: Duration = .seconds(5)
        /// The broker for in-app provisioning; nil for none.
        package var broker: BrokerEndpoint?
        /// The domains of merchants with an identity certificate of their own; a merchant without an entry may use any
        /// domain.
        package var merchantDomains: [MerchantDomain] = []
        /// Whether responses wrap events of merchant tokens in `merchantTokenEvent`.
        package var wrapsTokenEvents = false
        /// The roots, in PEM, that are trusted when merchants are notified, in addition to the system's and the
        /// sandbox's.
        package var notificationRoots: [String] = []

        package init() {}
    }

    package let port: Int
    package let registrations: RegistrationStore
    package let faults: FaultInjector
    package let tally: CallTally
    private let listeners: [HTTPListener]
    private let notifier: TokenNotifier

    package var url: String { "https://localhost:\(port)" }

    /// Starts the server.
    ///
    /// - Throws: ``SandboxError`` if the port or the control socket cannot be opened, if the registrations cannot be
    ///   read, or if another process uses their directory.
    package init(authority: SandboxAuthority, settings: Settings) async throws {
        let names = ["localhost", "127.0.0.1", "::1"].compactMap(SandboxServerName.init) + settings.names
        // The server certificate is new at each start, so it needs no file. Clients need only the root. The certificate
        // is valid from an hour ago, so that small differences between clocks do not matter.
        let credentials = try authority.issueServerCredentials(
            names: names, notBefore: .now.adding(.seconds(-3600)))
        let registrations = try RegistrationStore(path: settings.registrationsPath)
        let sessions = SessionLog()
        let tokens = MerchantTokenStore()
        let service = GatewayService(
            clientCertificateVerifier: ClientCertificateVerifier(authority), registrations: registrations,
            sessions: PaymentSessionService(
                authority: authority, registrations: registrations, merchantDomains: settings.merchantDomains,
                log: sessions),
            merchantTokens: MerchantTokenService(store: tokens),
            faults: FaultInjector(settings.faults), tally: CallTally(),
            limit: settings.callsPerSecond.map { RateLimit(callsPerSecond: $0) },
            domainVerifier: settings.domainVerifier, slowReplyDelay: settings.slowReplyDelay, broker: settings.broker)
        self.registrations = registrations
        faults = service.faults
        tally = service.tally
        let notifier = try TokenNotifier(tokens, trusting: [authority.rootCertificate] + settings.notificationRoots)
        self.notifier = notifier
        let gateway = try await HTTPListener(
            tcpPort: settings.port, tls: try Self.tls(credentials)
        ) { request, certificate in
            await service.reply(
                to: .init(
                    method: request.head.method, uri: request.head.uri, headers: request.head.headers,
                    body: Array((request.body ?? ByteBuffer()).readableBytesView), clientCertificate: certificate))
        }
        port = gateway.port
        var listeners = [gateway]
        if let path = settings.controlPath {
            let control = ControlService(
                registrations: service.registrations, faults: service.faults, tally: service.tally,
                limit: service.limit, sessions: sessions,
                merchantTokens: MerchantTokenControl(
                    authority: authority, store: tokens, notifier: notifier, wrapsEvents: settings.wrapsTokenEvents))
            do {
                listeners.append(
                    try await HTTPListener(unixSocketPath: path) { request, _ in
                        control.reply(
                            to: request.head.method, request.head.uri,
                            Array((request.body ?? ByteBuffer()).readableBytesView))
                    })
            } catch {
                await gateway.stop()
                await notifier.stop()
                throw error
            }
        }
        self.listeners = listeners
    }

    /// Closes all sockets and the file of the registrations, and returns when all connections are closed.
    package func stop() async {
        for listener in listeners { await listener.stop() }
        await notifier.stop()
        registrations.release()
    }

    /// Returns the TLS settings. The handshake accepts any client certificate, and clients without a certificate.
    /// ``ClientCertificateVerifier`` checks the certificate after the handshake.
    private static func tls(_ credentials: SandboxAuthority.ServerCredentials) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(credentials.certificate.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(credentials.privateKey.utf8), format: .pem)))
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .optionalVerification
        return try NIOSSLContext(configuration: tls)
    }
}
