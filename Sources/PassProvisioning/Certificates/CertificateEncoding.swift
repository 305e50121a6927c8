import FoundationEssentials
import Vocabulary

/// Recognizes the encodings in which apps send certificates by mistake.
enum CertificateEncoding {
    private static let pemStart = Array("-----BEGIN ".utf8)
    /// The tag of a SEQUENCE, with which a certificate in DER begins.
    private static let sequence: UInt8 = 0x30

    /// Decodes Base64 once.
    static func decode(base64 text: String, position: Int) throws(CertificateFinding) -> Data {
        if let data = Base64.decode(text), !data.isEmpty { return data }
        throw isPEM(Array(text.utf8)) ? .pemInsteadOfDER(position: position) : .invalidBase64(position: position)
    }

    /// The finding for bytes that are not a certificate in DER.
    static func fault(of bytes: [UInt8], position: Int) -> CertificateFinding {
        if isPEM(bytes) { return .pemInsteadOfDER(position: position) }
        if isBase64OfSequence(bytes) { return .base64InsteadOfDER(position: position) }
        return .malformedCertificate(position: position)
    }

    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        bytes.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }.starts(with: pemStart)
    }

    private static func isBase64OfSequence(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self),
            let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
        else { return false }
        return data.first == sequence
    }
}
