import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// A sandbox and a merchant whose key pairs openssl generates.
final class SandboxFixture {
    enum Key: String, CaseIterable {
        case ec, rsa

        var algorithm: KeyAlgorithm { self == .ec ? .ecV1 : .rsaV1 }

        fileprivate var options: [String] {
            switch self {
            case .ec: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            case .rsa: ["-newkey", "rsa:2048"]
            }
        }
    }

    /// Shared by all tests, because generating RSA keys is slow.
    static let authority = Result { try SandboxAuthority(createdAt: now) }
    static let now = Timestamp(Date())

    let authority: SandboxAuthority
    let merchant: MerchantIdentifier
    let scratch: Scratch

    init() throws {
        authority = try Self.authority.get()
        merchant = try #require(MerchantIdentifier("merchant.com.example.sandbox"))
        scratch = try Scratch()
        try scratch.write(authority.rootCertificate, "root.pem")
        try scratch.write(
            [authority.processingIssuerCertificate, authority.identityIssuerCertificate].joined(), "issuers.pem")
        try scratch.write(authority.tokenIssuerCertificate, "token-issuer.pem")
    }

    /// Generates a key pair and returns its CSR. The private key is in the file `ec.key.pem` or `rsa.key.pem`.
    func csr(_ key: Key, _ arguments: String...) throws -> [UInt8] {
        let outcome = try Programs.run(
            ["openssl", "req", "-new", "-nodes", "-subj", "/CN=anything", "-keyout", scratch.path("\(key).key.pem")]
                + key.options + arguments)
        try #require(outcome.status == 0, "\(outcome.error)")
        return Array(outcome.output.utf8)
    }

    /// Generates a key pair and returns its certificate in DER, which is also in the file `ec.cer` or `rsa.cer`.
    func certificate(_ key: Key, purpose: KeyPurpose = .paymentProcessing) throws -> [UInt8] {
        let der = try authority.issue(csr: csr(key), merchant: merchant, purpose: purpose, notBefore: Self.now)
        try scratch.write(der, "\(key).cer")
        return der
    }

    func parameters(_ change: (inout TokenParameters) -> Void = { _ in }) -> TokenParameters {
        var parameters = TokenParameters(signingTime: Self.now)
        change(&parameters)
        return parameters
    }
}

/// A minted token, parsed with Foundation's `JSONSerialization`.
struct ParsedToken {
    let outer: [String: Any]
    let paymentData: [String: Any]
    let header: [String: String]

    init(_ json: String) throws {
        outer = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        paymentData = try #require(outer["paymentData"] as? [String: Any])
        header = try #require(paymentData["header"] as? [String: String])
    }

    var signature: [UInt8] { get throws { try base64(paymentData["signature"]) } }

    /// The bytes that the signature covers, decoded from the fields of the token.
    var signedContent: [UInt8] {
        get throws {
            try base64(header["ephemeralPublicKey"] ?? header["wrappedKey"]) + base64(paymentData["data"])
                + hex(header["transactionId"]) + hex(header["applicationData"] ?? "")
        }
    }

    private func base64(_ value: Any?) throws -> [UInt8] {
        let text = try #require(value as? String)
        return Array(try #require(Data(base64Encoded: text)))
    }

    private func hex(_ text: String?) throws -> [UInt8] {
        let digits = try #require(text)
        return try #require(Hex.decode(digits))
    }
}
