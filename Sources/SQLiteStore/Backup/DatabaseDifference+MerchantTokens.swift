extension DatabaseDifference.Kind.Query {
    static let merchantTokens = Self(
        table: "merchant_tokens",
        columns: """
            newer.identifier, newer.merchant_identifier, newer.state AS was,
            CASE WHEN older.state = newer.state THEN older.state || ' with another notification URL'
                ELSE older.state END AS now
            """,
        fromAndWhere: """
            FROM main.merchant_tokens AS newer
                LEFT JOIN older.merchant_tokens AS older ON older.identifier = newer.identifier
            WHERE older.state IS NOT newer.state OR older.notification_url IS NOT newer.notification_url
            """,
        order: "older.state IS NULL, newer.identifier")

    /// Does not read the secrets, so that no report contains one.
    static let tokenNotificationPaths = Self(
        table: "token_notification_paths",
        columns: "newer.merchant_identifier, 'stored' AS was, NULL AS now",
        fromAndWhere: """
            FROM main.token_notification_paths AS newer
                LEFT JOIN older.token_notification_paths AS older ON older.secret = newer.secret
            WHERE older.secret IS NULL
            """,
        order: "newer.merchant_identifier, newer.id")

    /// Compares only notifications that wait. Nothing is left to do for the others.
    static let tokenNotifications = Self(
        table: "token_notifications",
        columns: "newer.event_id, newer.merchant_identifier, newer.state AS was, NULL AS now",
        fromAndWhere: """
            FROM main.token_notifications AS newer LEFT JOIN older.token_notifications AS older
                ON older.event_id = newer.event_id AND older.merchant_identifier = newer.merchant_identifier
            WHERE newer.state = 'waiting' AND older.sequence IS NULL
            """,
        order: "newer.sequence")
}
