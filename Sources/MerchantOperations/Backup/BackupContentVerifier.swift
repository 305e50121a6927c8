package import MerchantCore
import Vocabulary

/// Verifies the keys, certificates, account numbers and audit chain in the database that a backup contains, and
/// collects the faults.
package struct BackupContentVerifier: Sendable {
    package typealias Records = Transactions<
        any KeyPairReading & SealedKeyReading & MerchantTokenReading & AuditReading, Void
    >

    /// At most this many faults are kept in ``findings``.
    package static let maximumFindings = 100
    private static let keyPairsPerRead = 256
    private static let mpansPerRead = 1000

    package private(set) var keyPairsVerified = 0
    package private(set) var certificatesChecked = 0
    package private(set) var auditRecordsChecked = 0
    /// Descriptions of the faults.
    package private(set) var findings: [String] = []

    package init() {}

    /// Adds a fault, unless ``findings`` is full.
    package mutating func note(_ finding: String) {
        if findings.count < Self.maximumFindings { findings.append(finding) }
    }

    /// Unseals every private key and account number, compares each key with its public key and its certificates, and
    /// verifies the audit chain.
    ///
    /// - Parameter copy: the database in the backup.
    package mutating func examine(
        _ copy: Records, with verifier: any KeyPairVerifier & MPANCustodian
    ) async throws {
        try await examineKeyPairs(of: copy, with: verifier)
        try await examineMPANs(of: copy, with: verifier)
        try await examineAudit(of: copy)
    }

    private struct StoredKeyPair: Sendable {
        let keyPair: KeyPair
        let sealed: SealedPrivateKey?
        let certificates: [StoredCertificate]
        /// Why the private key or a certificate cannot be read from the copy; nil if all of them can.
        let fault: MerchantError?
    }

    private mutating func examineKeyPairs(of copy: Records, with verifier: any KeyPairVerifier)
        async throws
    {
        var cursor: PublicKeyHash?
        while true {
            try Task.checkCancellation()
            let after = cursor
            let page = try await copy.read { reading in
                try reading.keyPairs(after: after, limit: Self.keyPairsPerRead).map { keyPair in
                    let hash = keyPair.publicKeyHash
                    do {
                        return StoredKeyPair(
                            keyPair: keyPair, sealed: try reading.sealedPrivateKey(of: hash),
                            certificates: try reading.certificates(of: hash), fault: nil)
                    } catch let error as MerchantError {
                        // Report this key pair as faulty, and continue with the others.
                        return StoredKeyPair(keyPair: keyPair, sealed: nil, certificates: [], fault: error)
                    }
                }
            }
            for stored in page { examine(stored, with: verifier) }
            guard let last = page.last else { return }
            cursor = last.keyPair.publicKeyHash
        }
    }

    private mutating func examine(_ stored: StoredKeyPair, with verifier: any KeyPairVerifier) {
        let keyPair = stored.keyPair
        if let fault = stored.fault { return note("key pair \(keyPair.publicKeyHash): \(fault.detail)") }
        switch stored.sealed {
        case let sealed?:
            do {
                try verifier.verifyPrivateKey(of: SealedKeyPair(keyPair: keyPair, sealedPrivateKey: sealed))
                keyPairsVerified += 1
            } catch { note((error as? MerchantError)?.detail ?? "key pair \(keyPair.publicKeyHash): \(error)") }
        case nil where keyPair.state != .destroyed:
            note("key pair \(keyPair.publicKeyHash) is \(keyPair.state.rawValue) and has no private key")
        case nil: break
        }
        for certificate in stored.certificates {
            certificatesChecked += 1
            if let finding = Self.finding(about: certificate, of: keyPair, verifier) { note(finding) }
        }
    }

    /// - Returns: the fault of a certificate; nil if it has none.
    private static func finding(
        about certificate: StoredCertificate, of keyPair: KeyPair, _ verifier: any KeyPairVerifier
    ) -> String? {
        let name = "certificate \(certificate.serialNumber) of key pair \(keyPair.publicKeyHash)"
        guard let facts = try? verifier.readCertificate(certificate.der) else { return "\(name) cannot be parsed" }
        guard facts.publicKeyHash == keyPair.publicKeyHash else {
            return "\(name) certifies another key, \(facts.publicKeyHash)"
        }
        let expected = StoredCertificate(
            facts, issuerVerified: certificate.issuerVerified, storedAt: certificate.storedAt)
        return expected == certificate ? nil : "the stored fields of \(name) differ from the certificate itself"
    }

    private mutating func examineMPANs(of copy: Records, with custodian: any MPANCustodian) async throws {
        var cursor: MerchantTokenIdentifier?
        while true {
            try Task.checkCancellation()
            let after = cursor
            let page = try await copy.read { try $0.mpans(after: after, limit: Self.mpansPerRead) }
            for stored in page {
                do { _ = try custodian.openMPAN(stored.sealed) } catch {
                    note((error as? MerchantError)?.detail ?? "a sealed account number cannot be opened: \(error)")
                }
            }
            guard let last = page.last else { return }
            cursor = last.sealed.owner.merchantTokenIdentifier
        }
    }

    private mutating func examineAudit(of copy: Records) async throws {
        var audit = AuditExamination()
        var isAtEnd = false
        while !isAtEnd {
            try Task.checkCancellation()
            let next = audit.next
            let segment = try await copy.read { try $0.auditSegment(from: next, limit: 1000) }
            for link in segment.links { audit.examine(link) }
            isAtEnd = segment.links.isEmpty
            if isAtEnd { audit.finish(highestAssigned: segment.highestAssigned) }
        }
        audit.markReorderedRecords()
        auditRecordsChecked = audit.examined
        for found in audit.breaks { note("audit: \(found.kind.rawValue): \(found.detail)") }
    }
}
