import SwiftASN1

/// Extracts the DER from the content of a file with one CSR or certificate, in DER or PEM. Text around the PEM block is
/// ignored.
enum EncodedFile {
    /// Returns the DER of the value in the file. Bytes that begin with the tag of a SEQUENCE (30 in hexadecimal) are
    /// returned unchanged and unchecked, so the caller must parse them.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - labels: the permitted PEM labels, such as `CERTIFICATE`.
    ///   - expected: a description of the value for error messages.
    /// - Throws: ``SandboxError`` if the file is neither DER nor PEM, or is PEM with several blocks or another label.
    static func der(of bytes: [UInt8], labels: [String], expected: String) throws(SandboxError) -> [UInt8] {
        guard !bytes.isEmpty else { throw SandboxError("the file is empty, expected \(expected)") }
        // The same byte is the digit 0 in ASCII. So a PEM file whose text before the block begins with 0 counts as DER,
        // which the caller's parser rejects.
        if bytes[0] == TLV.sequence { return bytes }
        guard let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") else {
            throw SandboxError("the file is neither PEM nor DER, expected \(expected)")
        }
        let documents: [PEMDocument]
        do {
            documents = try PEMDocument.parseMultiple(pemString: text)
        } catch { throw SandboxError("the PEM text is not valid, expected \(expected)") }
        guard let document = documents.first, documents.count == 1 else {
            throw SandboxError("the file contains \(documents.count) PEM blocks, expected \(expected)")
        }
        guard labels.contains(document.discriminator) else {
            throw SandboxError("the file contains a PEM block '\(document.discriminator)', expected \(expected)")
        }
        return document.derBytes
    }
}
