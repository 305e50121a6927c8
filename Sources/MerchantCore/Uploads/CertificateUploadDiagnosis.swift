/// The kind of an uploaded file, recognized by the file's content. The portal's pages and the error messages of every
/// API use this type, so that all of them use the same names for the kinds of files.
///
/// A file with another result than ``certificate`` may be refused. With ``certificate``, the file may still be none:
/// only `KeyCustody` parses it completely.
package enum CertificateUploadDiagnosis: Hashable, Sendable {
    /// The largest file that can be a certificate, in bytes.
    package static let longest = 64 * 1024

    case empty
    case tooLarge
    /// HTML, for example a sign-in page that was saved in place of the certificate.
    case webPage
    case signingRequest
    case privateKey
    /// PKCS #7, a bundle of certificates: `.p7b`.
    case pkcs7
    /// PKCS #12, certificates and private keys: `.p12`, `.pfx`.
    case pkcs12
    /// `.mobileprovision`.
    case provisioningProfile
    /// More than one certificate in PEM.
    case chain
    /// Another file, such as a document or an image.
    case otherFile
    /// Probably one certificate, PEM or DER.
    case certificate(CertificateMarks)

    /// Does not read a file of more than ``longest`` bytes.
    package init(of file: [UInt8]) {
        guard file.count <= Self.longest else {
            self = .tooLarge
            return
        }
        guard file.contains(where: { !Self.isBlank($0) }) else {
            self = .empty
            return
        }
        // A private key must be detected in every kind of file, so this check comes first.
        if Self.contains("PRIVATE KEY-----", in: file) {
            self = .privateKey
        } else if let pem = Self.pem(file) {
            self = pem
        } else if file[0] == DERReader.sequence {
            self = Self.der(file)
        } else {
            self = Self.isWebPage(file) ? .webPage : .otherFile
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || byte == 0
    }

    static func contains(_ text: String, in bytes: [UInt8]) -> Bool {
        bytes.firstRange(of: Array(text.utf8)) != nil
    }

    // MARK: Text

    private static func isWebPage(_ file: [UInt8]) -> Bool {
        // Lower case, and without the byte order mark and blanks at the beginning.
        let head = file.prefix(4096).drop { isBlank($0) || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
        let text = String(decoding: head, as: UTF8.self).lowercased()
        guard text.hasPrefix("<") else { return false }
        return ["<!doctype html", "<html", "<head", "<body", "<script", "<title", "<meta"].contains {
            text.contains($0)
        }
    }

    /// - Returns: nil if the file has no PEM block.
    private static func pem(_ file: [UInt8]) -> CertificateUploadDiagnosis? {
        let begin = "-----BEGIN "
        guard contains(begin, in: file) else { return nil }
        let text = String(decoding: file, as: UTF8.self)
        var certificates: [Substring] = []
        var labels: [String] = []
        for piece in text.split(separator: begin, omittingEmptySubsequences: false).dropFirst() {
            let parts = piece.split(separator: "-----", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count >= 2 else { continue }
            labels.append(String(parts[0]))
            if parts[0] == "CERTIFICATE" { certificates.append(parts[1]) }
        }
        if labels.contains(where: { $0.hasSuffix("CERTIFICATE REQUEST") }) { return .signingRequest }
        if certificates.count > 1 { return .chain }
        if let certificate = certificates.first {
            return .certificate(CertificateMarks(base64: certificate))
        }
        return labels.contains("PKCS7") || labels.contains("CMS") ? .pkcs7 : .otherFile
    }

    // MARK: DER

    private static func der(_ file: [UInt8]) -> CertificateUploadDiagnosis {
        let elements = DERReader.elements(of: file[...])
        guard let first = elements.first else { return .otherFile }
        let second = elements.dropFirst().first
        switch first.tag {
        case DERReader.objectIdentifier:
            // ContentInfo, RFC 5652 section 3. A provisioning profile contains a property list in XML.
            return contains("<plist", in: file) ? .provisioningProfile : .pkcs7
        case DERReader.integer:
            // PFX, RFC 7292 section 4, has the version 3. PKCS #8, SEC 1 and PKCS #1 have 0 or 1.
            guard second != nil else { return .otherFile }
            return Array(first.content) == [3] && second?.tag == DERReader.sequence ? .pkcs12 : .privateKey
        case DERReader.sequence:
            // EncryptedPrivateKeyInfo, RFC 5958 section 3.
            if second?.tag == DERReader.octetString { return .privateKey }
            return isSigningRequest(first.content) ? .signingRequest : .certificate(CertificateMarks(der: file))
        default: return .otherFile
        }
    }

    /// Whether the content is that of a CertificationRequestInfo, RFC 2986 section 4.1: the version 0, the subject, the
    /// public key, and attributes that are tagged [0]. The content of a TBSCertificate begins with a version that is
    /// tagged [0], or with a serial number, followed by an algorithm, the issuer and the validity.
    private static func isSigningRequest(_ content: ArraySlice<UInt8>) -> Bool {
        let elements = DERReader.elements(of: content, isWhole: false)
        guard let version = elements.first, version.tag == DERReader.integer, Array(version.content) == [0] else {
            return false
        }
        let fourth = elements.dropFirst(3).first
        return fourth == nil || fourth?.tag == DERReader.contextZero
    }
}
