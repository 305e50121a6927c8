package import LocalHooks

/// `merchant-tokens.usage-information`: the hook that provides the usage information of merchant tokens, and the
/// private key that authenticates the encrypted information.
package struct UsageInformationSettings: Hashable, Sendable {
    package let endpoint: LocalEndpoint
    /// The path of a PEM file.
    package let privateKey: String
    /// How long one call of the hook may take.
    package let timeLimit: Duration

    /// - Returns: nil if the settings name no hook.
    static func read(_ reader: SettingsReader) throws -> UsageInformationSettings? {
        let endpoint = reader.optional(
            urlName, .localEndpoint,
            whenUnset: "none: requests for usage information get 404",
            "The URL of an HTTP server on this machine that responds with the usage information of a merchant token.")
        let privateKey = reader.optional(
            privateKeyName, .text,
            whenUnset: "required with merchant-tokens.usage-information.url",
            "The PEM file with the P-384 private key that authenticates usage information, mode 0600 or 0640."
        )
        let timeLimit = reader.value(
            "merchant-tokens.usage-information.time-limit", .timeout, default: "5s",
            "How long one call of the server of merchant-tokens.usage-information.url may take.")
        guard reader.isSet(urlName) == reader.isSet(privateKeyName) else {
            throw SettingsError("of '\(urlName)' and '\(privateKeyName)' only one is set; set both or none")
        }
        // nil also for a value that the reader has refused.
        guard let endpoint, let privateKey else { return nil }
        return UsageInformationSettings(endpoint: endpoint, privateKey: privateKey, timeLimit: timeLimit)
    }

    private static let urlName = "merchant-tokens.usage-information.url"
    private static let privateKeyName = "merchant-tokens.usage-information.private-key"
}

extension SettingFormat where Value == LocalEndpoint {
    static var localEndpoint: Self { Self(expectation: LocalEndpoint.expectation) { LocalEndpoint(text: $0) } }
}
