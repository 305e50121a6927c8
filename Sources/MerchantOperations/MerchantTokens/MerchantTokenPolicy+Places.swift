import MerchantCore

extension MerchantTokenPolicy {
    /// How many notifications from one address may wait: ``waitingPerAddress``, at most a tenth of ``waiting``, and at
    /// most as many as are still free. So even many addresses together leave places for a further address.
    ///
    /// - Parameter total: the number of notifications that wait, from all addresses.
    func places(total: Int) -> Int { min(waitingPerAddress, max(1, waiting / 10), waiting - total) }

    /// Whether an event that Apple answered with 403 is fetched again later.
    ///
    /// A 403 may be temporary, so a real event must not be lost. But if Apple also answers junk with 403, each junk
    /// notification would use a place for 7 days. So these events use at most half of the places of their address, and
    /// the other half stays free for further notifications.
    func keepsForbiddenEvent(from source: String, in reading: any TokenNotificationReading) throws -> Bool {
        let places = places(total: try reading.waitingTokenNotifications().waiting)
        return try reading.waitingTokenNotifications(from: source) <= max(1, places / 2)
    }
}
