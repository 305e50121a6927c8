import Crypto
package import HTTPTypes
package import LocalSocket
package import NIOCore
import NIOSSL
package import ServerKit
package import Vocabulary

/// What the listener knows about the connection of a request. With HTTP/2, each stream has its own value.
package struct PortalConnection: Sendable {
    /// The channel on which the response is written: the connection (HTTP/1.1) or the stream (HTTP/2).
    package let channel: any Channel
    /// The address at the other end of the connection, which may be a proxy. See ``clientAddress(of:)``.
    package let peerAddress: RemoteAddress
    /// The memory that is reserved for the current request and its response. It is released after the response.
    package let reservedMemory: BufferBudget.Reservation
    private let clientCertificate: ClientCertificate?
    private let trustedProxies: TrustedProxies
    private let now: @Sendable () -> Timestamp

    package init(
        channel: any Channel, peerAddress: RemoteAddress, reservedMemory: BufferBudget.Reservation,
        clientCertificate: ClientCertificate?, trustedProxies: TrustedProxies,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.channel = channel
        self.peerAddress = peerAddress
        self.reservedMemory = reservedMemory
        self.clientCertificate = clientCertificate
        self.trustedProxies = trustedProxies
        self.now = now
    }

    /// The fingerprint of the client's certificate; nil if the client has none, or if it has expired. A TLS handshake
    /// that resumes a session does not check the certificate again, and a connection may last longer than the
    /// certificate, so this property checks whether the certificate has expired.
    package var clientCertificateFingerprint: Bits256? {
        guard let clientCertificate, now() <= clientCertificate.notAfter else { return nil }
        return clientCertificate.fingerprint
    }

    /// The address of the client; nil for a trusted proxy, whose requests come from many clients.
    var directAddress: RemoteAddress? { trustedProxies.contains(peerAddress) ? nil : peerAddress }

    /// The address of the client that sent a request: ``TrustedProxies/clientAddress(of:from:)``.
    package func clientAddress(of headers: HTTPFields) -> RemoteAddress {
        trustedProxies.clientAddress(of: headers, from: peerAddress)
    }
}

/// A client certificate that chains to the setting `portal.tls.client-ca`.
package struct ClientCertificate: Hashable, Sendable {
    /// The SHA-256 of the certificate in DER.
    package let fingerprint: Bits256
    /// The end of the certificate's validity.
    package let notAfter: Timestamp

    package init(fingerprint: Bits256, notAfter: Timestamp) {
        self.fingerprint = fingerprint
        self.notAfter = notAfter
    }

    init?(_ certificate: NIOSSLCertificate) {
        guard let der = try? certificate.toDERBytes(),
            let fingerprint = Bits256(bytes: Array(SHA256.hash(data: der)))
        else { return nil }
        self.fingerprint = fingerprint
        notAfter = Timestamp(millisecondsSince1970: Int64(certificate.notValidAfter) * 1000)
    }
}
