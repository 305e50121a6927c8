import MerchantCore
import Vocabulary

/// `roll`: when and how rolls replace the keys of merchants. The defaults are those of ``RollPolicy``.
extension RollPolicy {
    init(reading reader: SettingsReader) {
        self.init()
        renewBefore = reader.value(
            "roll.renew-before", .duration(inDays: 1...730), default: "60d",
            "The daemon starts a roll this long before the current certificate expires.")
        jitter = reader.value(
            "roll.renewal-jitter", .duration(inDays: 0...365), default: "14d",
            "For each merchant, a fixed time between 0 and this value is added to roll.renew-before.")
        quietPeriod = reader.value(
            "roll.quiet-period", .duration(inDays: 0...365), default: "7d",
            "A roll may revoke the old key when decryptors have sent no request for that key during this time.")
        promotesOnFirstDecryption = reader.value(
            "roll.promote-on-decryption", .boolean, default: "true",
            "Whether a roll's new key becomes current when the daemon first decrypts a genuine token with that key.")
        finishesWhenQuiet = reader.value(
            "roll.finish-when-quiet", .boolean, default: "false",
            "Whether the daemon finishes a roll, that is, revokes the old key, when the old key is no longer used.")
    }
}
