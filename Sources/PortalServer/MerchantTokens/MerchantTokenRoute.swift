import HTTPKit

/// A path of merchant tokens.
///
/// Apple appends `/notification/merchantToken/{eventId}` to a merchant's `tokenNotificationURL`, and devices append
/// `/v1/merchantToken/{merchantTokenIdentifier}/usageInformation` to its `webServiceURL`.
enum MerchantTokenRoute: Hashable, Sendable {
    /// `{prefix}[/{secret}]/notification/merchantToken/{eventId}`. `secret` is nil if the merchant's URL has none.
    /// `event` is text that the client sent, so it may not be a valid identifier.
    case notification(secret: String?, event: String)
    /// `{prefix}/v1/merchantToken/{merchantTokenIdentifier}/usageInformation`. `token` is text that the
    /// client sent.
    case usageInformation(token: String)

    /// The templates of the paths, as in `schema/openapi.yaml`: with the default prefix, so that the names in metrics
    /// do not depend on the settings.
    static let names: [(method: String, path: String)] = [
        ("GET", "/tokenapi/notification/merchantToken/{eventId}"),
        ("GET", "/tokenapi/{secret}/notification/merchantToken/{eventId}"),
        ("GET", "/tokenapi/v1/merchantToken/{merchantTokenIdentifier}/usageInformation"),
    ]

    /// The index of the route in ``names``.
    var index: Int {
        switch self {
        case .notification(nil, _): 0
        case .notification: 1
        case .usageInformation: 2
        }
    }

    /// Ignores empty segments, because Apple's path has one if a merchant's URL ends with a slash.
    ///
    /// - Returns: nil if the path has neither of the two forms.
    init?(path: Substring, prefix: TokenNotificationPrefix) {
        guard path.hasPrefix("\(prefix)/") else { return nil }
        let segments = path.dropFirst(prefix.text.count).split(separator: "/")
        guard (3...4).contains(segments.count) else { return nil }
        if segments.count == 4, segments[0] == "v1", segments[1] == "merchantToken", segments[3] == "usageInformation" {
            self = .usageInformation(token: Self.decoded(segments[2]))
            return
        }
        guard segments.dropLast().suffix(2) == ["notification", "merchantToken"] else { return nil }
        self = .notification(
            secret: segments.count == 4 ? Self.decoded(segments[0]) : nil,
            event: Self.decoded(segments[segments.count - 1]))
    }

    /// If the percent-encoding is invalid, returns the segment unchanged: it is not a valid identifier in any case.
    private static func decoded(_ segment: Substring) -> String { PercentDecoding.decode(segment) ?? String(segment) }
}
