import GRDB
import MerchantCore
import Vocabulary

extension StoreReading {
    func auditRecords(
        merchant: MerchantIdentifier?, key: PublicKeyHash?, before cursor: Int?, limit: Int
    ) throws -> [AuditRecord] {
        var conditions = ["sequence < ?"]
        var arguments: StatementArguments = [cursor ?? Int.max]
        if let key {
            conditions.append("public_key_hash = ?")
            arguments += [key.data]
        }
        if let merchant {
            conditions.append("merchant_identifier = ?")
            arguments += [merchant.rawValue]
        }
        let index = key != nil ? "INDEXED BY audit_of_key_pair" : merchant != nil ? "INDEXED BY audit_of_merchant" : ""
        return try every(
            """
            SELECT \(AuditRow.columns) FROM audit \(index)
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY sequence DESC LIMIT ?
            """, arguments + [max(0, limit)], AuditRow.record)
    }
}
