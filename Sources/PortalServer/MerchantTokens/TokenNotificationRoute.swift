import HTTPKit

/// The path of a notification: `{prefix}[/{secret}]/notification/merchantToken/{eventId}`. Apple appends the part after
/// the secret to the merchant's `tokenNotificationURL`.
struct TokenNotificationRoute: Hashable, Sendable {
    /// nil if the merchant's URL has no secret.
    let secret: String?
    /// Text of the client, which may be no valid identifier.
    let event: String

    /// The templates of the paths, as in `schema/openapi.yaml`: with the default prefix, so that the names in metrics do
    /// not depend on the settings.
    static let names: [(method: String, path: String)] = [
        ("GET", "/tokenapi/notification/merchantToken/{eventId}"),
        ("GET", "/tokenapi/{secret}/notification/merchantToken/{eventId}"),
    ]

    /// The index of the route in ``names``.
    var index: Int { secret == nil ? 0 : 1 }

    /// Ignores empty segments, because Apple's path has one if a merchant's URL ends with a slash.
    ///
    /// - Returns: nil if the path is no path of a notification.
    init?(path: Substring, prefix: TokenNotificationPrefix) {
        guard path.hasPrefix("\(prefix)/") else { return nil }
        let segments = path.dropFirst(prefix.text.count).split(separator: "/")
        guard (3...4).contains(segments.count), segments.dropLast().suffix(2) == ["notification", "merchantToken"]
        else { return nil }
        secret = segments.count == 4 ? Self.decoded(segments[0]) : nil
        event = Self.decoded(segments[segments.count - 1])
    }

    /// A text that is not percent-encoded correctly stays as it is: it is no valid identifier then.
    private static func decoded(_ segment: Substring) -> String { PercentDecoding.decode(segment) ?? String(segment) }
}
