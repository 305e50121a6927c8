import Vocabulary

extension StartObservation {
    /// What a start on PostgreSQL finds in the database.
    package struct Server: Equatable, Sendable {
        /// Whether the database contains a data key: whether a daemon has used it before.
        package var hasContent = false
        /// The name of this node if another daemon uses it on the database; otherwise nil.
        package var nameInUse: String?
        /// The names of the other daemons with a lease; empty also if the database has not been read yet.
        package var others: [String] = []
        /// Describes the audit records that this daemon has seen and that the database lacks; nil if there are none.
        package var lostTransactions: String?

        package init(hasContent: Bool = false) { self.hasContent = hasContent }
    }

    /// The findings on PostgreSQL. If the node name is in use, returns only this finding. ``databasePath`` is the name
    /// of the database.
    func findings(on server: Server) -> [StartFinding] {
        if let name = server.nameInUse {
            return [
                StartFinding(
                    .nodeNameInUse, "another merchantkeyd uses the database \(databasePath) under the name '\(name)'",
                    why:
                        "its lease is valid, or 'store.postgresql.serve-stale' still lets it use the keys in its caches",
                    remedy:
                        "give each daemon a 'store.postgresql.node' of its own, or stop the other daemon; if it does not run any more, remove it with 'merchantkeyctl node remove' on a daemon that runs"
                )
            ]
        }
        return [masterKeyFinding].compactMap(\.self) + lossesOnServer
            + [masterKeyWithoutContentFinding(server), noShippedHeadFinding, environmentFinding(server)].compactMap(
                \.self)
    }

    /// One daemon must not accept tokens that the others refuse. So while other daemons run, the start is refused.
    private func environmentFinding(_ server: Server) -> StartFinding? {
        guard let change = environmentChange, !server.others.isEmpty else { return environmentFinding }
        return StartFinding(
            .environmentConflict,
            "the setting environment is '\(change.now.rawValue)', but other daemons use the database \(databasePath) with '\(change.before.rawValue)'",
            why: "these daemons have a lease: \(server.others.joined(separator: ", "))",
            remedy:
                "correct the setting 'environment' or 'store.postgresql.connection', or stop the other daemons first")
    }

    private var lossesOnServer: [StartFinding] {
        (lockFile.lossesNotInAudit.isEmpty ? [] : acceptedLosses)
            + [lossShownByKnownRecord, lossShownByShippedHead].compactMap(\.self)
    }

    private var lossShownByKnownRecord: StartFinding? {
        server?.lostTransactions.map {
            StartFinding(
                .databaseLostTransactions, "the database \(databasePath) lacks transactions that were committed",
                why: $0,
                remedy:
                    "check 'store.postgresql.connection'; after a restore of a backup into this database, accept the loss; after a failover, promote a standby that has these transactions, or restore the newest backup"
            )
        }
    }

    /// The finding is only a warning, because an interrupted first start leaves the same state.
    private func masterKeyWithoutContentFinding(_ server: Server) -> StartFinding? {
        guard case .file(let path, exists: true) = masterKey, !server.hasContent else { return nil }
        return StartFinding(
            .masterKeyWithoutDatabase, "there is a master key \(path), but the database \(databasePath) is empty",
            why: "the daemon begins with an empty database",
            remedy: "if this is not the first start, stop the daemon and check 'store.postgresql.connection'")
    }
}
