import StoreCore

extension DatabaseDifference.Kind {
    /// The SQL query that finds the changes of one kind. `newer` is a row of the database before the restore, in the
    /// schema `main`. `older` is the matching row of the restored backup, in the schema `older`, with NULL in all
    /// columns if there is no such row.
    ///
    /// The column `was` describes the state before the restore, and `now` the state after it. The restore replaces the
    /// newer database by the older one, so `was` is about `newer`, and `now` is about `older`. Either text may depend
    /// on both rows.
    ///
    /// Rows are matched by values that never change. They are not matched by id, because a row may have another id in
    /// the other database.
    struct Query {
        /// The main table of the query. If the newer database lacks this table, the query is skipped.
        let table: String
        /// The columns that ``DatabaseDifference/Change`` reads.
        let columns: String
        /// The clauses `FROM` and `WHERE`, with these keywords.
        let fromAndWhere: String
        /// The columns by which the rows are sorted.
        let order: String
    }

    var query: Query {
        switch self {
        case .usableAgain:
            .keyPairs("newer.state IN ('revoked', 'destroyed') AND older.state IN ('standby', 'current', 'retiring')")
        case .missing: .keyPairs("older.state IS NULL")
        case .destructionUndone: .keyPairs("newer.state = 'destroyed' AND older.state IN ('pending', 'revoked')")
        case .earlierState:
            .keyPairs(
                """
                newer.state <> older.state AND newer.state <> 'destroyed'
                    AND NOT (newer.state = 'revoked' AND older.state IN ('standby', 'current', 'retiring'))
                """)
        case .destructions:
            .keyPairs(
                """
                newer.state <> 'destroyed' AND older.state = 'revoked' AND older.destroy_after IS NOT newer.destroy_after
                """,
                beforeRestore: "iif(newer.destroy_after IS NULL, 'no destruction scheduled', 'destruction scheduled')",
                afterRestore: """
                    iif(
                        older.destroy_after IS NULL, 'no destruction scheduled',
                        iif(
                            newer.destroy_after IS NULL, 'destruction scheduled',
                            'destruction scheduled at another time'))
                    """)
        case .exports:
            .keyPairs(
                "newer.exported_at IS NOT NULL AND older.state IS NOT NULL AND older.exported_at IS NULL",
                beforeRestore: "'exported'", afterRestore: "'not exported'")
        case .certificates: .certificates
        case .rolls: .rolls
        case .registrations: .registrations
        case .merchants: .merchants
        case .accesses: .accesses
        case .invitations: .invitations
        case .tokenNotificationPaths: .tokenNotificationPaths
        case .tokenNotifications: .tokenNotifications
        case .merchantTokens: .merchantTokens
        }
    }
}

extension DatabaseDifference.Kind.Query {
    /// The query for a kind of change of key pairs.
    ///
    /// - Parameters:
    ///   - condition: the SQL condition that selects the changed key pairs.
    ///   - beforeRestore: the SQL expression for the state before the restore.
    ///   - afterRestore: the SQL expression for the state after the restore.
    fileprivate static func keyPairs(
        _ condition: String, beforeRestore: String = "newer.state", afterRestore: String = "older.state"
    ) -> Self {
        Self(
            table: "key_pairs",
            columns:
                "newer.public_key_hash, newer.merchant_identifier, \(beforeRestore) AS was, \(afterRestore) AS now",
            fromAndWhere: """
                FROM main.key_pairs AS newer LEFT JOIN older.key_pairs AS older
                    ON older.public_key_hash = newer.public_key_hash
                WHERE \(condition)
                """,
            order: "newer.merchant_identifier, newer.id")
    }

    fileprivate static let certificates = Self(
        table: "certificates",
        columns: """
            newer.serial_number, newer.public_key_hash, key.merchant_identifier, 'stored' AS was, NULL AS now
            """,
        fromAndWhere: """
            FROM main.certificates AS newer
                JOIN main.key_pairs AS key ON key.public_key_hash = newer.public_key_hash
                LEFT JOIN older.certificates AS older ON older.fingerprint = newer.fingerprint
            WHERE older.fingerprint IS NULL
            """,
        order: "key.merchant_identifier, newer.id")

    fileprivate static let rolls = Self(
        table: "rolls",
        columns: """
            newer.id, newer.to_key AS public_key_hash, newer.merchant_identifier, newer.step AS was, older.step AS now
            """,
        fromAndWhere: """
            FROM main.rolls AS newer LEFT JOIN older.rolls AS older
                ON older.merchant_identifier = newer.merchant_identifier
                    AND older.to_key = newer.to_key AND older.started_at = newer.started_at
            WHERE older.step IS NOT newer.step
            """,
        order: "newer.merchant_identifier, newer.id")

    /// Compares what should be registered, and not what Apple has registered, because `registration sync` reads Apple's
    /// state again.
    ///
    /// `desired_domains` is the number of domains that should be registered, and `known_domains` is the number of
    /// domains that Apple has. If both are 0, nothing was registered. So a registration that is missing after the
    /// restore is a change only if one of the two numbers is above 0.
    fileprivate static let registrations = Self(
        table: "registrations",
        columns: """
            newer.partner_internal_merchant_identifier, newer.merchant_identifier,
            \(desiredStateText("newer")) AS was,
            CASE WHEN older.id IS NULL THEN NULL
                WHEN older.desired_domains = newer.desired_domains THEN \(desiredStateText("older")) || ', other content'
                ELSE \(desiredStateText("older")) END AS now
            """,
        fromAndWhere: """
            FROM main.registrations AS newer LEFT JOIN older.registrations AS older
                ON older.partner_internal_merchant_identifier = newer.partner_internal_merchant_identifier
            WHERE (older.id IS NULL AND newer.desired_domains + newer.known_domains > 0)
                OR (older.id IS NOT NULL AND (
                    older.partner_merchant_name <> newer.partner_merchant_name
                    OR older.encrypt_to <> newer.encrypt_to
                    OR older.merchant_url IS NOT newer.merchant_url
                    OR older.merchant_identifier IS NOT newer.merchant_identifier
                    OR EXISTS (\(domains("newer")) EXCEPT \(domains("older")))
                    OR EXISTS (\(domains("older")) EXCEPT \(domains("newer")))))
            """,
        order: "newer.partner_internal_merchant_identifier")

