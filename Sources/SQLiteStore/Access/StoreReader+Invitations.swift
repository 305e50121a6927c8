import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func invitation(_ identifier: InvitationIdentifier) throws -> Invitation? {
        try firstRow(
            "SELECT \(InvitationRow.columns) FROM invitations WHERE identifier = ?", [identifier.rawValue],
            InvitationRow.invitation)
    }

    func invitation(secretIdentifier: String) throws -> Invitation? {
        try firstRow(
            "SELECT \(InvitationRow.columns) FROM invitations WHERE secret_identifier = ?", [secretIdentifier],
            InvitationRow.invitation)
    }

    func invitations(
        of merchant: MerchantIdentifier?, after cursor: InvitationIdentifier?, limit: Int
    ) throws -> [Invitation] {
        let last: Int64 = try cursor.flatMap { try rowId(of: $0) } ?? Int64.max
        guard let merchant else {
            return try allRows(
                "SELECT \(InvitationRow.columns) FROM invitations WHERE id < ? ORDER BY id DESC LIMIT ?",
                [last, max(0, limit)], InvitationRow.invitation)
        }
        return try allRows(
            """
            SELECT \(InvitationRow.columns) FROM invitations INDEXED BY invitations_of_merchant
            WHERE merchant_identifier = ? AND id < ? ORDER BY id DESC LIMIT ?
            """, [merchant.rawValue, last, max(0, limit)], InvitationRow.invitation)
    }

    /// The id of the invitation's row; nil if there is none.
    func rowId(of identifier: InvitationIdentifier) throws -> Int64? {
        try firstRow("SELECT id FROM invitations WHERE identifier = ?", [identifier.rawValue]) { try $0.int64("id") }
    }
}
