package import MerchantCore
package import MerchantOperations
import Vocabulary

/// The key pairs of a merchant with all details, and a link that starts a roll.
package struct MerchantKeysPage: HTMLPage {
    private struct Content {
        let alert: AlertContent?
        let timeline: KeyTimelineContent?
        let hasKeys: Bool
        let keyRows: [KeyContent]
        let hasOpenRoll: Bool
        let rollPath = PortalPaths.roll
    }

    private let merchant: Merchant
    private let keys: [PageKey]
    private let hasOpenRoll: Bool
    private let outcome: PageOutcome?

    package let area = PageArea.keys
    package let template = PageTemplate.keys

    package init(merchant: Merchant, keys: [PageKey], hasOpenRoll: Bool, outcome: PageOutcome? = nil) {
        self.merchant = merchant
        self.keys = keys.forPayments
        self.hasOpenRoll = hasOpenRoll
        self.outcome = outcome
    }

    package init(merchant: Merchant, keys: [KeyView], rolls: [RollView], outcome: PageOutcome? = nil) {
        self.init(
            merchant: merchant, keys: keys.map { PageKey($0) },
            hasOpenRoll: rolls.contains { PageRoll($0).isOpen }, outcome: outcome)
    }

    package var status: Int { outcome?.status ?? 200 }
    package var isProblem: Bool { outcome?.isProblem ?? false }

    package func title(_ text: PageText) -> String { text[.keysTitle] }

    package func content(_ text: PageText) -> Any {
        Content(
            alert: outcome?.alert(text, merchant: merchant.identifier.rawValue),
            timeline: KeyTimelineContent(keys, text), hasKeys: !keys.isEmpty,
            keyRows: keys.map { KeyContent($0, text) }, hasOpenRoll: hasOpenRoll)
    }
}
