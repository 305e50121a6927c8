import KeyCustody
import MerchantCore

/// The data keys that a check has read from a database. Refuses to store new data keys.
struct InspectedDataKeys: DataKeyRepository {
    private let rows: [SealedDataKey]

    init(_ rows: [SealedDataKey]) { self.rows = rows }

    func dataKeys() throws -> [SealedDataKey] { rows }

    func insert(_ dataKey: SealedDataKey) throws {
        throw MerchantError(
            .storeUnavailable, "the database has no data key, and a check does not create one: start the daemon")
    }
}
