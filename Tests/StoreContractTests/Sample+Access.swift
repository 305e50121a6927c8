import MerchantCore
import Vocabulary

extension Sample {
    /// The stored form of a secret. No secret matches it.
    static func secret(_ number: Int) -> StoredSecret {
        StoredSecret(identifier: String(10_000_000 + number), digest: hash(number).bits)
    }

    static func accessSecret(_ number: Int, expiresAt: Timestamp? = nil) -> AccessSecret {
        AccessSecret(stored: secret(number), createdAt: time(number), expiresAt: expiresAt)
    }

    static func accessName(_ number: Int) -> AccessName {
        guard let name = AccessName("portal-\(number)") else {
            preconditionFailure("letters, a hyphen and digits are a valid name")
        }
        return name
    }

    /// An access by the token with the same number.
    static func access(_ number: Int) -> Access {
        Access(
            name: accessName(number), permits: [.onboard, .read], merchants: [identifier(1), identifier(2)],
            secrets: [accessSecret(number)], createdAt: time(number), expiresAt: time(1000))
    }

    /// An access by a client certificate to every merchant.
    static func access(_ number: Int, certificate: Int) -> Access {
        Access(
            name: accessName(number), permits: [.onboard], merchants: nil, secrets: [],
            certificateFingerprint: hash(certificate).bits, createdAt: time(number))
    }

    static func invitationIdentifier(_ number: Int) -> InvitationIdentifier {
        guard let identifier = InvitationIdentifier(String(1_000_000_000_000_000 + number)) else {
            preconditionFailure("16 digits are a valid identifier")
        }
        return identifier
    }

    /// An invitation with the secret of the same number; expires 100 seconds after the fixed time.
    static func invitation(_ number: Int, merchant: Int = 0, createdBy creator: String = "uid:1000") -> Invitation {
        Invitation(
            identifier: invitationIdentifier(number), merchantIdentifier: identifier(merchant), secret: secret(number),
            note: "für Anna", createdBy: creator, createdAt: time(0), expiresAt: time(100))
    }

    /// A session of an invitation, with the secret of the same number.
    static func session(_ number: Int, invitation: Int, merchant: Int = 0, at seconds: Int = 0) -> PortalSession {
        PortalSession(
            secret: secret(number), holder: .invitation(invitationIdentifier(invitation), identifier(merchant)),
            createdAt: time(seconds), lastSeenAt: time(seconds))
    }

    /// A session of an operator with the secret of the same number.
    static func session(_ number: Int, uid: UInt32, groups: Set<UInt32> = [], at seconds: Int = 0) -> PortalSession {
        PortalSession(
            secret: secret(number), holder: .operating(uid: uid, groups: groups), createdAt: time(seconds),
            lastSeenAt: time(seconds))
    }

    /// A login with the secret of the same number.
    static func login(_ number: Int, uid: UInt32 = 1000, at seconds: Int = 0) -> OperatorLogin {
        OperatorLogin(
            secret: secret(number), uid: uid, groups: [1000, 27], createdAt: time(seconds),
            expiresAt: time(seconds + 60))
    }
}
