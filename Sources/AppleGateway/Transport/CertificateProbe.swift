import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Vocabulary

/// Fetches a server's certificates by a handshake that is always broken off: nothing is trusted and nothing is asked.
struct CertificateProbe {
    /// The certificates that a server showed, its own first.
    struct Look {
        let certificates: [NIOSSLCertificate]

        /// - Parameter fault: what TLS found, where the certificates' dates say nothing else.
        func verdict(assuming fault: UntrustedServer.Fault, for name: String) -> UntrustedServer {
            let now = time_t(Date().timeIntervalSince1970)
            if let ended = certificates.first(where: { $0.notValidAfter < now }) {
                return UntrustedServer(
                    fault: .expired, detail: "\(Self.name(ended)), at \(Self.time(ended.notValidAfter))")
            }
            if let early = certificates.first(where: { $0.notValidBefore > now }) {
                return UntrustedServer(
                    fault: .notYetValid, detail: "\(Self.name(early)), from \(Self.time(early.notValidBefore)) on")
            }
            guard let own = certificates.first else {
                return UntrustedServer(fault: fault, detail: "the server showed none")
            }
            guard fault == .otherName else {
                let count = certificates.count
                return UntrustedServer(
                    fault: fault, detail: "\(Self.name(own)), shown with \(count - 1) more of its chain")
            }
            let names = Self.names(own)
            return UntrustedServer(
                fault: .otherName,
                detail: "found \(names.isEmpty ? "no name" : names.joined(separator: ", ")), expected \(name)")
        }

        /// At most ten, as some certificates hold hundreds.
        private static func names(_ certificate: NIOSSLCertificate) -> [String] {
            certificate._subjectAlternativeNames().prefix(10).map { name in
                switch name.nameType {
                case .dnsName: printable(String(decoding: name.contents, as: UTF8.self))
                case .ipAddress where name.contents.count == 4:
                    name.contents.map { String($0) }.joined(separator: ".")
                default: "a name of another kind"
                }
            }
        }

        private static func name(_ certificate: NIOSSLCertificate) -> String {
            names(certificate).first ?? "serial number \(Hex.encode(certificate.serialNumber))"
        }

        private static func time(_ seconds: time_t) -> String {
            Timestamp(millisecondsSince1970: Int64(seconds) * 1000).rfc3339
        }
    }

    let roots: TrustRoots
    let patience: Duration

    /// - Returns: nil where the server shows no certificate in time.
    func look(at host: String, port: Int, serverName: String) async -> Look? {
        let shown = Shown()
        do {
            let context = try NIOSSLContext(configuration: SecureTransport.tls(roots))
            let isAddress = (try? SocketAddress(ipAddress: serverName, port: 0)) != nil
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(patience))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = try NIOSSLClientHandler(
                            context: context, serverHostname: isAddress ? nil : serverName,
                            customVerificationCallback: { certificates, promise in
                                shown.certificates.withLock { $0 = certificates }
                                promise.succeed(.failed)
                            })
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                }
                .connect(host: host, port: port).get()
            let limit = channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { channel.close(promise: nil) }
            try? await channel.closeFuture.get()
            limit.cancel()
        } catch {
            return nil
        }
        return shown.certificates.withLock { $0 }.map(Look.init(certificates:))
    }
}

private final class Shown: Sendable {
    let certificates = Mutex<[NIOSSLCertificate]?>(nil)
}

/// Server-given text on its way into a message: printable ASCII only, and not without end.
func printable(_ text: some StringProtocol, limit: Int = 200) -> String {
    String(
        String.UnicodeScalarView(text.unicodeScalars.prefix(limit).map { (0x20...0x7E).contains($0.value) ? $0 : "?" }))
}
