import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insert(_ merchant: Merchant) throws {
        if let stored = try self.merchant(merchant.identifier) {
            throw MerchantError(
                .merchantExists,
                "merchant \(merchant.identifier) was already added at \(stored.createdAt)\(stored.removedAt.map { " and removed at \($0); the identifier of a removed merchant cannot be used again" } ?? ": change it with 'merchant set', or use another identifier")"
            )
        }
        try execute(MerchantRow.insertion, MerchantRow.values(merchant))
    }

    func update(_ merchant: Merchant) throws {
        if merchant.removedAt != nil, let active = try activeKeyPairs(of: merchant.identifier), active > 0 {
            throw MerchantError(
                .merchantInUse,
                "merchant \(merchant.identifier) has \(active.counted("active key pair")): revoke and destroy its key pairs before you remove the merchant"
            )
        }
        let changed = try execute(MerchantRow.update, MerchantRow.updateValues(merchant))
        guard changed == 1 else {
            throw MerchantError.merchantNotFound(merchant.identifier)
        }
    }

    private func activeKeyPairs(of merchant: MerchantIdentifier) throws -> Int? {
        try firstRow("SELECT active_key_pairs FROM merchants WHERE identifier = $1", [merchant.rawValue]) {
            try $0.integer("active_key_pairs")
        }
    }
}
