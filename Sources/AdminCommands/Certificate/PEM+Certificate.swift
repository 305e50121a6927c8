import FoundationEssentials
import Vocabulary
import WireAPI

extension PEM {
    /// The DER of the first certificate in a PEM file; nil if the file contains no complete certificate in PEM.
    static func firstCertificate(in file: Data) -> Data? {
        let text = String(decoding: file, as: UTF8.self)
        guard let begin = text.firstRange(of: "-----BEGIN CERTIFICATE-----"),
            let end = text[begin.upperBound...].firstRange(of: "-----END CERTIFICATE-----")
        else { return nil }
        return Base64.decode(text[begin.upperBound..<end.lowerBound].filter { !$0.isWhitespace })
    }
}
