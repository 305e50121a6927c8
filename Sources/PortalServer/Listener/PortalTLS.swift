import NIOCore
import NIOSSL
package import Vocabulary

/// The portal's certificate and private key, ready for TLS handshakes.
///
/// - TLS 1.2 and TLS 1.3 only. TLS 1.3 has only cipher suites with authenticated encryption and forward secrecy. For
///   TLS 1.2 there is one such suite for each kind of key, ECDHE with AES-128-GCM, which RFC 9113 and RFC 9325 require
///   clients to have. With one suite, the client's order of preference does not matter.
/// - No signatures with SHA-1, no renegotiation and no compression. BoringSSL supports neither of the last two.
/// - Session tickets are on, because the library offers no way to turn them off. Their keys exist only in the memory of
///   one ``context``, and ``PortalCertificates`` replaces the context after at most 12 hours, unless the files cannot
///   be used. Resumption with TLS 1.3 performs a new key exchange. With TLS 1.2, a ticket is valid for two hours.
package struct PortalTLS: Sendable {
    /// The paths of the PEM files.
    package struct Files: Hashable, Sendable {
        /// The server's certificate, followed by its intermediate CAs.
        package var certificate: String
        package var privateKey: String
        /// The CAs that issue client certificates; nil if clients are not asked for a certificate.
        package var clientCA: String?

        package init(certificate: String, privateKey: String, clientCA: String? = nil) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.clientCA = clientCA
        }
    }

    let context: NIOSSLContext
    /// The end of the certificate's validity.
    package let notAfter: Timestamp
    /// Whether clients are asked for a certificate.
    let readsClientCertificates: Bool

    /// Reads the files, and checks that the certificate is valid at `now` and that the private key belongs to it.
    ///
    /// - Throws: an error that names the setting and the file.
    package init(reading files: Files, at now: Timestamp) throws(PortalTLSError) {
        let chain = try Self.certificates(in: files.certificate, setting: "portal.tls.certificate")
        let key = try Self.privateKey(in: files.privateKey)
        let notBefore = Timestamp(millisecondsSince1970: Int64(chain[0].notValidBefore) * 1000)
        let notAfter = Timestamp(millisecondsSince1970: Int64(chain[0].notValidAfter) * 1000)
        guard now >= notBefore else {
            throw PortalTLSError(
                "'portal.tls.certificate': the certificate in \(files.certificate) is not valid before \(notBefore); check the machine's clock"
            )
        }
        guard now <= notAfter else {
            throw PortalTLSError(
                "'portal.tls.certificate': the certificate in \(files.certificate) expired at \(notAfter); replace it")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { NIOSSLCertificateSource.certificate($0) },
            privateKey: NIOSSLPrivateKeySource.privateKey(key))
        Self.harden(&configuration)
        if let path = files.clientCA {
            let roots = try Self.certificates(in: path, setting: "portal.tls.client-ca")
            // A client may connect without a certificate. With a certificate that does not chain to a CA, the
            // handshake fails.
            configuration.certificateVerification = .optionalVerification
            configuration.trustRoots = .certificates(roots)
            configuration.sendCANameList = true
        }
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw PortalTLSError(
                "'portal.tls.private-key': the private key in \(files.privateKey) does not belong to the first certificate in \(files.certificate), or the kind of key is not supported; set the files of one pair, with an RSA or P-256 key, and put the server's own certificate first"
            )
        }
        self.notAfter = notAfter
        readsClientCertificates = files.clientCA != nil
    }

    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ]

    private static let signatureAlgorithms: [SignatureAlgorithm] = [
        .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512,
        .rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512,
        .rsaPkcs1Sha256, .rsaPkcs1Sha384, .rsaPkcs1Sha512, .ed25519,
    ]

    private static func harden(_ configuration: inout TLSConfiguration) {
        configuration.minimumTLSVersion = .tlsv12
        configuration.maximumTLSVersion = .tlsv13
        configuration.cipherSuiteValues = cipherSuites
        configuration.signingSignatureAlgorithms = signatureAlgorithms
        configuration.verifySignatureAlgorithms = signatureAlgorithms
        configuration.renegotiationSupport = .none
        configuration.applicationProtocols = ["h2", "http/1.1"]
        configuration.shutdownTimeout = PortalLimits.closeTime
    }

    /// - Returns: at least one certificate.
    private static func certificates(
        in path: String, setting: String
    ) throws(PortalTLSError) -> [NIOSSLCertificate] {
        let bytes = try PortalFile.read(path, setting: setting)
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw PortalTLSError("'\(setting)': \(path) contains no certificate in PEM; check the file")
        }
        return certificates
    }

    private static func privateKey(in path: String) throws(PortalTLSError) -> NIOSSLPrivateKey {
        let setting = "portal.tls.private-key"
        // The group may read the file: Debian gives such files mode 0640 and the group ssl-cert.
        let bytes = try PortalFile.read(path, setting: setting, withoutPermissions: 0o037)
        guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
            throw PortalTLSError(
                "'\(setting)': \(path) contains no private key in PEM, or the key is encrypted; decrypt it with 'openssl pkey'"
            )
        }
        return key
    }
}

/// Why the files of `portal.tls` cannot be used.
package struct PortalTLSError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
