import SwiftASN1

/// A CSR or a certificate as people hand it over: PEM, with or without text around it, or bare DER.
enum EncodedFile {
    /// - Returns: the one value's DER.
    /// - Throws: ``SandboxFault`` for PEM of another kind, and for more than one value.
    static func der(of bytes: [UInt8], labels: [String], expected: String) throws(SandboxFault) -> [UInt8] {
        guard !bytes.isEmpty else { throw SandboxFault("found no bytes, expected \(expected)") }
        // A DER value begins with a SEQUENCE; nothing else that may come here does.
        if bytes[0] == TLV.sequence { return bytes }
        guard let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") else {
            throw SandboxFault("found neither PEM nor DER, expected \(expected)")
        }
        let documents: [PEMDocument]
        do {
            documents = try PEMDocument.parseMultiple(pemString: text)
        } catch { throw SandboxFault("found unreadable PEM, expected \(expected)") }
        guard let document = documents.first, documents.count == 1 else {
            throw SandboxFault("found \(documents.count) PEM blocks, expected one: \(expected)")
        }
        guard labels.contains(document.discriminator) else {
            throw SandboxFault("found PEM labelled '\(document.discriminator)', expected \(expected)")
        }
        return document.derBytes
    }
}
