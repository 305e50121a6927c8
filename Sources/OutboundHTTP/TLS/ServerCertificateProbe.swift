import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Reads a server's certificates from a TLS handshake. The probe always rejects the certificates, so the handshake
/// fails and no request is sent.
struct ServerCertificateProbe {
    let roots: TrustRoots
    let timeout: Duration

    /// - Returns: the certificates that the server presented, its own first; nil if it presented none in time.
    func certificates(at address: String, port: Int, serverName: String) async -> [NIOSSLCertificate]? {
        let presented = PresentedCertificates()
        do {
            let context = try NIOSSLContext(configuration: roots.clientConfiguration)
            // TLS sends only host names to the server, no IP addresses (RFC 6066 section 3).
            let isAddress = NetworkAddress(serverName) != nil
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(timeout))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = try NIOSSLClientHandler(
                            context: context, serverHostname: isAddress ? nil : serverName,
                            customVerificationCallback: { certificates, promise in
                                presented.certificates.withLock { $0 = certificates }
                                promise.succeed(.failed)
                            })
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                }
                .connect(host: address, port: port).get()
            let timer = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { channel.close(promise: nil) }
            // The channel closes when the handshake has failed, at the latest after the timeout.
            try? await channel.closeFuture.get()
            timer.cancel()
        } catch {
            return nil
        }
        return presented.certificates.withLock { $0 }
    }
}

private final class PresentedCertificates: Sendable {
    let certificates = Mutex<[NIOSSLCertificate]?>(nil)
}

extension TrustRoots {
    /// Settings for TLS 1.2 or newer that verify the server's name and certificate chain.
    var clientConfiguration: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = roots
        // How long a closing connection waits for the server's close_notify.
        tls.shutdownTimeout = .seconds(1)
        return tls
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
