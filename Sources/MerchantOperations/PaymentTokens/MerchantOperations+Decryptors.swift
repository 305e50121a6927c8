package import MerchantCore
package import Secrets
package import Vocabulary

/// A key pair that a decryptor may use, with the certificate that answers for it.
package struct ResolvedKey: Sendable {
    package let keyPair: KeyPair
    package let certificate: StoredCertificate
}

extension MerchantOperations {
    /// Finds the active key pair with a publicKeyHash. Reads the store on the calling thread.
    ///
    /// - Parameters:
    ///   - countsAsUse: false where the request comes with a token, which first shows whether the key is used
    ///     (``open(_:with:on:for:)``).
    ///   - judge: throws unless the caller is authorized for the merchant's keys. Called before the request is counted and
    ///     before anything about the key is returned: no caller can delay the roll of another merchant's key.
    /// - Throws: what `judge` throws; `keyNotFound` for an unknown, a pending or an identity key, all in the same words; `keyRevoked`; `keyDestroyed`.
    package func resolveNow(
        _ hash: PublicKeyHash, countsAsUse: Bool = true, judging judge: (MerchantIdentifier) throws -> Void
    ) throws -> ResolvedKey {
        let now = clock.now
        return try repository.readNow { reading in
            let unknown = MerchantError(.keyNotFound, "there is no active key pair with publicKeyHash \(hash)")
            guard let keyPair = try reading.keyPair(hash), keyPair.purpose == .paymentProcessing else { throw unknown }
            try judge(keyPair.merchantIdentifier)
            if countsAsUse { uses.recordAsked(hash, at: now) }
            switch keyPair.state {
            case .pending: throw unknown
            case .revoked:
                throw MerchantError(
                    .keyRevoked, "the key \(hash) was revoked at \(keyPair.stateSince): its tokens must not be accepted"
                )
            case .destroyed:
                throw MerchantError(.keyDestroyed, "the private key of \(hash) was destroyed at \(keyPair.stateSince)")
            case .standby, .current, .retiring: break
            }
            guard let certificate = try reading.certificates(of: hash).answering(at: now) else {
                throw MerchantError(.internalError, "the active key \(hash) has no certificate")
            }
            return ResolvedKey(keyPair: keyPair, certificate: certificate)
        }
    }

    /// Takes a private key out as PKCS#8 PEM, after recording that it was: from then on its uses are not seen here.
    package func exportPrivateKey(_ hash: PublicKeyHash, for request: Request) async throws -> SecretBytes {
        let now = clock.now
        try await recorded("the private key stays here") { transaction in
            var keyPair = try transaction.existingKeyPair(hash)
            guard keyPair.state.isActive, keyPair.purpose == .paymentProcessing else {
                throw MerchantError(.keyNotFound, "there is no active key pair with publicKeyHash \(hash)")
            }
            keyPair.exportedAt = now
            try transaction.update(keyPair)
            try transaction.refreshIdleTime(of: keyPair)
            try transaction.append(
                request.entry(
                    .privateKeyExported, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                    before: keyPair.state.rawValue, after: keyPair.state.rawValue))
        }
        return try custodian.exportPrivateKey(hash)
    }

    /// Writes what must be on record before anything leaves.
    ///
    /// - Parameter consequence: of an audit that cannot be written.
    func recorded(
        _ consequence: String, _ body: @escaping @Sendable (any MerchantTransaction) throws -> Void
    ) async throws {
        do { try await repository.write(body) } catch let error as MerchantError where error.code == .storeUnavailable {
            throw MerchantError(
                .storeUnavailable,
                "\(consequence), because the audit cannot be written (keys are still resolved): \(error.detail)",
                retryAfter: error.retryAfter)
        }
    }

    /// Whether the audit knows these permits: if not, ``recordStart(as:version:policy:history:)`` must come before them.
    package func knowsPermits(_ policy: CallerPolicy) async throws -> Bool {
        try await repository.read { try $0.daemonFact("permits") } == policy.summary
    }

    /// Records at start that the daemon runs, and what the callers' permits are if they are not as they were.
    ///
    /// - Parameter history: why the database is older than it was, each with its reason.
    package func recordStart(
        as caller: Caller, version: String, policy: CallerPolicy,
        history: [(action: AuditAction, reason: String)] = []
    ) async throws {
        let now = clock.now
        let request = Request(caller: caller, requestId: "start")
        try await repository.write { transaction in
            try transaction.append(request.entry(.daemonStarted, at: now, after: version))
            for (action, reason) in history {
                try transaction.append(request.entry(action, at: now, reason: reason))
                try transaction.setDaemonFact(Self.olderSinceFact, now.rfc3339)
                // Of an earlier restore, if any.
                if action != .databaseRestored { try transaction.setDaemonFact(Self.undoneFact, "") }
            }
            let permits = policy.summary
            let before = try transaction.daemonFact("permits")
            guard before != permits else { return }
            try transaction.setDaemonFact("permits", permits)
            try transaction.append(request.entry(.permitsChanged, at: now, before: before, after: permits))
        }
    }
}

extension MerchantOperations {
    /// What a restore leaves in the database for the next start; empty once it is recorded.
    package static let restoredFact = "restoredFrom"
    /// What the last restore took back, in one sentence.
    package static let undoneFact = "restoreUndid"
    /// When an older database was last taken for good.
    package static let olderSinceFact = "olderDatabaseSince"
}

extension CallerPolicy {
    /// One line, the same for the same policy.
    fileprivate var summary: String {
        rules.map { rule in
            let subject =
                switch rule.subject {
                case .uid(let uid): "uid=\(uid)"
                case .gid(let gid): "gid=\(gid)"
                }
            let permits = rule.grant.permits.map(\.rawValue).sorted().joined(separator: ",")
            let merchants = rule.grant.merchants.map { $0.map(\.rawValue).sorted().joined(separator: ",") } ?? "*"
            return "\(subject) permits=\(permits) merchants=\(merchants)"
        }.joined(separator: "; ")
    }
}
