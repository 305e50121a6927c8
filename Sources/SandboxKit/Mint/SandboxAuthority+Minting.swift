import Crypto
import Dispatch
import Synchronization
package import Vocabulary
import X509

/// The token service: what Apple's servers do between a payer's touch and the merchant's page.
extension SandboxAuthority {
    /// Makes a payment token that is encrypted to a certificate and signed by the sandbox.
    ///
    /// - Parameter certificate: a payment processing certificate, PEM or DER; its key says which kind of token.
    /// - Throws: ``SandboxFault`` for an order that cannot be met and for any other certificate.
    package func mintToken(_ order: TokenOrder, certificate: [UInt8]) throws -> MintedToken {
        try order.validate()
        return try mintToken(order, to: ProcessingCertificate(certificate))
    }

    /// Makes many, on every core.
    ///
    /// - Returns: whole tokens, JSON, one a line.
    /// - Throws: as ``mintToken(_:certificate:)``.
    package func mintTokens(_ count: Int, _ order: TokenOrder, certificate: [UInt8]) throws -> [UInt8] {
        try order.validate()
        let pieces = (count + Self.piece - 1) / Self.piece
        let made = Mutex<[Int: Result<[UInt8], any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: pieces) { number in
            let piece = Result {
                let certificate = try ProcessingCertificate(certificate)
                return try (number * Self.piece..<min(count, (number + 1) * Self.piece)).flatMap { _ in
                    Array("\(try mintToken(order, to: certificate).json)\n".utf8)
                }
            }
            made.withLock { $0[number] = piece }
        }
        let found = made.withLock { $0 }
        return try (0..<pieces).reduce(into: []) { lines, number in lines += try found[number]?.get() ?? [] }
    }

    /// How many tokens a core makes at a time.
    private static let piece = 256

    private func mintToken(_ order: TokenOrder, to certificate: ProcessingCertificate) throws -> MintedToken {
        let plaintext = TokenPlaintext(order, algorithm: certificate.algorithm).json
        let envelope = TokenEnvelope(
            algorithm: certificate.algorithm, publicKeyHash: certificate.publicKeyHash,
            encryption: try TokenEncryption(
                Array(plaintext.utf8), to: certificate, leadingZeroSecret: order.leadingZeroSecret),
            transactionIdentifier: randomBytes(32),
            applicationDataHash: order.applicationData.map { Array(SHA256.hash(data: $0)) })
        let signature = try signature(
            over: envelope.signedContent, algorithm: envelope.algorithm, signingTime: order.signingTime)
        let paymentData = envelope.paymentData(signature: signature)
        return MintedToken(
            json: envelope.token(paymentData: paymentData), paymentData: paymentData, plaintext: plaintext,
            transactionIdentifier: Hex.encode(envelope.transactionIdentifier), publicKeyHash: envelope.publicKeyHash)
    }

    /// The CMS signature alone, for tests that change a token and sign what they made of it.
    package func signature(
        over content: [UInt8], algorithm: KeyAlgorithm, signingTime: Timestamp
    ) throws -> [UInt8] {
        let signer = self[algorithm == .ecV1 ? .ecTokenSigner : .rsaTokenSigner]
        return try DetachedSignature(signer: signer, issuer: self[.tokenIssuer].certificate, algorithm: algorithm)
            .encoded(over: content, signingTime: signingTime)
    }
}
