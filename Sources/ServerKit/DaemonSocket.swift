package import MerchantCore

/// One of the daemon's Unix sockets. A request to the wrong socket gets an error that names the right one.
package enum DaemonSocket: String, CaseIterable, Sendable {
    case admin, decryptor, issuer

    /// The first segments after `/v1` of the paths that the admin socket serves; ``serving(_:)`` handles `keys`
    /// separately. A test compares ``serving(_:)`` with `schema/openapi.yaml`.
    private static let adminResources: Set<Substring> = [
        "access", "audit", "backups", "certificates", "domain-checks", "domain-file", "events", "invitations",
        "master-key", "merchant-tokens", "merchants", "nodes", "operator-logins", "operator-sessions", "registrations",
        "reload", "rolls", "status", "webhooks",
    ]
    private static let adminKeyOperations: Set<Substring> = ["csr", "destroy", "promote", "restore", "revoke"]

    /// The socket that serves a path, whatever the method.
    ///
    /// - Returns: nil if no socket or every socket serves the path. The result for `/v1/keys/{publicKeyHash}` is
    ///   ``admin``, although the decryptor socket serves this path too.
    package static func serving(_ path: some StringProtocol) -> DaemonSocket? {
        guard path.hasPrefix("/v1/") else { return nil }
        let segments = String(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map { $0 }
        guard let resource = segments.first, !segments.contains("") else { return nil }
        switch resource {
        case "in-app-provisioning": return .issuer
        case "payment-tokens", "merchant-sessions": return .decryptor
        case "merchant-tokens" where segments.count == 3 && segments[2] == "mpan": return .decryptor
        case "keys" where segments.count <= 2: return .admin
        case "keys" where segments.count == 3 && segments[2] == "symmetric-key": return .decryptor
        case "keys" where segments.count == 3 && adminKeyOperations.contains(segments[2]): return .admin
        default: return adminResources.contains(resource) ? .admin : nil
        }
    }

    /// The error for a request to this socket whose path another socket serves.
    ///
    /// - Returns: nil if no other socket serves the path.
    package func misdirected(_ path: some StringProtocol) -> MerchantError? {
        guard let right = Self.serving(path), right != self else { return nil }
        let condition = right == .issuer ? ", which exists only if 'provisioning' is set" : ""
        return MerchantError(
            .notFound,
            "this is the \(rawValue) socket, which has no such path: send the request to the \(right.rawValue) socket (setting 'sockets.\(right.rawValue).path', by default \(right.rawValue).sock)\(condition)"
        )
    }
}
