import Crypto
import MerchantCore
import Secrets
import SwiftASN1
import Vocabulary
import X509

/// Finds the one certificate in an uploaded file. If the file is not a certificate, the error says what the file is.
enum CertificateUpload {
    /// - Returns: the certificate in DER: the content of the PEM block CERTIFICATE, or the whole upload if it is not
    ///   PEM.
    /// - Throws: an error that names the content, if the upload is recognized as something other than one certificate.
    static func der(_ upload: [UInt8]) throws(MerchantError) -> [UInt8] {
        switch CertificateUploadDiagnosis(of: upload) {
        case .tooLarge:
            throw MerchantError(
                .tooLarge,
                "the certificate file has \(upload.count) bytes, expected at most \(CertificateUploadDiagnosis.longest)"
            )
        case .empty: throw malformed("is empty, expected a certificate in PEM or DER")
        case .privateKey: throw privateKeyUploaded
        case .pkcs12:
            throw MerchantError(
                .privateKeyUploaded,
                "the file is a PKCS #12 key store (.p12, .pfx), which usually holds a private key; nothing was stored; upload the certificate file (.cer) as Apple issued it"
            )
        case .signingRequest:
            throw malformed(
                "is a certificate signing request (CSR): upload the certificate that Apple issued for this CSR")
        case .webPage:
            throw malformed(
                "is a web page (HTML), probably Apple's sign-in page that was saved in place of the certificate: sign in, download the certificate again, and upload it"
            )
        case .pkcs7:
            throw malformed(
                "is PKCS #7 (.p7b), a bundle of certificates: upload only the merchant's own certificate, in PEM or DER"
            )
        case .provisioningProfile:
            throw malformed(
                "is a provisioning profile (.mobileprovision), which belongs to an app: upload the certificate of the Merchant ID"
            )
        case .otherFile where !PEMText.isFound(in: upload):
            throw malformed(
                "is not a certificate: it is another kind of file, such as an archive, a document or an image, or it is damaged; upload the certificate file (.cer) as Apple issued it"
            )
        case .otherFile, .chain, .certificate:
            return PEMText.isFound(in: upload) ? try pem(upload) : upload
        }
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
            if label == "CERTIFICATE" { certificates.append(bytes) } else { others.append(label) }
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
}