    /// An SQL expression for a text that says what should be registered.
    ///
    /// - Parameter side: `newer` or `older`.
    private static func desiredStateText(_ side: String) -> String {
        """
        CASE \(side).desired_domains WHEN 0 THEN 'unregistered' WHEN 1 THEN 'registered with 1 domain'
            ELSE 'registered with ' || \(side).desired_domains || ' domains' END
        """
    }

    /// A query for the names of the domains that should be registered.
    ///
    /// - Parameter side: `newer` or `older`.
    private static func domains(_ side: String) -> String {
        let schema = side == "newer" ? "main" : "older"
        return """
            SELECT domain_name FROM \(schema).registration_domains
                WHERE registration_id = \(side).id AND is_desired = 1
            """
    }

    fileprivate static let merchants = Self(
        table: "merchants",
        columns: """
            newer.identifier AS merchant_identifier,
            CASE WHEN newer.removed_at IS NOT NULL THEN 'removed' WHEN older.identifier IS NULL THEN 'added'
                ELSE 'changed' END AS was,
            CASE WHEN older.identifier IS NULL THEN NULL
                WHEN newer.removed_at IS NOT NULL AND older.removed_at IS NULL THEN 'not removed'
                ELSE 'with its earlier properties' END AS now
            """,
        fromAndWhere: """
            FROM main.merchants AS newer LEFT JOIN older.merchants AS older ON older.identifier = newer.identifier
            WHERE older.identifier IS NULL
                OR \(MerchantRow.propertyColumns.map { "older.\($0) IS NOT newer.\($0)" }.joined(separator: " OR "))
                OR (older.removed_at IS NULL) <> (newer.removed_at IS NULL)
            """,
        order: "newer.identifier")
}

// MARK: - Access to the portal

extension DatabaseDifference.Kind.Query {
    /// Compares whether the access is revoked, and its tokens. A revoked access that is missing after the restore is no
    /// change, because it is not valid in either database.
    fileprivate static let accesses = Self(
        table: "accesses",
        columns: """
            newer.name, NULL AS merchant_identifier, \(accessState("newer")) AS was,
            CASE WHEN older.id IS NULL THEN NULL
                WHEN (older.revoked_at IS NULL) = (newer.revoked_at IS NULL)
                    THEN \(accessState("older")) || ' with other tokens'
                ELSE \(accessState("older")) END AS now
            """,
        fromAndWhere: """
            FROM main.accesses AS newer LEFT JOIN older.accesses AS older ON older.name = newer.name
            WHERE (older.id IS NULL AND newer.revoked_at IS NULL)
                OR (older.id IS NOT NULL AND (older.revoked_at IS NULL) <> (newer.revoked_at IS NULL))
                OR (older.id IS NOT NULL AND newer.revoked_at IS NULL AND (
                    EXISTS (\(tokenDigests("newer")) EXCEPT \(tokenDigests("older")))
                    OR EXISTS (\(tokenDigests("older")) EXCEPT \(tokenDigests("newer")))))
            """,
        order: "newer.name")

    /// An SQL expression that says whether the access is revoked.
    ///
    /// - Parameter side: `newer` or `older`.
    private static func accessState(_ side: String) -> String {
        "iif(\(side).revoked_at IS NULL, 'not revoked', 'revoked')"
    }

    /// A query for the digests of the access's tokens, and their expiry.
    ///
    /// - Parameter side: `newer` or `older`.
    private static func tokenDigests(_ side: String) -> String {
        let schema = side == "newer" ? "main" : "older"
        return """
            SELECT secret_digest, expires_at FROM \(schema).access_secrets WHERE access_id = \(side).id
            """
    }

    /// An invitation that is missing after the restore is a change only if it was open: neither used nor revoked.
    fileprivate static let invitations = Self(
        table: "invitations",
        columns: """
            newer.identifier, newer.merchant_identifier, \(invitationState("newer")) AS was,
            CASE WHEN older.id IS NULL THEN NULL ELSE \(invitationState("older")) END AS now
            """,
        fromAndWhere: """
            FROM main.invitations AS newer LEFT JOIN older.invitations AS older ON older.identifier = newer.identifier
            WHERE (older.id IS NULL AND newer.used_at IS NULL AND newer.revoked_at IS NULL)
                OR (older.id IS NOT NULL AND \(invitationState("older")) <> \(invitationState("newer")))
            """,
        order: "newer.merchant_identifier, newer.id")

    /// An SQL expression that says whether the invitation was used or revoked.
    ///
    /// - Parameter side: `newer` or `older`.
    private static func invitationState(_ side: String) -> String {
        """
        CASE WHEN \(side).revoked_at IS NOT NULL THEN 'revoked' WHEN \(side).used_at IS NOT NULL THEN 'used'
            ELSE 'open' END
        """
    }
}
