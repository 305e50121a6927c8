import Foundation
import KeyCustody
import MerchantCore
import MerchantTestSupport
import Secrets
import Testing
import Vocabulary

@Suite struct ImportTests {
    static let ecKey = "ecparam -name prime256v1 -genkey -noout -out key.pem"
    static let rsaKey = "genrsa -out key.pem 2048"
    static let certificate = "req -new -x509 -key key.pem -subj /CN=x -out cert.pem"

    /// Format, the commands that create `out` from a new key, and the passphrase.
    static let formats: [(name: String, commands: [String], passphrase: String)] = [
        ("EC PKCS#8", [ecKey, "pkcs8 -topk8 -nocrypt -in key.pem -out out"], ""),
        ("EC SEC1", [ecKey, "ec -in key.pem -out out"], ""),
        ("EC SEC1 without its public half", [ecKey, "ec -in key.pem -no_public -out out"], ""),
        ("EC SEC1, compressed point", [ecKey, "ec -in key.pem -conv_form compressed -out out"], ""),
        ("EC SEC1 behind EC PARAMETERS", ["ecparam -name prime256v1 -genkey -out out"], ""),
        ("EC PKCS#8, PBES2", [ecKey, "pkcs8 -topk8 -in key.pem -out out -passout pass:correct"], "correct"),
        (
            "EC PKCS#8, scrypt",
            [ecKey, "pkcs8 -topk8 -in key.pem -scrypt -out out -passout pass:correct"], "correct"
        ),
        (
            "EC PKCS#8, PBES1 with triple DES",
            [ecKey, "pkcs8 -topk8 -v1 PBE-SHA1-3DES -in key.pem -out out -passout pass:correct"], "correct"
        ),
        ("EC SEC1, AES", [ecKey, "ec -in key.pem -aes256 -out out -passout pass:correct"], "correct"),
        ("RSA PKCS#8", [rsaKey, "pkcs8 -topk8 -nocrypt -in key.pem -out out"], ""),
        ("RSA PKCS#1", [rsaKey, "rsa -in key.pem -traditional -out out"], ""),
        (
            "RSA PKCS#1, triple DES", [rsaKey, "rsa -in key.pem -traditional -des3 -out out -passout pass:correct"],
            "correct"
        ),
        (
            "PKCS#12",
            [ecKey, certificate, "pkcs12 -export -inkey key.pem -in cert.pem -out out -passout pass:correct"], "correct"
        ),
        (
            "PKCS#12, RSA",
            [rsaKey, certificate, "pkcs12 -export -inkey key.pem -in cert.pem -out out -passout pass:correct"],
            "correct"
        ),
        (
            "PKCS#12, empty passphrase",
            [ecKey, certificate, "pkcs12 -export -inkey key.pem -in cert.pem -out out -passout pass:"], ""
        ),
        (
            "PKCS#12, old: RC2-40 and triple DES",
            [ecKey, certificate, "pkcs12 -export -legacy -inkey key.pem -in cert.pem -out out -passout pass:correct"],
            "correct"
        ),
        (
            "PKCS#12, old: the key in RC2-40 too",
            [
                ecKey, certificate,
                "pkcs12 -export -legacy -keypbe PBE-SHA1-RC2-40 -inkey key.pem -in cert.pem -out out -passout pass:correct",
            ], "correct"
        ),
    ]

    private func make(_ commands: [String], in scratch: Scratch) throws -> [UInt8] {
        for command in commands { try Tool.openssl(command, in: scratch) }
        return try scratch.read("out")
    }

    @Test(arguments: formats.indices)
    func `every supported format is read, PEM also with text around it`(index: Int) throws {
        let format = Self.formats[index]
        let scratch = try Scratch()
        var file = try make(format.commands, in: scratch)
        if file.starts(with: Array("-----BEGIN".utf8)) {
            file = Array("Bag Attributes\n    friendlyName: k\u{e9}y\r\n\n".utf8) + file + Array("\nsome text\n".utf8)
        }
        let new = try CustodyFixture().import(file, passphrase: format.passphrase)
        let key = FileManager.default.fileExists(atPath: "\(scratch.path)/key.pem") ? "key.pem" : "out"
        let info = try Tool.openssl("pkey -in \(key) -pubout -outform DER", in: scratch)
        #expect(new.subjectPublicKeyInfo == info, "\(format.name)")
        _ = try scratch.file("csr.der", new.certificateSigningRequest)
        try Tool.openssl("req -verify -inform DER -in csr.der -noout", in: scratch)
    }

