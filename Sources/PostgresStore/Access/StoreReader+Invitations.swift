import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func invitation(_ identifier: InvitationIdentifier) throws -> Invitation? {
        try firstRow(
            "SELECT \(InvitationRow.columns) FROM invitations WHERE identifier = $1", [identifier.rawValue],
            InvitationRow.invitation)
    }

    func invitation(secretIdentifier: String) throws -> Invitation? {
        try firstRow(
            "SELECT \(InvitationRow.columns) FROM invitations WHERE secret_identifier = $1", [secretIdentifier],
            InvitationRow.invitation)
    }

    func invitations(
        of merchant: MerchantIdentifier?, after cursor: InvitationIdentifier?, limit: Int
    ) throws -> [Invitation] {
        let last: Int64 = try cursor.flatMap { try rowId(of: $0) } ?? Int64.max
        guard let merchant else {
            return try allRows(
                "SELECT \(InvitationRow.columns) FROM invitations WHERE id < $1 ORDER BY id DESC LIMIT $2",
                [last, max(0, limit)], InvitationRow.invitation)
        }
        return try allRows(
            """
            SELECT \(InvitationRow.columns) FROM invitations
            WHERE merchant_identifier = $1 AND id < $2 ORDER BY id DESC LIMIT $3
            """, [merchant.rawValue, last, max(0, limit)], InvitationRow.invitation)
    }

    /// The id of the invitation's row; nil if there is none.
    func rowId(of identifier: InvitationIdentifier) throws -> Int64? {
        try firstRow("SELECT id FROM invitations WHERE identifier = $1", [identifier.rawValue]) { try $0.int64("id") }
    }
}
