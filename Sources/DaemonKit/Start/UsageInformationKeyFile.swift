import KeyCustody
import MerchantCore

/// The file of the setting `merchant-tokens.usage-information.private-key`.
enum UsageInformationKeyFile {
    static func read(_ path: String) throws -> UsageInformationKey {
        do throws(MerchantError) {
            return try UsageInformationKey(reading: path)
        } catch {
            throw SettingsError("'merchant-tokens.usage-information.private-key': \(error.detail)")
        }
    }
}
