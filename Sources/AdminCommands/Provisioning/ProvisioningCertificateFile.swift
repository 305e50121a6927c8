package import FoundationEssentials
import StrictJSON
import Vocabulary
import WireAPI

/// A file with certificates for card data encryption: DER, PEM, Base64, or JSON with the field `certificates`.
package struct ProvisioningCertificateFile: Sendable {
    /// The largest file, in bytes. Two certificates are smaller than this in each of the forms.
    static let sizeLimit = 65_536

    /// The certificates in Base64, in the order of the file. They are not decoded here, so that the checks can find a
    /// wrong encoding, such as Base64 that was encoded twice.
    package let certificates: [String]

    /// - Throws: ``CommandFailure`` if the file is neither DER nor UTF-8 text, if its PEM or JSON cannot be read, or if
    ///   it contains no certificate.
    package init(_ bytes: Data, named name: String) throws(CommandFailure) {
        // A certificate in DER begins with the bytes 0x30 (SEQUENCE) and 0x82 (a length of two bytes follows). A UTF-8
        // text cannot begin with these two bytes.
        guard !bytes.starts(with: [0x30, 0x82]) else {
            certificates = [bytes.base64EncodedString()]
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(
                .failed, "\(name) is neither DER nor text; expected certificates in DER, PEM, Base64 or JSON")
        }
        if text.contains("-----BEGIN ") {
            certificates = try Self.pem(text, name)
        } else if text.first(where: { !$0.isWhitespace }) == "{" {
            certificates = try Self.json(bytes, name)
        } else {
            // Many programs break Base64 into lines, so the line breaks of one certificate are removed. A blank line
            // separates two certificates.
            certificates = text.replacing("\r\n", with: "\n").split(separator: "\n\n")
                .map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        }
        guard !certificates.isEmpty else { throw CommandFailure(.failed, "\(name) contains no certificate") }
    }

    static func read(_ path: String) throws(CommandFailure) -> ProvisioningCertificateFile {
        try ProvisioningCertificateFile(InputFile(path).read(sizeLimit: sizeLimit), named: path)
    }

    private static func pem(_ text: String, _ name: String) throws(CommandFailure) -> [String] {
        var found: [String] = []
        var rest = text[...]
        while let begin = rest.firstRange(of: "-----BEGIN CERTIFICATE-----") {
            guard let end = rest[begin.upperBound...].firstRange(of: "-----END CERTIFICATE-----") else {
                throw CommandFailure(.failed, "\(name) has a PEM block without an end line")
            }
            found.append(rest[begin.upperBound..<end.lowerBound].filter { !$0.isWhitespace })
            rest = rest[end.upperBound...]
        }
        return found
    }

    private static func json(_ bytes: Data, _ name: String) throws(CommandFailure) -> [String] {
        do throws(JSONFault) {
            var fields = try JSONFields(parsing: bytes)
            return try fields.certificates()
        } catch { throw CommandFailure(.failed, "\(name) can't be read: \(error)") }
    }
}

extension JSONFields {
    /// The field `certificates`: a list of certificates in Base64.
    mutating func certificates() throws(JSONFault) -> [String] {
        guard case .array(let items) = try value("certificates") else {
            throw JSONFault("'certificates' is missing, expected a list of strings")
        }
        var texts: [String] = []
        for item in items {
            guard case .string(let text) = item else {
                throw JSONFault("'certificates' contains \(item.kind), expected strings in Base64")
            }
            texts.append(text)
        }
        return texts
    }
}
