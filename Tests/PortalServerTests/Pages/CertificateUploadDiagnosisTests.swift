import Foundation
import MerchantCore
import MerchantTestSupport
import PortalServer
import Testing
import Vocabulary

/// Files that people upload in place of their certificate.
@Suite struct CertificateUploadDiagnosisTests {
    private typealias Diagnosis = CertificateUploadDiagnosis

    private static let merchant = Sample.merchantIdentifier

    /// Files that OpenSSL creates, by name.
    private struct Files {
        private let scratch: URL

        init() throws {
            scratch = FileManager.default.temporaryDirectory.appending(path: "portal-upload-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            // The extension 1.2.840.113635.100.6.32 as Apple writes it.
            let hash = MerchantIdentifierHash(of: CertificateUploadDiagnosisTests.merchant).hex.uppercased()
            let commands = [
                "ecparam -name prime256v1 -genkey -noout -out sec1.pem",
                "pkcs8 -topk8 -nocrypt -in sec1.pem -out key.pem",
                "pkcs8 -topk8 -nocrypt -in sec1.pem -outform DER -out key.der",
                "pkcs8 -topk8 -passout pass:x -in sec1.pem -outform DER -out encrypted.der",
                "ec -in sec1.pem -outform DER -out sec1.der",
                "req -new -key key.pem -subj /CN=shop -out request.pem",
                "req -new -key key.pem -subj /CN=shop -outform DER -out request.der",
                "req -x509 -key key.pem -subj /CN=shop -addext 1.2.840.113635.100.6.32=ASN1:UTF8:\(hash) -out certificate.pem",
                "x509 -in certificate.pem -outform DER -out certificate.der",
                "crl2pkcs7 -nocrl -certfile certificate.pem -out bundle.p7b.pem",
                "crl2pkcs7 -nocrl -certfile certificate.pem -outform DER -out bundle.p7b",
                "pkcs12 -export -inkey key.pem -in certificate.pem -passout pass:x -out store.p12",
            ]
            for command in commands {
                let arguments = command.split(separator: " ").map { String($0) }
                _ = try ChildProcess.output(of: ["openssl"] + arguments, directory: scratch.path)
            }
        }

        func bytes(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: scratch.appending(path: name)))
        }

        func remove() { try? FileManager.default.removeItem(at: scratch) }
    }

    @Test func `files of OpenSSL are recognized`() throws {
        let files = try Files()
        defer { files.remove() }
        let expected: [(String, Diagnosis)] = [
            ("key.pem", .privateKey), ("sec1.pem", .privateKey), ("key.der", .privateKey), ("sec1.der", .privateKey),
            ("encrypted.der", .privateKey), ("request.pem", .signingRequest), ("request.der", .signingRequest),
            ("bundle.p7b", .pkcs7), ("bundle.p7b.pem", .pkcs7), ("store.p12", .pkcs12),
        ]
        for (name, diagnosis) in expected {
            let file = try files.bytes(name)
            #expect(Diagnosis(of: file) == diagnosis, "\(name)")
        }
        let marks = CertificateMarks(
            merchantIdentifierHash: MerchantIdentifierHash(of: Self.merchant), isIdentity: false)
        let der = try files.bytes("certificate.der")
        #expect(Diagnosis(of: der) == .certificate(marks))
        let pem = try files.bytes("certificate.pem")
        #expect(Diagnosis(of: pem) == .certificate(marks))
        #expect(Diagnosis(of: pem + pem) == .chain)
        // A certificate together with its key.
        let key = try files.bytes("key.pem")
        #expect(Diagnosis(of: pem + key) == .privateKey)
        let profile = try files.bytes("bundle.p7b") + Array("<?xml version=\"1.0\"?><plist version=\"1.0\">".utf8)
        #expect(Diagnosis(of: profile) == .provisioningProfile)
    }

    static let shortFiles: [(String, CertificateUploadDiagnosis)] = [
        ("", .empty), (" \r\n\t", .empty), ("\u{FEFF}\n<!DOCTYPE html><title>x", .webPage),
        ("<html lang=en>", .webPage), ("<!-- x -->\n<HTML>", .webPage), ("%PDF-1.7", .otherFile),
        ("PK\u{03}\u{04}", .otherFile), ("hello", .otherFile), ("-----BEGIN PUBLIC KEY-----\nAAAA\n", .otherFile),
        ("-----BEGIN CERTIFICATE-----", .certificate(.init(merchantIdentifierHash: nil, isIdentity: false))),
        ("-----BEGIN RSA PRIVATE KEY-----", .privateKey), ("0", .otherFile), ("0\u{01}", .otherFile),
    ]

    @Test(arguments: CertificateUploadDiagnosisTests.shortFiles)
    func `the kind of a short file is recognized`(_ text: String, _ diagnosis: CertificateUploadDiagnosis) {
        #expect(Diagnosis(of: Array(text.utf8)) == diagnosis)
    }

    @Test func `a file above the limit is reported as too large`() {
        #expect(Diagnosis(of: [UInt8](repeating: 0x30, count: Diagnosis.longest + 1)) == .tooLarge)
    }

    @Test func `an identity certificate is recognized by its subject`() {
        let der: [UInt8] = [0x30, 0x1F, 0x30, 0x1D] + Array("Apple Pay Merchant Identity:x".utf8)
        #expect(Diagnosis(of: der) == .certificate(.init(merchantIdentifierHash: nil, isIdentity: true)))
    }

    @Test func `truncated and randomly changed files do not cause a crash`() throws {
        let files = try Files()
        defer { files.remove() }
        var generator = SeededGenerator(seed: 15)
        for name in ["certificate.der", "request.der", "bundle.p7b", "store.p12", "certificate.pem"] {
            let file = try files.bytes(name)
            for length in 0..<file.count { _ = Diagnosis(of: [UInt8](file.prefix(length))) }
            for _ in 0..<500 {
                var changed = file
                for _ in 0..<3 {
                    let index = Int.random(in: 0..<file.count, using: &generator)
                    changed[index] = UInt8.random(in: .min ... .max, using: &generator)
                }
                _ = Diagnosis(of: changed)
            }
        }
    }
}

