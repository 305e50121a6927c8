import SwiftASN1
import Vocabulary
import X509

/// `applepay-sandbox issue DIRECTORY`: issues a certificate for each CSR in a directory.
struct DirectoryIssuance {
    /// The endings of the names of CSR files. A `.pem` file is ignored if it contains no CSR.
    private static let suffixes = [".csr", ".certSigningRequest", ".pem"]

    let authority: SandboxAuthority
    /// The merchant of all certificates; nil for the merchant in the subject of each CSR.
    let merchant: MerchantIdentifier?
    /// The purpose of all certificates. If nil, each file name that ends in `-identity` before the suffix means
    /// `identity`, and every other name means `paymentProcessing`.
    let purpose: KeyPurpose?
    let notBefore: Timestamp
    let notAfter: Timestamp?

    private enum Outcome: String {
        case issued
        /// The certificate of this key exists already.
        case kept
    }

    /// Issues the certificates, and prints a line for each.
    ///
    /// - Throws: ``SandboxError`` if the directory contains no CSR; otherwise with a line for each file for which no
    ///   certificate was issued or kept.
    func run(in directory: String, to target: String) throws(SandboxError) {
        if !Files.isDirectory(target) { try Files.createDirectory(target) }
        var count = 0
        var failures: [String] = []
        for name in try Files.names(in: directory) {
            guard let suffix = Self.suffixes.first(where: name.hasSuffix) else { continue }
            let stem = String(name.dropLast(suffix.count))
            let out = "\(target)/\(stem).cer"
            do {
                let csr = try Files.read("\(directory)/\(name)")
                guard suffix != ".pem" || Self.containsCSR(csr) else { continue }
                count += 1
                print("\(try issue(csr, of: stem, to: out).rawValue) \(out)")
            } catch {
                failures.append("\(name): \(error)")
            }
        }
        guard count > 0 || !failures.isEmpty else {
            throw SandboxError(
                "'\(directory)' contains no CSR: no file's name ends in \(Self.suffixes.joined(separator: ", "))")
        }
        guard failures.isEmpty else {
            throw SandboxError(
                "\(failures.count.counted("file has", "files have")) no certificate:\n"
                    + failures.joined(separator: "\n"))
        }
    }

    private func issue(_ csr: [UInt8], of stem: String, to out: String) throws -> Outcome {
        let purpose = purpose ?? (stem.hasSuffix("-identity") ? .identity : .paymentProcessing)
        let request = try SigningRequest(csr, purpose: purpose)
        guard let merchant = merchant ?? request.merchant else {
            throw SandboxError("the CSR's subject names no merchant identifier: use --merchant")
        }
        if Files.exists(out) {
            guard let existing = try? Certificate(derEncoded: Files.read(out)), existing.publicKey == request.publicKey
            else { throw SandboxError("'\(out)' exists and is not the certificate of this key: move it away") }
            return .kept
        }
        let certificate = try authority.issue(
            csr: csr, merchant: merchant, purpose: purpose, notBefore: notBefore, notAfter: notAfter)
        try Files.write(certificate, to: out)
        return .issued
    }

    private static func containsCSR(_ pem: [UInt8]) -> Bool {
        String(decoding: pem, as: UTF8.self).contains("CERTIFICATE REQUEST-----")
    }
}
