import MerchantCore

extension MerchantTokenPolicy {
    /// How many notifications from one address may wait: the smallest of ``waitingPerAddress``, a tenth of ``waiting``,
    /// and the number of places that are still free. So an address gets at most half of the places that the other
    /// addresses do not use, and even many addresses together leave places for a further address.
    ///
    /// - Parameter total: the number of notifications that wait, from all addresses.
    func places(total: Int) -> Int { min(waitingPerAddress, max(1, waiting / 10), waiting - total) }

    /// Whether the daemon tries again later to fetch an event after Apple responded with 403.
    ///
    /// A 403 may be temporary, so a real event must not be lost. But if Apple also responds with 403 for events that do
    /// not exist, each forged notification would use a place for 7 days. So these events use at most half of the places
    /// of their address, and the other half stays free for further notifications.
    func keepsForbiddenEvent(from source: String, in reading: any TokenNotificationReading) throws -> Bool {
        let places = places(total: try reading.waitingTokenNotifications().waiting)
        return try reading.waitingTokenNotifications(from: source) <= max(1, places / 2)
    }
}
