import NIOCore
import NIOPosix
import NIOSSL

/// A client certificate for mutual TLS, and a function that signs with its private key. The private key is not copied
/// into the TLS library.
package struct TLSIdentity: Sendable {
    /// The certificates in DER, the client's own first.
    package let certificateChain: [[UInt8]]
    /// `SignatureScheme` values of RFC 8446 section 4.2.3, most preferred first.
    package let signatureSchemes: [UInt16]
    /// Returns the signature of the bytes. Runs on a thread pool, because decrypting the stored key and signing with
    /// RSA would block an event loop for too long.
    let sign: @Sendable (_ scheme: UInt16, _ bytes: [UInt8]) throws -> [UInt8]

    package init(
        certificateChain: [[UInt8]], signatureSchemes: [UInt16],
        sign: @escaping @Sendable (_ scheme: UInt16, _ bytes: [UInt8]) throws -> [UInt8]
    ) {
        self.certificateChain = certificateChain
        self.signatureSchemes = signatureSchemes
        self.sign = sign
    }
}

/// Why a ``TLSIdentity`` could not sign. NIOSSL passes the error on unchanged, so that ``OutboundFailure`` can report
/// the cause.
struct TLSSigningError: Error {
    let cause: String
}

/// The private key of a ``TLSIdentity``, in the form that NIOSSL requires.
struct TLSIdentityKey: NIOSSLCustomPrivateKey, Hashable {
    private let identity: TLSIdentity

    init(_ identity: TLSIdentity) { self.identity = identity }

    var signatureAlgorithms: [SignatureAlgorithm] {
        identity.signatureSchemes.map { SignatureAlgorithm(rawValue: $0) }
    }

    func sign(
        channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) { [identity] in
            do {
                return ByteBuffer(bytes: try identity.sign(algorithm.rawValue, Array(data.readableBytesView)))
            } catch { throw TLSSigningError(cause: "\(error)") }
        }
    }

    /// Always fails. TLS decrypts with a private key only on the server's side of an RSA key exchange.
    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(TLSSigningError(cause: "a client identity does not decrypt"))
    }

    /// Certificates with equal bytes have the same key.
    static func == (left: Self, right: Self) -> Bool {
        left.identity.certificateChain == right.identity.certificateChain
    }

    func hash(into hasher: inout Hasher) { hasher.combine(identity.certificateChain.first) }
}
