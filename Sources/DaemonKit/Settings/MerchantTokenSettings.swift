package import AppleGateway
package import MerchantOperations
package import PortalServer
import Vocabulary

/// `merchant-tokens`: the notifications of Apple's merchant tokens, and their events.
package struct MerchantTokenSettings: Sendable {
    /// Which notifications the portal accepts.
    package let notifications: TokenNotificationPolicy
    package let policy: MerchantTokenPolicy
    /// The method with which the daemon fetches events from Apple.
    package let eventMethod: AppleGateway.EventMethod
    /// nil if the settings name no hook for usage information.
    package let usageInformation: UsageInformationSettings?

    /// The addresses from which Apple sends notifications.
    ///
    /// Source: Apple, Merchant Token Notification Services.
    private static let appleAddresses = ["17.58.0.0/18", "17.58.192.0/18"]

    init(reading reader: SettingsReader, environment: Environment) {
        let prefix = reader.value(
            "merchant-tokens.path", .path, default: "/tokenapi",
            "The beginning of the paths at which the portal receives notifications of merchant tokens.")
        let merchant = reader.optional(
            "merchant-tokens.merchant-identifier", .merchantIdentifier,
            whenUnset: "the only platformintegrator.… identifier",
            "The merchant of the notifications whose path contains no secret.")
        let sources = reader.list(
            "merchant-tokens.sources", .addressRange,
            whenUnset: "\(Self.appleAddresses.joined(separator: ", ")); in the sandbox environment any address",
            "The addresses from which the portal accepts notifications.")
        let perMinute = reader.value(
            "merchant-tokens.notifications-per-minute", .integer(in: 1...1_000_000), default: "6000",
            "How many notifications one address can send in a minute.")
        var policy = MerchantTokenPolicy()
        policy.merchantIdentifier = merchant
        policy.waitingPerAddress = reader.value(
            "merchant-tokens.waiting-per-address", .integer(in: 1...1_000_000), default: "10000",
            "How many notifications from one address can wait for their events to be fetched from Apple.")
        policy.waiting = reader.value(
            "merchant-tokens.waiting", .integer(in: 10...10_000_000), default: "100000",
            "How many notifications can wait in all. One address can use at most a tenth of this number.")
        eventMethod = reader.value(
            "merchant-tokens.event-method", .eventMethod, default: "GET",
            "The HTTP method with which the daemon fetches events from Apple: GET or POST.")
        policy.recordsPayments = reader.value(
            "merchant-tokens.record-payments", .boolean, default: "true",
            "Whether the daemon records the merchant tokens of the payment tokens that it decrypts.")
        policy.storesMPANs = reader.value(
            "merchant-tokens.store-mpan", .boolean, default: "false",
            "Whether the daemon stores the account numbers of merchant tokens (MPANs), sealed.")
        self.policy = policy
        usageInformation = reader.collect { try UsageInformationSettings.read(reader) } ?? nil
        let standardSources =
            environment == .production ? Self.appleAddresses.compactMap(AddressRange.init(text:)) : nil
        notifications = TokenNotificationPolicy(
            prefix: prefix, sources: sources ?? standardSources, perMinute: perMinute)
    }
}

extension SettingFormat where Value == TokenNotificationPrefix {
    fileprivate static var path: Self {
        Self(
            expectation:
                "expected a path such as /tokenapi, of at most \(TokenNotificationPrefix.longest) characters, which does not end with a slash or begin with the path of a page or REST route"
        ) { TokenNotificationPrefix(text: $0) }
    }
}

extension SettingFormat where Value == AppleGateway.EventMethod {
    fileprivate static var eventMethod: Self {
        Self(expectation: "expected GET or POST") { AppleGateway.EventMethod(rawValue: $0) }
    }
}
