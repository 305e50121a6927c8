import MerchantCore
import Vocabulary

/// `roll`: when and how rolls replace keys. The defaults are those of ``RollPolicy``.
extension RollPolicy {
    init(reading reader: SettingsReader) throws {
        self.init()
        renewBefore = try reader.value(
            "roll.renew-before", .duration(inDays: 1...730), default: "60d",
            "How long before the current certificate expires the daemon starts a roll.")
        jitter = try reader.value(
            "roll.renewal-jitter", .duration(inDays: 0...365), default: "14d",
            "For each merchant, a fixed time between 0 and this value is added to roll.renew-before.")
        quietPeriod = try reader.value(
            "roll.quiet-period", .duration(inDays: 0...365), default: "7d",
            "How long decryptors must not have requested the old key before a roll may revoke it.")
        promotesOnFirstDecryption = try reader.value(
            "roll.promote-on-proof", .boolean, default: "true",
            "Whether a roll's new key becomes current when the daemon first decrypts a genuine token with that key.")
        finishesWhenQuiet = try reader.value(
            "roll.finish-when-quiet", .boolean, default: "false",
            "Whether the daemon finishes a roll, that is, revokes the old key, when the old key is no longer used.")
    }
}