    @Test(
        arguments: [
            ("PKCS#12", "pkcs12 -export -inkey key.pem -in cert.pem -out out -passout pass:"),
            (
                "PKCS#12 with another certificate",
                "pkcs12 -export -inkey key.pem -in cert.pem -certfile other.pem -out out -passout pass:"
            ), ("PEM, the other certificate first", ""),
        ])
    func `the certificate of the private key is read from the same file`(name: String, command: String) throws {
        let scratch = try Scratch()
        for command in [
            "ecparam -name prime256v1 -genkey -noout -out other.key",
            "req -new -x509 -key other.key -subj /CN=other -out other.pem", Self.ecKey, Self.certificate,
        ] { try Tool.openssl(command, in: scratch) }
        let file =
            command.isEmpty
            ? try ["other.pem", "key.pem", "cert.pem"].flatMap { try scratch.read($0) }
            : try make([command], in: scratch)
        let imported = try CustodyFixture().importWithCertificate(file)
        let expected = try Tool.openssl("x509 -in cert.pem -outform DER", in: scratch)
        #expect(imported.certificate == expected, "\(name)")
    }

    @Test func `a file with only a private key is imported without a certificate`() throws {
        let scratch = try Scratch()
        let file = try make([Self.ecKey, "pkcs8 -topk8 -nocrypt -in key.pem -out out"], in: scratch)
        #expect(try CustodyFixture().importWithCertificate(file).certificate == nil)
    }

    @Test(arguments: formats.indices.filter { !formats[$0].passphrase.isEmpty })
    func `a wrong and a missing passphrase are reported as such`(index: Int) throws {
        let format = Self.formats[index]
        let scratch = try Scratch()
        let file = try make(format.commands, in: scratch)
        let wrong = try #require(refusal { try CustodyFixture().import(file, passphrase: "incorrect") })
        #expect(wrong.code == .wrongPassphrase, "\(format.name)")
        let missing = try #require(refusal { try CustodyFixture().import(file) })
        #expect(missing.code == .wrongPassphrase && missing.detail.contains("a passphrase is needed"), "\(format.name)")
        #expect(!wrong.detail.contains("incorrect passphrase") && !wrong.detail.contains("correct\""))
    }

    @Test func `in the old PEM form a wrong passphrase is never reported as a damaged file`() throws {
        let scratch = try Scratch()
        let file = try make([Self.ecKey, "ec -in key.pem -aes256 -out out -passout pass:correct"], in: scratch)
        let fixture = try CustodyFixture()
        // About one in 256 wrong passphrases passes the check of the padding.
        for attempt in 0..<1000 {
            #expect(refusal { try fixture.import(file, passphrase: "wrong \(attempt)") }?.code == .wrongPassphrase)
        }
    }

    @Test(
        arguments: [
            ("ecparam -name secp384r1 -genkey -noout -out out", "P-384"),
            ("ecparam -name secp521r1 -genkey -noout -out out", "P-521"),
            ("ecparam -name secp256k1 -genkey -noout -out out", "secp256k1"),
            ("genrsa -out out 1024", "RSA-1024"), ("genrsa -out out 3072", "RSA-3072"),
            ("genpkey -algorithm ED25519 -out out", "ED25519"),
            ("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out out", "RSA-PSS"),
        ])
    func `a key of another type or size is refused, and the error names it`(command: String, kind: String) throws {
        let scratch = try Scratch()
        let error = try #require(refusal { try CustodyFixture().import(try make([command], in: scratch)) })
        #expect(error.code == .keyUnsupported)
        #expect(error.detail.contains(kind) && error.detail.contains("expected P-256 or RSA-2048"))
    }

