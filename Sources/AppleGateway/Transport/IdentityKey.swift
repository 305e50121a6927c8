import MerchantCore
import NIOCore
import NIOPosix
import NIOSSL

/// Lets TLS sign with a private key that is elsewhere.
struct IdentityKey: NIOSSLCustomPrivateKey, Hashable {
    private let identity: ClientIdentity

    init(_ identity: ClientIdentity) { self.identity = identity }

    var signatureAlgorithms: [SignatureAlgorithm] {
        identity.signatureAlgorithms.map { SignatureAlgorithm(rawValue: $0.rawValue) }
    }

    /// Signs on a thread of the pool: unsealing and RSA take longer than an event loop may be held up.
    func sign(
        channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        guard let algorithm = TLSSignatureAlgorithm(rawValue: algorithm.rawValue) else {
            return channel.eventLoop.makeFailedFuture(IdentityError.unusable("TLS asks for an unknown signature"))
        }
        return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) { [identity] in
            ByteBuffer(bytes: try identity.sign(algorithm, Array(data.readableBytesView)))
        }
    }

    /// Only a server that offers RSA key exchange would ask.
    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(IdentityError.unusable("an identity does not decrypt"))
    }

    static func == (left: Self, right: Self) -> Bool {
        left.identity.certificateChain == right.identity.certificateChain
    }

    func hash(into hasher: inout Hasher) { hasher.combine(identity.publicKeyHash) }
}