/// The problem that the page shows for an upload that the use case has refused.
@Suite struct UploadProblemTests {
    private let merchant = Sample.merchantIdentifier

    private func certificate(of merchant: MerchantIdentifier?, isIdentity: Bool = false) -> CertificateUploadDiagnosis {
        .certificate(
            CertificateMarks(
                merchantIdentifierHash: merchant.map { MerchantIdentifierHash(of: $0) }, isIdentity: isIdentity))
    }

    private func kind(_ code: MerchantError.Code, _ file: CertificateUploadDiagnosis) -> UploadProblem.Kind {
        UploadProblem(refusal: code, file: file, merchant: merchant, requestId: nil).kind
    }

    @Test func `each error code of an upload has its own kind of problem`() {
        let own = certificate(of: merchant)
        let expected: [(MerchantError.Code, UploadProblem.Kind)] = [
            (.certificateKeyUnknown, .unknownKey), (.certificateForAnotherMerchant, .otherMerchant),
            (.certificateWrongKind, .wrongKind), (.certificateExpired, .expired),
            (.certificateNotYetValid, .notYetValid), (.certificateIssuerUntrusted, .issuerUntrusted),
            (.certificateMalformed, .malformed), (.certificateChain, .chain), (.privateKeyUploaded, .privateKey),
            (.tooLarge, .tooLarge), (.keyRevoked, .revokedKey), (.storeUnavailable, .busy), (.internalError, .failed),
        ]
        for (code, kind) in expected { #expect(self.kind(code, own) == kind, "\(code)") }
    }

    @Test func `the content of a certificate determines the problem if it says more than the error code`() {
        let other = certificate(of: Sample.identifier("merchant.com.example.other"))
        #expect(kind(.certificateKeyUnknown, other) == .otherMerchant)
        #expect(kind(.certificateKeyUnknown, certificate(of: nil)) == .unknownKey)
        #expect(kind(.certificateForAnotherMerchant, certificate(of: nil)) == .issuerUntrusted)
        let identity = certificate(of: merchant, isIdentity: true)
        #expect(kind(.certificateKeyUnknown, identity) == .identityCertificate)
        #expect(kind(.certificateWrongKind, identity) == .identityCertificate)
    }

    @Test func `a file that is not a certificate is named by its kind, whatever the error code is`() {
        #expect(kind(.certificateMalformed, .webPage) == .webPage)
        #expect(kind(.privateKeyUploaded, .pkcs12) == .pkcs12)
        #expect(UploadProblem(file: certificate(of: nil), requestId: nil) == nil)
    }
}
