import Vocabulary
import WireAPI

extension InvitationDocument {
    var blocks: [Block] {
        [
            .record([
                ("invitation", Cell(invitationId)),
                ("merchant", Cell(merchantIdentifier)),
                ("link", url.map { Cell($0) }),
                ("note", note.map { Cell($0) }),
                ("created by", Cell(createdBy)),
                ("created (UTC)", Cell(time: createdAt)),
                ("expires (UTC)", Cell(time: expiresAt)),
                ("used (UTC)", usedAt.map { Cell(time: $0) }),
                ("revoked (UTC)", revokedAt.map { Cell(time: $0) }),
            ])
        ]
    }

    static func table(_ invitations: [InvitationDocument]) -> Block {
        .table(
            headings: [
                "INVITATION", "MERCHANT", "CREATED (UTC)", "EXPIRES (UTC)", "USED (UTC)", "REVOKED (UTC)", "CREATED BY",
                "NOTE",
            ],
            rows: invitations.map { invitation in
                [
                    Cell(invitation.invitationId), Cell(invitation.merchantIdentifier),
                    Cell(time: invitation.createdAt), Cell(time: invitation.expiresAt), Cell(time: invitation.usedAt),
                    Cell(time: invitation.revokedAt), Cell(invitation.createdBy), Cell(invitation.note),
                ]
            }, details: ["CREATED BY", "CREATED (UTC)", "REVOKED (UTC)"])
    }
}
