import AdminCommands
import Foundation
import Testing

/// The files that `merchantkeyctl provisioning` reads and writes.
@Suite struct ProvisioningFileTests {
    /// Not a certificate, but it begins as one in DER.
    private static let der = Data([0x30, 0x82, 0x01, 0x02] + [UInt8](repeating: 7, count: 258))
    private static let base64 = der.base64EncodedString()
    private static let pem =
        "-----BEGIN CERTIFICATE-----\n\(base64.prefix(64))\n\(base64.dropFirst(64))\n-----END CERTIFICATE-----\n"

    private static func certificates(_ text: String) throws -> [String] {
        try ProvisioningCertificateFile(Data(text.utf8), named: "file").certificates
    }

    @Test func `certificates are read from DER, PEM, Base64 and JSON, in the order of the file`() throws {
        let fromDER = try ProvisioningCertificateFile(Self.der, named: "file")
        #expect(fromDER.certificates == [Self.base64])
        #expect(try Self.certificates(Self.pem) == [Self.base64])
        #expect(try Self.certificates("subject=/CN=x\n" + Self.pem + Self.pem) == [Self.base64, Self.base64])
        #expect(try Self.certificates(Self.base64) == [Self.base64])
        let broken = "\(Self.base64.prefix(64))\r\n\(Self.base64.dropFirst(64))\r\n"
        #expect(try Self.certificates(broken) == [Self.base64])
        #expect(try Self.certificates("\(Self.base64)\n\n\(Self.base64)\n") == [Self.base64, Self.base64])
        #expect(try Self.certificates(#" {"certificates":["a","b"],"nonce":"00"}"#) == ["a", "b"])
    }

    @Test(arguments: [
        " \n", "-----BEGIN CERTIFICATE-----\nAAAA", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "{}", #"{"certificates":"a"}"#, #"{"certificates":[1]}"#, "{",
    ])
    func `a file without a certificate is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try Self.certificates(text) }
    }

    @Test func `bytes that are neither DER nor text are refused`() {
        #expect(throws: CommandFailure.self) {
            try ProvisioningCertificateFile(Data([0xFF, 0xFE, 0x00]), named: "file")
        }
    }

    @Test func `an invalid request is refused; the error names the field and contains no card number`() throws {
        let request =
            #"{"certificates":["a"],"nonce":"00","nonceSignature":"01","configuration":1,"network":"Visa","card":{"primaryAccountNumber":"4111111111111111"}}"#
        let complete = try ProvisioningRequestFile(Data(request.utf8))
        #expect(complete.certificates == ["a"] && complete.nonce == "00" && complete.activationData == nil)
        for (found, replacement, field) in [
            (#""configuration":1"#, #""configuration":4"#, "configuration"),
            (#""configuration":1"#, #""configuration":"1""#, "configuration"),
            (#""network":"Visa""#, #""network":"visa""#, "network"), (#""nonce":"00""#, #""nonce":1"#, "nonce"),
            (#""card":{"#, #""card":[],"pan":{"#, "card"), (#""card":{"#, #""pan":"4111","card":{"#, "pan"),
        ] {
            let text = request.replacing(found, with: replacement)
            #expect(text != request)
            let failure = #expect(throws: CommandFailure.self) { try ProvisioningRequestFile(Data(text.utf8)) }
            #expect(failure?.message.contains("'\(field)'") == true, "\(failure?.message ?? "")")
            #expect(failure?.message.contains("4111") == false)
        }
    }

    @Test func `a file for the owner only has mode 0600, and is not overwritten`() throws {
        let program = try Program()
        defer { program.remove() }
        let file = OutputFile(program.path("secret"), overwrites: false, readers: .owner)
        try file.write(Data("a".utf8))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(throws: CommandFailure.self) { try file.write(Data("b".utf8)) }
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "a")
    }
}
