import Crypto
import CryptoExtras
import FoundationEssentials
import PaymentToken
import Vocabulary

/// A generated CA hierarchy like Apple's: a P-384 root, a P-256 intermediate, and an EC and an RSA
/// signing certificate.
struct TestAuthority: Sendable {
    static let shared = TestAuthority()

    static let leafMarker = "1.2.840.113635.100.6.29"
    static let intermediateMarker = "1.2.840.113635.100.6.2.14"

    let rootKey = P384.Signing.PrivateKey()
    private(set) var intermediateKey = P256.Signing.PrivateKey()
    private(set) var intermediateName = "Test Integration CA"
    let ecKey = P256.Signing.PrivateKey()
    /// Shared by all hierarchies, because generating an RSA key is slow.
    private static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    var rsaKey: _RSA.Signing.PrivateKey { get throws { try Self.rsaKey.get() } }

    /// The fields of a certificate. A test can change any of them before the certificate is signed.
    struct Certificate {
        var subject: String
        var issuer: String
        var serial: [UInt8] = [0x11]
        var notBefore = "200101000000Z"
        var notAfter = "300101000000Z"
        var markers: [String] = []
        var isCertificateAuthority = false
        /// The contents octets of the key usage's BIT STRING.
        var keyUsage: [UInt8] = [0x07, 0x80]
        var publicKey: [UInt8]
    }

    var root: Certificate {
        Certificate(
            subject: "Test Root CA", issuer: "Test Root CA", serial: [0x01], notAfter: "390101000000Z",
            isCertificateAuthority: true, keyUsage: [0x01, 0x06], publicKey: Array(rootKey.publicKey.derRepresentation))
    }

    var intermediate: Certificate {
        Certificate(
            subject: intermediateName, issuer: "Test Root CA", serial: [0x02], markers: [Self.intermediateMarker],
            isCertificateAuthority: true, keyUsage: [0x01, 0x06],
            publicKey: Array(intermediateKey.publicKey.derRepresentation))
    }

    func leaf(_ version: ApplePayToken.Version) throws -> Certificate {
        try Certificate(
            subject: "\(version == .ecV1 ? "ecc" : "rsa")-smp-broker-sign_UC4-PROD", issuer: intermediateName,
            serial: [version == .ecV1 ? 0x21 : 0x22], markers: [Self.leafMarker],
            publicKey: version == .ecV1
                ? Array(ecKey.publicKey.derRepresentation) : Array(rsaKey.publicKey.derRepresentation))
    }

    /// Returns a hierarchy with the same root and a new intermediate. Apple must replace its intermediate by 2029.
    func withOtherIntermediate() -> TestAuthority {
        var successor = self
        successor.intermediateKey = P256.Signing.PrivateKey()
        successor.intermediateName = "Test Integration CA - G4"
        return successor
    }

    var trustRoot: TrustRoot {
        get throws { try TrustRoot(derRepresentation: signedByRoot(root)) }
    }

    func signedByRoot(_ certificate: Certificate) throws -> [UInt8] {
        try Self.sign(certificate, algorithm: DER.sequence(DER.oid("1.2.840.10045.4.3.3"))) {
            Array(try rootKey.signature(for: $0).derRepresentation)
        }
    }

    func signedByIntermediate(_ certificate: Certificate) throws -> [UInt8] {
        try Self.sign(certificate, algorithm: DER.sequence(DER.oid("1.2.840.10045.4.3.2"))) {
            Array(try intermediateKey.signature(for: $0).derRepresentation)
        }
    }

    /// `IssuerAndSerialNumber`, RFC 5652 section 10.2.4.
    static func issuerAndSerial(_ certificate: Certificate) -> [UInt8] {
        DER.sequence(name(certificate.issuer), DER.integer(certificate.serial))
    }

    private static func sign(
        _ certificate: Certificate, algorithm: [UInt8], by signature: ([UInt8]) throws -> [UInt8]
    ) rethrows -> [UInt8] {
        let body = tbs(certificate, algorithm)
        return DER.sequence(body, algorithm, DER.bits(try signature(body)))
    }

    private static func name(_ commonName: String) -> [UInt8] {
        DER.sequence(DER.set(DER.sequence(DER.oid("2.5.4.3"), DER.utf8(commonName))))
    }

    private static func tbs(_ certificate: Certificate, _ algorithm: [UInt8]) -> [UInt8] {
        var extensions = [
            DER.sequence(
                DER.oid("2.5.29.19"), DER.true,
                DER.octets(certificate.isCertificateAuthority ? DER.sequence(DER.true) : DER.sequence())),
            DER.sequence(DER.oid("2.5.29.15"), DER.true, DER.octets(DER.element(0x03, certificate.keyUsage))),
        ]
        extensions += certificate.markers.map { DER.sequence(DER.oid($0), DER.octets(DER.null)) }
        return DER.sequence(
            DER.element(0xA0, DER.integer([2])), DER.integer(certificate.serial), algorithm, name(certificate.issuer),
            DER.sequence(
                DER.element(0x17, Array(certificate.notBefore.utf8)),
                DER.element(0x17, Array(certificate.notAfter.utf8))),
            name(certificate.subject), certificate.publicKey,
            DER.element(0xA3, DER.element(0x30, Array(extensions.joined()))))
    }
}
