import Foundation
import KeyCustody
import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

/// PKCS#12 files with several private keys.
@Suite struct SeveralKeysTests {
    /// A PKCS#12 file of OpenSSL, passphrase "pw": two P-256 private keys, and the certificate of the second.
    private static let oneCertificate = """
        MIIEVgIBAzCCBAwGCSqGSIb3DQEHAaCCA/0EggP5MIID9TCCAdIGCSqGSIb3DQEHBqCCAcMwggG/AgEAMIIBuAYJKoZIhvcN
        AQcBMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjjlezHmKoesgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQME
        ASoEEGKjNAPrmuDy3XPq2dUGU3WAggFQqeJrIr1QMR4D7InGcTXkisgknOrMDZ6V09SK11WiFaM2YMXwyxLlwCrgwhX5jR7t
        tx+vAAO9gRLS7nnTh5t2Xx1LQOQCDWGejkSDu+S5BEE3mxKmtuoZ8wtTx/lZRBK6qumYiKbGa3DoEIZCPriPMB54ZhuH3Np1
        gsg2FfPMTt2r/4+Hhfpi/dT/FU9ucch9Aeym+9HBUt4nMD30E9+tTcFCVsQDldXc3te2CyTzIxeGyFQJ/jP0KWWLzyNIlpj7
        wfsHFft1tojqoeWha0XKaYVWHpfXZKi9qlysEQnitHYqjAK5cTe+rgufEMgzV/YpvCWRpCiJ6iqUN6pJTpzjaf2XOaJASE3s
        1raQl9ythRrKtqLX4tVJdI8S0KTonrs5f/cVgDF4lq60n58TrfK1DPN+STgysVt9Cmrkr1UKy2jAZtA/bd6sj17j8XoY/EUJ
        MIICGwYJKoZIhvcNAQcBoIICDASCAggwggIEMIH/BgsqhkiG9w0BDAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG
        9w0BBQwwHAQIid//QqcNhUoCAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBAYP7W4CHUCBMBXIPqdeqC4BIGQ4D9d
        BEQJzdPYwFOUE9LifUBuj+vJHdnjFufkLlSssuPbzqHl4jkV4e27GxOBY+wQgXwMQFTLuAQrnFlrO3l8Lp4Wp/qo1s5efUM1
        kR7jGL+4Ry99ueu2ecue2lTcH3DXOiZr/2/qUMsL4+EmU1aDq3IOvaq3ROWBrDw/40OxSwRKt50wQ+uj1uYBwRLC00U9MIH/
        BgsqhkiG9w0BDAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIpIz8Y4+PlXUCAggAMAwGCCqGSIb3
        DQIJBQAwHQYJYIZIAWUDBAEqBBA6RQyNDewku+yqON/HK4ZTBIGQmfwtoDscRPW8lAFGKbb95UjPkt49W9VPRO6M/QbcgAVO
        2yDTTWbL/uN5lj1mQqg7X0DSom5O3fr5cPgLkRdYC5ioN7UM78uxt1VQ3S3kGEzYLFElDmWR8/b8UpTtZji1+qacJel8V6Yy
        4Tg8G00yPOG5bbUl3gH4nA12LQqsatnmmOsap/fSWMvmg4jOJkEFMEEwMTANBglghkgBZQMEAgEFAAQgo7pgCdgAYl4EhHF9
        i5g27vDP6BRJUnqlRgCgCStgH9cECHsx3hKZ/IZXAgIIAA==
        """

    private static func oneCertificateFile() throws -> [UInt8] {
        Array(try #require(Data(base64Encoded: oneCertificate, options: .ignoreUnknownCharacters)))
    }

    @Test(.enabled(if: ChildProcess.succeeds("keytool", "-help"), "keytool is not installed"))
    func `each private key of a Java keystore in PKCS#12 is imported with its own certificate`() throws {
        let scratch = try Scratch()
        for alias in ["a", "b", "c"] {
            try Tool.run(
                [
                    "keytool", "-genkeypair", "-alias", alias, "-keyalg", "EC", "-groupname", "secp256r1", "-dname",
                    "CN=\(alias)", "-storetype", "PKCS12", "-keystore", "out", "-storepass", "secret",
                ], in: scratch)
        }
        let file = try scratch.read("out")
        let fixture = try CustodyFixture()
        var hashes: Set<PublicKeyHash> = []
        for number in 1...3 {
            let imported = try fixture.importWithCertificate(file, number: number, passphrase: "secret")
            let certificate = try fixture.custody.readCertificate(try #require(imported.certificate))
            #expect(certificate.publicKeyHash == imported.keyPair.publicKeyHash)
            hashes.insert(imported.keyPair.publicKeyHash)
        }
        #expect(hashes.count == 3)
        for number in [nil, 4] {
            let error = refusal { try fixture.importWithCertificate(file, number: number, passphrase: "secret") }
            #expect(error?.code == .privateKeyNotChosen && error?.detail.contains("3 private keys") == true)
        }
    }

    @Test func `a private key whose certificate is not in the file has none, and not that of another key`() throws {
        let file = try Self.oneCertificateFile()
        let fixture = try CustodyFixture()
        let first = try fixture.importWithCertificate(file, number: 1, passphrase: "pw")
        #expect(first.certificate == nil)
        let second = try fixture.importWithCertificate(file, number: 2, passphrase: "pw")
        let certificate = try fixture.custody.readCertificate(try #require(second.certificate))
        #expect(certificate.publicKeyHash == second.keyPair.publicKeyHash)
        #expect(first.keyPair.publicKeyHash != second.keyPair.publicKeyHash)
        let wrong = refusal { try fixture.importWithCertificate(file, number: 2, passphrase: "incorrect") }
        #expect(wrong?.code == .wrongPassphrase)
    }

    @Test(arguments: [
        ["pkcs12 -export -inkey key.pem -in cert.pem -out out -passout pass:"],
        ["pkcs8 -topk8 -nocrypt -in key.pem -out out"],
    ])
    func `the only private key of a file needs no number, and only the number 1 names it`(commands: [String]) throws {
        let scratch = try Scratch()
        for command in [ImportTests.ecKey, ImportTests.certificate] + commands {
            try Tool.openssl(command, in: scratch)
        }
        let file = try scratch.read("out")
        let fixture = try CustodyFixture()
        let hash = try CustodyFixture().importWithCertificate(file).keyPair.publicKeyHash
        #expect(try fixture.importWithCertificate(file, number: 1).keyPair.publicKeyHash == hash)
        let error = refusal { try fixture.importWithCertificate(file, number: 2) }
        #expect(error?.code == .privateKeyNotChosen && error?.detail.contains("1 private key:") == true)
    }
}
