import Crypto
package import Vocabulary

/// The content of an access as an audit record contains it. A comparison with the audit record finds an access that
/// another program has changed or inserted in the database.
///
/// The field `after` of the records with one of the ``actions`` begins with `access=NAME` and ends with
/// `sha256=DIGEST`.
package struct AuditedAccess: Hashable, Sendable {
    /// The actions that change the content of an access.
    package static let actions: [AuditAction] = [.accessCreated, .accessRotated, .accessRevoked]
    private static let nameLabel = "access="
    private static let digestLabel = "sha256="

    package let name: AccessName
    /// SHA-256 over everything that decides who may use the access, and for what. The time of the last use is not part
    /// of it.
    package let digest: Bits256

    package init(_ access: Access) {
        name = access.name
        digest = Self.digest(of: access)
    }

    /// - Parameter auditText: the field `after` of an audit record.
    /// - Returns: nil if the text does not have the form of ``auditText(_:)``.
    package init?(auditText: String) {
        let words = auditText.split(separator: " ")
        guard let first = words.first, first.hasPrefix(Self.nameLabel), let last = words.last,
            last.hasPrefix(Self.digestLabel), let name = AccessName(first.dropFirst(Self.nameLabel.count)),
            let digest = Hex.decode(String(last.dropFirst(Self.digestLabel.count))).flatMap({ Bits256(bytes: $0) })
        else { return nil }
        self.name = name
        self.digest = digest
    }

    /// The field `after` of an audit record.
    ///
    /// - Parameter details: a text for the readers of the record. Contains no secret.
    package func auditText(_ details: String) -> String {
        "\(Self.nameLabel)\(name) \(details) \(Self.digestLabel)\(Hex.encode(digest.bytes))"
    }

    /// No value contains a line end, so different contents have different texts.
    private static func digest(of access: Access) -> Bits256 {
        func text(_ time: Timestamp?) -> String { time.map { "\($0.millisecondsSince1970)" } ?? "-" }
        let content = [
            access.name.rawValue, access.permits.map(\.rawValue).sorted().joined(separator: ","),
            access.merchants.map { $0.map(\.rawValue).sorted().joined(separator: ",") } ?? "*",
            access.certificateFingerprint.map { Hex.encode($0.bytes) } ?? "-",
            text(access.createdAt), text(access.expiresAt), text(access.revokedAt),
        ]
        let secrets = access.secrets.map { secret in
            [
                secret.stored.identifier, Hex.encode(secret.stored.digest.bytes), text(secret.createdAt),
                text(secret.expiresAt),
            ].joined(separator: " ")
        }.sorted()
        let hash = SHA256.hash(data: Array((content + secrets).joined(separator: "\n").utf8))
        guard let digest = Bits256(bytes: Array(hash)) else {
            preconditionFailure("SHA-256 yields 32 bytes, FIPS 180-4")
        }
        return digest
    }
}
