import MerchantCore
import Synchronization
import Vocabulary

/// The links of invitations that operators have just created, until the page after the form shows them.
///
/// The form is followed by a redirect, so that a reload does not send the form again. The store has only a digest of
/// each link, so the link waits here for the next request of the same session. Each link is returned only once.
final class NewInvitationLinks: Sendable {
    private struct Entry: Sendable {
        let invitation: InvitationIdentifier
        /// ``ResumedSession/identifier``.
        let session: String
        let formKey: String
        let input: NewInvitationPage.Input
        /// The link, which contains the secret; nil after it was taken.
        var url: String?
        let expiresAt: Timestamp
    }

    /// How long a link waits. A browser follows a redirect at once.
    private static let life = Duration.seconds(60)
    private static let maximumEntries = 256

    /// The oldest first.
    private let entries = Mutex<[Entry]>([])

    /// Keeps a link. Discards the oldest one if there are too many.
    ///
    /// - Parameters:
    ///   - formKey: the field `idempotencyKey` of the form.
    ///   - input: what was entered in the form.
    func add(
        _ url: String, of invitation: InvitationIdentifier, session: String, formKey: String,
        input: NewInvitationPage.Input, at now: Timestamp
    ) {
        let entry = Entry(
            invitation: invitation, session: session, formKey: formKey, input: input, url: url,
            expiresAt: now.adding(Self.life))
        entries.withLock { entries in
            Self.removeExpired(from: &entries, at: now)
            if entries.count >= Self.maximumEntries { entries.removeFirst() }
            entries.append(entry)
        }
    }

    /// The link of an invitation; nil if it was taken, has expired, or belongs to another session.
    func take(_ invitation: InvitationIdentifier, session: String, at now: Timestamp) -> String? {
        entries.withLock { entries in
            Self.removeExpired(from: &entries, at: now)
            let found = entries.firstIndex { $0.invitation == invitation && $0.session == session }
            guard let index = found else { return nil }
            defer { entries[index].url = nil }
            return entries[index].url
        }
    }

    /// The invitation that the same form has created shortly before; nil if there is none.
    func invitation(
        session: String, formKey: String, input: NewInvitationPage.Input, at now: Timestamp
    ) -> InvitationIdentifier? {
        entries.withLock { entries in
            Self.removeExpired(from: &entries, at: now)
            let found = entries.first { $0.session == session && $0.formKey == formKey && $0.input == input }
            return found?.invitation
        }
    }

    private static func removeExpired(from entries: inout [Entry], at now: Timestamp) {
        entries.removeAll { $0.expiresAt <= now }
    }
}