    @Test func `a P-256 key is refused for the purpose identity`() throws {
        let scratch = try Scratch()
        let file = try make([Self.ecKey, "ec -in key.pem -out out"], in: scratch)
        #expect(refusal { try CustodyFixture().import(file, purpose: .identity) }?.code == .keyUnsupported)
    }

    @Test func `a file that is not a private key is refused as malformed, without its contents in the error`() throws {
        let scratch = try Scratch()
        let key = try make([Self.ecKey, "pkcs8 -topk8 -nocrypt -in key.pem -out out"], in: scratch)
        let der = try Tool.openssl("pkcs8 -topk8 -nocrypt -in key.pem -outform DER", in: scratch)
        let text = String(decoding: key, as: UTF8.self)
        let body = text.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
        let block = { (label: String, body: String) in
            Array("-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n".utf8)
        }
        let files: [[UInt8]] = [
            [], [0x30], [0xff, 0xfe], Array("secret".utf8), der, Array(key.dropLast(20)),
            block("PRIVATE KEY", "AAAA"), block("PRIVATE KEY", "%%%%"), block("RSA PRIVATE KEY", "MAA="),
            block("PRIVATE KEY", Data(der + [0]).base64EncodedString()), key + key,
            try Tool.openssl("pkey -in key.pem -pubout", in: scratch),
            block("ENCRYPTED PRIVATE KEY", body),
        ]
        for file in files {
            let error = try #require(refusal { try CustodyFixture().import(file, passphrase: "x") })
            #expect(error.code == .privateKeyMalformed, "\(error)")
            #expect(!error.detail.contains("MIG") && !error.detail.contains("secret"))
        }
        #expect(refusal { try CustodyFixture().import(Array(repeating: 0x30, count: 65_537)) }?.code == .tooLarge)
        #expect(refusal { try CustodyFixture().import(block("OPENSSH PRIVATE KEY", "AAAA")) }?.code == .keyUnsupported)
    }

    @Test func `a private and a public half that do not match are refused`() throws {
        let scratch = try Scratch()
        try Tool.openssl(Self.ecKey, in: scratch)
        var der = try Tool.openssl("ec -in key.pem -outform DER", in: scratch)
        der[10] ^= 1  // within the private number
        let file = Array(
            "-----BEGIN EC PRIVATE KEY-----\n\(Data(der).base64EncodedString())\n-----END EC PRIVATE KEY-----\n".utf8)
        let error = try #require(refusal { try CustodyFixture().import(file) })
        #expect(error.code == .privateKeyMalformed && error.detail.contains("inconsistent"))
    }

    @Test func `a file that requires excessive key derivation is refused without deriving`() throws {
        let scratch = try Scratch()
        let slow = try make(
            [Self.ecKey, "pkcs8 -topk8 -in key.pem -iter 5000001 -out out -passout pass:correct"], in: scratch)
        let pem = try #require(refusal { try CustodyFixture().import(slow, passphrase: "incorrect") })
        #expect(pem.code == .privateKeyMalformed && pem.detail.contains("rounds"))
        let container = try make(
            [
                Self.certificate,
                "pkcs12 -export -iter 5000001 -nomaciter -inkey key.pem -in cert.pem -out out -passout pass:correct",
            ], in: scratch)
        let error = try #require(refusal { try CustodyFixture().import(container, passphrase: "correct") })
        #expect(error.code == .privateKeyMalformed && error.detail.contains("rounds"))
    }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `rounds of key derivation are bounded over all parts of a file`() throws {
        let scratch = try Scratch()
        let container = try make(
            [
                Self.ecKey, Self.certificate,
                "pkcs12 -export -iter 4000000 -nomaciter -inkey key.pem -in cert.pem -out out -passout pass:correct",
            ], in: scratch)
        // Key and certificates require 8,000,000 rounds, which is allowed.
        let clock = ContinuousClock()
        let derived = try clock.measure { _ = try CustodyFixture().import(container, passphrase: "correct") }
        #expect(refusal { try CustodyFixture().import(container, passphrase: "incorrect") }?.code == .wrongPassphrase)
        let over = try make(
            [
                "pkcs12 -export -iter 4500000 -inkey key.pem -in cert.pem -out out -passout pass:correct"
            ], in: scratch)
        let refused = clock.measure {
            let error = refusal { try CustodyFixture().import(over, passphrase: "correct") }
            #expect(error?.code == .privateKeyMalformed)
            #expect(error?.detail.contains("more than 10000000 rounds of key derivation in total") == true)
        }
        // The rounds are counted before any key is derived.
        #expect(refused < derived / 2)
    }

