import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insert(_ merchant: Merchant) throws {
        if let stored = try self.merchant(merchant.identifier) {
            throw MerchantError(
                .merchantExists,
                "merchant \(merchant.identifier) has existed since \(stored.createdAt)\(stored.removedAt.map { " and was removed at \($0)" } ?? ""), expected an identifier that was never used"
            )
        }
        try execute(MerchantRow.insertion, MerchantRow.values(merchant))
    }

    func update(_ merchant: Merchant) throws {
        if merchant.removedAt != nil, let active = try activeKeyPairs(of: merchant.identifier), active > 0 {
            throw MerchantError(
                .merchantInUse,
                "merchant \(merchant.identifier) has \(active) active key pair\(active == 1 ? "" : "s"), expected none")
        }
        let changed = try execute(MerchantRow.update, MerchantRow.updateValues(merchant))
        guard changed == 1 else {
            throw MerchantError(.merchantNotFound, "there is no merchant \(merchant.identifier)")
        }
    }

    private func activeKeyPairs(of merchant: MerchantIdentifier) throws -> Int? {
        try first("SELECT active_key_pairs FROM merchants WHERE identifier = ?", [merchant.rawValue]) {
            try $0.integer("active_key_pairs")
        }
    }
}
