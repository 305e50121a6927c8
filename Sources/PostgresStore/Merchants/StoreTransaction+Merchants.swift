import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ merchant: Merchant) throws {
        try requireNew(merchant)
        try executeLater(
            "INSERT INTO merchants (\(MerchantRow.columns)) VALUES ($1, $2, $3, $4, $5)", MerchantRow.values(merchant))
    }

    func update(_ merchant: Merchant) throws {
        if merchant.removedAt != nil, let active = try activeKeyPairs(of: merchant.identifier) {
            try merchant.requireUnused(activeKeyPairs: active)
        }
        let changed = try execute(
            "UPDATE merchants SET name = $1, target_active_key_pairs = $2, removed_at = $3 WHERE identifier = $4",
            MerchantRow.updateValues(merchant))
        guard changed == 1 else { throw MerchantError.merchantNotFound(merchant.identifier) }
    }

    private func activeKeyPairs(of merchant: MerchantIdentifier) throws -> Int? {
        try firstRow("SELECT active_key_pairs FROM merchants WHERE identifier = $1", [merchant.rawValue]) {
            try $0.integer("active_key_pairs")
        }
    }
}