    @Test func `rounds inside encrypted parts are counted too`() throws {
        // A PKCS#12 file, passphrase "pw", of an encrypted safe (2,048 rounds) with a key bag that requires 5,000,001.
        let file = try #require(
            Data(
                base64Encoded: """
                    MIIBpgIBAzCCAVwGCSqGSIb3DQEHAaCCAU0EggFJMIIBRTCCAUEGCSqGSIb3DQEHBqCCATIwggEuAgEAMIIBJwYJKoZIhvcN
                    AQcBMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhpi6Y85QPm+wICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQME
                    ASoEENhlwK78A2jMA0XoqkK3Um2AgcCcV6G+Tid10ewoAn2F6rbSy5hVcl7ALXG8IR+qugb7TkTKuTvadXOTip0Kq+LgEKMY
                    UQt9AxBCL/IOJOWbl2yuIWn7zpGYmHMSAXLKD6mvjaBR1FA9iC0AEJEfvSENJpt8dh1+sM0JM7TcMpNRKml6Xk0K7wvQ3+EK
                    esm/iC8XQWsowLn3A7++tHQJmEw09wwQGk1IfVig2m1JGi7jz8Ho/ca73atwSXn33ruXNnhJrwFHSpux8WuPFVSL4hOiIDgw
                    QTAxMA0GCWCGSAFlAwQCAQUABCALC3XMdwl3F7sMQmaQRKQTFqlW5ntDhbaxOiQ9TvpY7gQIDaVWyuHG9gECAggA
                    """, options: .ignoreUnknownCharacters))
        let error = try #require(refusal { try CustodyFixture().import(Array(file), passphrase: "pw") })
        #expect(error.code == .privateKeyMalformed && error.detail.contains("rounds"), "\(error.detail)")
    }

    @Test func `the product of scrypt's parameters is bounded`() throws {
        let scratch = try Scratch()
        let file = try make(
            [
                Self.ecKey,
                "pkcs8 -topk8 -in key.pem -scrypt -scrypt_N 4096 -scrypt_r 1 -scrypt_p 2600 -out out -passout pass:correct",
            ], in: scratch)
        let error = try #require(refusal { try CustodyFixture().import(file, passphrase: "incorrect") })
        #expect(error.code == .privateKeyMalformed && error.detail.contains("in total"), "\(error.detail)")
    }

    @Test func `a passphrase that contains a zero byte or is too long is refused, not truncated`() throws {
        let scratch = try Scratch()
        let file = try make([Self.ecKey, "ec -in key.pem -aes256 -out out -passout pass:correct"], in: scratch)
        #expect(refusal { try CustodyFixture().import(file, passphrase: "correct\0x") }?.code == .malformed)
        let long = String(repeating: "x", count: 1024)
        #expect(refusal { try CustodyFixture().import(file, passphrase: long) }?.code == .malformed)
    }

    @Test func `a key is unchanged by import, export and import`() throws {
        let scratch = try Scratch()
        for command in ["ecparam -name prime256v1 -genkey -noout -out out", "genrsa -out out 2048"] {
            let fixture = try CustodyFixture()
            let first = try fixture.import(try make([command], in: scratch))
            let second = try CustodyFixture().import(try fixture.export(first.publicKeyHash))
            #expect(first.publicKeyHash == second.publicKeyHash)
        }
    }
}
