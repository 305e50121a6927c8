import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ merchant: Merchant) throws {
        try requireNew(merchant)
        try execute(
            "INSERT INTO merchants (\(MerchantRow.columns)) VALUES (?, ?, ?, ?, ?)", MerchantRow.values(merchant))
    }

    func update(_ merchant: Merchant) throws {
        if merchant.removedAt != nil, let active = try activeKeyPairs(of: merchant.identifier) {
            try merchant.requireUnused(activeKeyPairs: active)
        }
        let changed = try execute(
            "UPDATE merchants SET name = ?, target_active_key_pairs = ?, removed_at = ? WHERE identifier = ?",
            MerchantRow.updateValues(merchant))
        guard changed == 1 else { throw MerchantError.merchantNotFound(merchant.identifier) }
    }

    private func activeKeyPairs(of merchant: MerchantIdentifier) throws -> Int? {
        try firstRow("SELECT active_key_pairs FROM merchants WHERE identifier = ?", [merchant.rawValue]) {
            try $0.integer("active_key_pairs")
        }
    }
}
