import Crypto
import Dispatch
import Synchronization
package import Vocabulary
import X509

/// Mints payment tokens, as Apple's payment servers do.
extension SandboxAuthority {
    /// Mints a payment token that is encrypted to a certificate and signed by the sandbox.
    ///
    /// - Parameter certificate: a payment processing certificate, PEM or DER. Its key determines the version of the
    ///   token.
    /// - Throws: ``SandboxError`` if the parameters are invalid, or if the bytes are not a payment processing
    ///   certificate.
    package func mintToken(_ parameters: TokenParameters, certificate: [UInt8]) throws -> MintedToken {
        try parameters.validate()
        return try mintToken(parameters, to: ProcessingCertificate(certificate))
    }

    /// Mints many tokens on all cores.
    ///
    /// - Returns: the whole tokens as JSON, one on each line.
    /// - Throws: the same errors as ``mintToken(_:certificate:)``.
    package func mintTokens(_ count: Int, _ parameters: TokenParameters, certificate: [UInt8]) throws -> [UInt8] {
        try parameters.validate()
        let batchCount = (count + Self.batchSize - 1) / Self.batchSize
        let results = Mutex<[Int: Result<[UInt8], any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: batchCount) { number in
            let batch = Result {
                let certificate = try ProcessingCertificate(certificate)
                return try (number * Self.batchSize..<min(count, (number + 1) * Self.batchSize)).flatMap { _ in
                    Array("\(try mintToken(parameters, to: certificate).json)\n".utf8)
                }
            }
            results.withLock { $0[number] = batch }
        }
        let batches = results.withLock { $0 }
        return try (0..<batchCount).reduce(into: []) { lines, number in lines += try batches[number]?.get() ?? [] }
    }

    /// The number of tokens that one core mints before it takes the next batch.
    private static let batchSize = 256

    private func mintToken(_ parameters: TokenParameters, to certificate: ProcessingCertificate) throws -> MintedToken {
        let plaintext = TokenPlaintext(parameters, algorithm: certificate.algorithm).json
        let unsigned = UnsignedToken(
            algorithm: certificate.algorithm, publicKeyHash: certificate.publicKeyHash,
            encryption: try TokenEncryption(
                Array(plaintext.utf8), to: certificate, secretBeginsWithZero: parameters.secretBeginsWithZero),
            transactionIdentifier: randomBytes(32),
            applicationDataHash: parameters.applicationData.map { Array(SHA256.hash(data: $0)) })
        let signature = try signature(
            over: unsigned.signedContent, algorithm: unsigned.algorithm, signingTime: parameters.signingTime)
        let paymentData = unsigned.paymentData(signature: signature)
        return MintedToken(
            json: unsigned.token(paymentData: paymentData), paymentData: paymentData, plaintext: plaintext,
            transactionIdentifier: Hex.encode(unsigned.transactionIdentifier), publicKeyHash: unsigned.publicKeyHash)
    }

    /// Returns a token signer's CMS signature over any content. Tests also use this method to sign a changed token
    /// again.
    package func signature(
        over content: [UInt8], algorithm: KeyAlgorithm, signingTime: Timestamp
    ) throws -> [UInt8] {
        let signer = self[algorithm == .ecV1 ? .ecTokenSigner : .rsaTokenSigner]
        return try DetachedSignature(signer: signer, issuer: self[.tokenIssuer].certificate, algorithm: algorithm)
            .encoded(over: content, signingTime: signingTime)
    }
}
