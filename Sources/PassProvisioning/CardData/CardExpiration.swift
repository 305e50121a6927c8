import FoundationEssentials

/// The check whether a card has expired. A card is valid until the end of the month of its expiration date.
enum CardExpiration {
    /// The month ends last in the time zone UTC-12.
    private static let latestTimeZone: TimeInterval = -12 * 3_600

    /// - Parameters:
    ///   - text: the expiration date as MM/YY, with a year of the 21st century. Its form must be valid.
    ///   - now: the time with which the date is compared.
    static func isPast(_ text: String, at now: Date) -> Bool {
        // Texts such as "2026-11" have the same order as the months.
        let month = "20\(text.suffix(2))-\(text.prefix(2))"
        let present = now.addingTimeInterval(latestTimeZone).formatted(.iso8601).prefix(7)
        return month < present
    }
}
