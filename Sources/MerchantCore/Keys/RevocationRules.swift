/// When a key pair may be withdrawn, and what has to be said first.
package enum RevocationRules {
    /// The one reason that overrides the refusal to leave a merchant without an active key.
    package static let compromised = "compromised"
    /// The longest reason, in UTF-8 bytes. Apple's bound on the reason of an unregistration.
    package static let longestReason = 1024

    /// - Parameter remaining: how many active key pairs for the same purpose the merchant would have left.
    /// - Returns: what the caller should be asked or told before it is done.
    /// - Throws: `lastActiveKey` where the last one would go for any reason but ``compromised``.
    package static func judge(
        wasActive: Bool, remaining: Int, target: Int, reason: String
    ) throws(MerchantError) -> [String] {
        guard wasActive else { return [] }
        if remaining == 0 {
            guard reason == compromised else {
                throw MerchantError(
                    .lastActiveKey,
                    "this is the merchant's last active key and its payments would stop, expected another active key first, or the reason '\(compromised)'"
                )
            }
            return ["this is the merchant's last active key: its payments stop until another is active"]
        }
        guard remaining < target else { return [] }
        return [
            "leaves \(remaining) active key pair\(remaining == 1 ? "" : "s"), the merchant is meant to have \(target)"
        ]
    }
}
