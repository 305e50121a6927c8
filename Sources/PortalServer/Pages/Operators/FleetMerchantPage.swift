package import MerchantCore
import Vocabulary

/// The page about one merchant, for operators. Nothing can be changed on it.
package struct FleetMerchantPage: HTMLPage {
    /// What belongs to the merchant.
    package struct Records: Sendable {
        package var keys: [PageKey] = []
        /// The certificates of each key pair, with the key pair.
        package var certificates: [(key: PageKey, certificate: StoredCertificate)] = []
        package var rolls: [PageRoll] = []
        package var registrations: [PageRegistration] = []
        /// The newest first.
        package var events: [StoredEvent] = []
        /// The newest first.
        package var audit: [AuditRecord] = []

        package init() {}
    }

    private let merchant: Merchant
    private let activeKeyPairs: Int
    private let records: Records

    package let area = PageArea.fleet
    package let template = PageTemplate.fleetMerchant

    package init(_ merchant: Merchant, activeKeyPairs: Int, _ records: Records) {
        self.merchant = merchant
        self.activeKeyPairs = activeKeyPairs
        self.records = records
    }

    package func title(_ text: PageText) -> String { merchant.name ?? merchant.identifier.rawValue }

    package func content(_ text: PageText) -> Any {
        FleetMerchantContent(merchant, activeKeyPairs: activeKeyPairs, records, text)
    }
}
