import SwiftASN1

/// A file that contains a CSR or a certificate as DER, or as PEM with or without text around it.
enum EncodedFile {
    /// Returns the DER of the value in the file.
    ///
    /// - Parameters:
    ///   - labels: the permitted PEM labels, such as `CERTIFICATE`.
    ///   - expected: a description of the value, for the message of an error.
    /// - Throws: ``SandboxError`` if the file is neither DER nor PEM, or is PEM with several blocks or another label.
    static func der(of bytes: [UInt8], labels: [String], expected: String) throws(SandboxError) -> [UInt8] {
        guard !bytes.isEmpty else { throw SandboxError("the file is empty, expected \(expected)") }
        // DER of a CSR or certificate begins with the tag of a SEQUENCE, which PEM text does not.
        if bytes[0] == TLV.sequence { return bytes }
        guard let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") else {
            throw SandboxError("the file is neither PEM nor DER, expected \(expected)")
        }
        let documents: [PEMDocument]
        do {
            documents = try PEMDocument.parseMultiple(pemString: text)
        } catch { throw SandboxError("the PEM text is not valid, expected \(expected)") }
        guard let document = documents.first, documents.count == 1 else {
            throw SandboxError("found \(documents.count) PEM blocks, expected one: \(expected)")
        }
        guard labels.contains(document.discriminator) else {
            throw SandboxError("found a PEM block '\(document.discriminator)', expected \(expected)")
        }
        return document.derBytes
    }
}
