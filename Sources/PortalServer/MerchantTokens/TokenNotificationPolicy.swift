import ServerKit

/// From where, and how often, the portal accepts Apple's notifications of merchant tokens: settings of the group
/// `merchant-tokens`.
package struct TokenNotificationPolicy: Sendable {
    package var prefix: TokenNotificationPrefix
    /// The addresses from which notifications are accepted; nil for every address.
    package var sources: [AddressRange]?
    /// How many notifications one address can send in a minute. An address can send a sixth of this number at once.
    package var perMinute: Int

    package init(
        prefix: TokenNotificationPrefix = .standard, sources: [AddressRange]? = nil, perMinute: Int = 6000
    ) {
        self.prefix = prefix
        self.sources = sources
        self.perMinute = perMinute
    }

    func accepts(_ address: RemoteAddress) -> Bool {
        sources.map { $0.contains { $0.contains(address) } } ?? true
    }

    var rates: RequestRates.Limits {
        var limits = RequestRates.Limits()
        limits.address = RequestRates.Rate(perMinute: perMinute, burst: max(1, perMinute / 6))
        return limits
    }
}
