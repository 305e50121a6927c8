import MerchantCore
import Vocabulary

extension StoredRow {
    /// Reads the columns `secret_identifier` and `secret_digest`.
    func storedSecret() throws -> StoredSecret {
        StoredSecret(identifier: try text("secret_identifier"), digest: try bits256("secret_digest"))
    }

    /// Reads the columns `operator_uid` and `operator_groups`.
    func operatorUser() throws -> (uid: UInt32, groups: Set<UInt32>) {
        let groups: [UInt32] = try text("operator_groups").split(separator: ",").map {
            try value(UInt32($0), of: "operator_groups")
        }
        return (try smallInteger(UInt32.self, "operator_uid"), Set(groups))
    }
}

extension Set<UInt32> {
    /// The numbers as the column `operator_groups` stores them: sorted, separated by commas.
    var groupsText: String { sorted().map { String($0) }.joined(separator: ",") }
}
