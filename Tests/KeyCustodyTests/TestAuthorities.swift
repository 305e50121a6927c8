import Foundation
import KeyCustody
import MerchantCore
import Vocabulary

/// Certificate authorities and certificates that openssl generates, in the files `NAME.pem` and `NAME.key`. A renewed
/// certificate has no key file of its own.
struct TestAuthorities {
    /// A section of extensions in openssl's configuration.
    enum Section: String, CaseIterable {
        case authority, authorityWithoutSubordinates, constrainedAuthority, authorityWithUnknownCriticalExtension
        case authorityWithCriticalUsage, authorityWithoutBasicConstraints, authorityWithoutSigningUsage
        case authorityWithUnreadableUsage
        case leaf, leafForPermittedName, leafForOtherName, leafWithUnknownCriticalExtension, leafWithCriticalUsage

        fileprivate var extensions: [String] {
            let authority = ["basicConstraints = critical, CA:true", "keyUsage = critical, keyCertSign"]
            let leaf = ["basicConstraints = critical, CA:false", "keyUsage = critical, keyEncipherment"]
            return switch self {
            case .authority: authority
            case .authorityWithoutSubordinates: ["basicConstraints = critical, CA:true, pathlen:0", authority[1]]
            case .constrainedAuthority: authority + ["nameConstraints = critical, permitted;DNS:example.com"]
            case .authorityWithUnknownCriticalExtension: authority + ["1.2.3.4.5 = critical, ASN1:UTF8String:x"]
            case .authorityWithCriticalUsage: authority + ["extendedKeyUsage = critical, serverAuth"]
            case .authorityWithoutBasicConstraints: [authority[1]]
            case .authorityWithoutSigningUsage: [authority[0], "keyUsage = critical, cRLSign"]
            case .authorityWithUnreadableUsage: [authority[0], "keyUsage = critical, DER:0500"]
            case .leaf: leaf
            case .leafForPermittedName: leaf + ["subjectAltName = DNS:shop.example.com"]
            case .leafForOtherName: leaf + ["subjectAltName = DNS:shop.example.org"]
            case .leafWithUnknownCriticalExtension: leaf + ["1.2.3.4.5 = critical, ASN1:UTF8String:x"]
            case .leafWithCriticalUsage: leaf + ["extendedKeyUsage = critical, clientAuth"]
            }
        }
    }

    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        let sections = Section.allCases.map { "[\($0)]\n" + $0.extensions.joined(separator: "\n") }
        let text = "[req]\ndistinguished_name = dn\n[dn]\n\(sections.joined(separator: "\n"))\n"
        _ = try scratch.file("x.cnf", Array(text.utf8))
    }

    func pem(_ name: String) throws -> [UInt8] { try scratch.read("\(name).pem") }

    /// - Parameter subject: the common name; nil for `name`.
    func makeRoot(_ name: String, named subject: String? = nil) throws {
        try Tool.openssl("ecparam -name secp384r1 -genkey -noout -out \(name).key", in: scratch)
        try Tool.openssl(
            "req -new -x509 -config x.cnf -extensions authority -key \(name).key -subj /CN=\(subject ?? name) -days 60 -out \(name).pem",
            in: scratch)
    }

    func issue(
        _ name: String, _ section: Section = .leaf, by issuer: String, days: Int = 10, named subject: String? = nil
    ) throws {
        try Tool.openssl("ecparam -name prime256v1 -genkey -noout -out \(name).key", in: scratch)
        try sign(name, key: name, section, subject: subject ?? name, by: issuer, days: days)
    }

    /// Issues a second certificate for the key and the name of a CA, to the file `OTHER.pem`.
    func renew(_ name: String, as other: String, by issuer: String, days: Int) throws {
        try sign(other, key: name, .authority, subject: name, by: issuer, days: days)
    }

    private func sign(
        _ name: String, key: String, _ section: Section, subject: String, by issuer: String, days: Int
    ) throws {
        try Tool.openssl("req -new -config x.cnf -key \(key).key -subj /CN=\(subject) -out \(name).csr", in: scratch)
        try Tool.openssl(
            "x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -set_serial 2 -days \(days) -extfile x.cnf -extensions \(section) -out \(name).pem",
            in: scratch)
    }

    func issuers(_ names: [String]) throws -> CertificateIssuers {
        try CertificateIssuers(reading: try names.map(pem))
    }

    /// - Parameter days: from now to the time of the validation.
    func refusal(of leaf: String, under names: [String], after days: Int = 0) async throws -> ChainRefusal? {
        let facts = try CustodyFixture().custody.readCertificate(try pem(leaf))
        let time = Timestamp.now.adding(.seconds(60 + days * 86_400))
        return try await issuers(names).refusal(of: facts, at: time)
    }

    func isPathInvalid(_ leaf: String, under names: [String]) async throws -> Bool {
        if case .pathInvalid = try await refusal(of: leaf, under: names) { true } else { false }
    }
}
