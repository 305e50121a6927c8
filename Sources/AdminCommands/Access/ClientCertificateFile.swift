import FoundationEssentials
import WireAPI

/// The file of `--client-certificate`.
enum ClientCertificateFile {
    /// Reads a certificate in PEM or DER.
    ///
    /// - Returns: the content of the file as PEM. Only the daemon checks that it is a certificate.
    /// - Throws: ``CommandFailure`` if the file can't be read, or contains a private key in PEM, which must not be
    ///   sent.
    static func read(_ path: String) throws(CommandFailure) -> String {
        let bytes = try InputFile(path).read(sizeLimit: CertificateFiles.sizeLimit)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.firstRange(of: "PRIVATE KEY-----") == nil else {
            throw CommandFailure(
                .failed,
                "nothing was sent: \(path) contains a private key; name a file with only the client certificate")
        }
        // The field of the request is text, which cannot hold DER.
        return PEM.firstCertificate(in: bytes) == nil ? PEM.encode(Array(bytes), label: "CERTIFICATE") : text
    }
}
