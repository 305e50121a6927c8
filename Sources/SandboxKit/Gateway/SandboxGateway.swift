import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Vocabulary

/// The sandbox's gateway, listening: HTTPS on loopback, with every client asked for its certificate.
package final class SandboxGateway: Sendable {
    package struct Settings: Sendable {
        /// 0: any that is free.
        package var port = 0
        /// Beside `localhost`, `127.0.0.1` and `::1`.
        package var names: [SandboxServerName] = []
        package var registrationsPath: String?
        /// A Unix socket on which a test steers the gateway; nil: none.
        package var controlPath: String?
        package var faults: [GatewayFault] = []
        /// Calls in a second; those beyond are answered with 429. Nil: no limit.
        package var mostCallsInASecond: Int?
        package var verifier: DomainVerifier?
        package var slowness: Duration = .seconds(5)

        package init() {}
    }

    package let port: Int
    package let book: RegistrationBook
    package let faults: FaultPlan
    package let tally: CallTally
    private let listeners: [HTTPListener]

    package var url: String { "https://localhost:\(port)" }

    /// - Throws: ``SandboxFault`` where the port is taken.
    package init(authority: SandboxAuthority, settings: Settings) async throws {
        let names = ["localhost", "127.0.0.1", "::1"].compactMap(SandboxServerName.init) + settings.names
        // Kept over a restart it would be a file more; a client trusts the root.
        let credentials = try authority.issueServerCredentials(
            names: names, notBefore: .now.adding(.seconds(-3600)))
        let service = GatewayService(
            judge: ClientCertificateVerifier(authority), book: try RegistrationBook(path: settings.registrationsPath),
            faults: FaultPlan(settings.faults), tally: CallTally(),
            limit: settings.mostCallsInASecond.map { RateLimit(mostInASecond: $0) }, verifier: settings.verifier,
            slowness: settings.slowness)
        book = service.book
        faults = service.faults
        tally = service.tally
        let gateway = try await HTTPListener(
            tcpPort: settings.port, tls: try Self.tls(credentials)
        ) { request, certificate in
            await service.reply(
                to: .init(
                    method: request.head.method, uri: request.head.uri,
                    body: Array((request.body ?? ByteBuffer()).readableBytesView), clientCertificate: certificate))
        }
        port = gateway.port
        var listeners = [gateway]
        if let path = settings.controlPath {
            let control = ControlService(
                book: service.book, faults: service.faults, tally: service.tally, limit: service.limit)
            do {
                listeners.append(
                    try await HTTPListener(unixSocketPath: path) { request, _ in
                        control.reply(
                            to: request.head.method, request.head.uri,
                            Array((request.body ?? ByteBuffer()).readableBytesView))
                    })
            } catch {
                await gateway.stop()
                throw error
            }
        }
        self.listeners = listeners
    }

    package func stop() async { for listener in listeners { await listener.stop() } }

    /// Any client certificate is taken in TLS, and none too: HTTP judges.
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
