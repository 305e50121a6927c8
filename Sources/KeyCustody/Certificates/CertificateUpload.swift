import Crypto
import MerchantCore
import Secrets
import SwiftASN1
import Vocabulary
import X509

/// Finds the one certificate in an uploaded file. If the file is not a certificate, the error says what the file is.
enum CertificateUpload {
    /// The largest accepted file in bytes.
    static let longest = 64 * 1024

    /// - Returns: the certificate in DER: the content of the PEM block CERTIFICATE, or the whole upload if it is not
    ///   PEM.
    /// - Throws: an error that names the content, if the upload is recognized as something else than one certificate.
    static func der(_ upload: [UInt8]) throws(MerchantError) -> [UInt8] {
        guard upload.count <= longest else {
            throw MerchantError(
                .tooLarge, "the certificate file has \(upload.count) bytes, expected at most \(longest)")
        }
        guard !upload.isEmpty else { throw malformed("is empty, expected a certificate in PEM or DER") }
        // A private key must not be processed further, so this check comes first. It also finds a key in an incomplete
        // PEM block.
        guard upload.firstRange(of: Array("PRIVATE KEY-----".utf8)) == nil else { throw privateKeyUploaded }
        guard PEMText.isFound(in: upload) else {
            if let error = errorIfNotCertificate(der: upload) { throw error }
            return upload
        }
        return try pem(upload)
    }

    /// - Returns: the SHA-256 of the certificate in DER.
    /// - Throws: the errors of ``der(_:)``, and `certificateMalformed` if the DER is no certificate.
    static func fingerprint(_ upload: [UInt8]) throws(MerchantError) -> Bits256 {
        let der = try Self.der(upload)
        guard (try? Certificate(derEncoded: der)) != nil, let hash = Bits256(bytes: Array(SHA256.hash(data: der)))
        else { throw malformed("is not a complete X.509 certificate (RFC 5280)") }
        return hash
    }

    private static func pem(_ upload: [UInt8]) throws(MerchantError) -> [UInt8] {
        var certificates: [[UInt8]] = []
        var others: [String] = []
        for (label, bytes) in try blocks(upload) {
            switch label {
            case "CERTIFICATE": certificates.append(bytes)
            case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": throw signingRequestUploaded
            default: others.append(label)
            }
        }
        guard let certificate = certificates.first else {
            throw malformed(
                "holds no certificate (found: \(PEMText.list(others))): upload the certificate that Apple issued")
        }
        guard certificates.count == 1 else {
            throw MerchantError(
                .certificateChain,
                "the file holds \(certificates.count.counted("certificate")): upload only the merchant's own"
            )
        }
        return certificate
    }

    /// Decodes all PEM blocks of the file.
    static func blocks(_ upload: [UInt8]) throws(MerchantError) -> [(label: String, bytes: [UInt8])] {
        do {
            return try upload.withUnsafeBytes { memory in
                let text = PEMText(reading: memory)
                var blocks: [(label: String, bytes: [UInt8])] = []
                while let block = try text.next() { blocks.append((block.label, Array(block.bytes))) }
                return blocks
            }
        } catch {
            throw malformed("holds a PEM block that is incomplete or not Base64")
        }
    }

    /// If the DER is recognizably something else than a certificate, returns the error that says what it is; otherwise
    /// nil. DER has no label, so its structure shows what it is.
    private static func errorIfNotCertificate(der: [UInt8]) -> MerchantError? {
        if (try? CertificateSigningRequest(derEncoded: der)) != nil { return signingRequestUploaded }
        // The nodes are a sequence and not a collection, so they have no property `first`.
        guard let root = try? BER.parse(der), case .constructed(let nodes) = root.content,
            let first = nodes.first(where: { _ in true })
        else { return nil }
        // PKCS#8, SEC1, PKCS#1 and PKCS#12 begin with a version number. Encrypted PKCS#8 has an octet string as its
        // second element.
        let second = nodes.dropFirst().first(where: { _ in true })
        if first.identifier == .integer, second != nil { return privateKeyUploaded }
        if first.identifier == .sequence, second?.identifier == .octetString { return privateKeyUploaded }
        if first.identifier == .objectIdentifier {
            return malformed("is PKCS#7 (a bundle of certificates): upload one certificate in PEM or DER")
        }
        return nil
    }

    /// - Parameter predicate: the end of a sentence that begins with "the certificate file".
    static func malformed(_ predicate: String) -> MerchantError {
        MerchantError(.certificateMalformed, "the certificate file \(predicate)")
    }

    private static var privateKeyUploaded: MerchantError {
        MerchantError(
            .privateKeyUploaded,
            "the file holds a private key instead of a certificate; nothing was stored; revoke the key pair if others may have seen the file"
        )
    }

    private static var signingRequestUploaded: MerchantError {
        malformed("is a certificate signing request (CSR): upload the certificate that Apple issued for this CSR")
    }
}
