import MerchantCore
import Vocabulary

/// `roll`: when and how rolls replace keys. The defaults are those of ``RollPolicy``.
extension RollPolicy {
    init(reading reader: SettingsReader) throws {
        self.init()
        renewBefore = try reader.value(
            "roll.renew-before", .duration(inDays: 1...730), default: "60d",
            "How long before a current certificate expires its successor is prepared.")
        jitter = try reader.value(
            "roll.renewal-jitter", .duration(inDays: 0...365), default: "14d",
            "How far merchants' preparations are spread over the time before that.")
        quietPeriod = try reader.value(
            "roll.quiet-period", .duration(inDays: 0...365), default: "7d",
            "How long the old key must not have been requested before a roll may revoke it.")
        promotesOnFirstDecryption = try reader.value(
            "roll.promote-on-proof", .boolean, default: "true",
            "Whether the first token that is decrypted with a roll's new key promotes it.")
        finishesWhenQuiet = try reader.value(
            "roll.finish-when-quiet", .boolean, default: "false",
            "Whether the daemon finishes a quiet roll, which revokes the old key.")
    }
}
