package import Vocabulary

/// The errors for resources that do not exist. The portal also responds with them to a request for a resource of
/// another merchant, so that a caller cannot find out whether the resource exists.
extension MerchantError {
    /// For an unknown merchant, and for a merchant that was removed.
    package static func merchantNotFound(_ identifier: MerchantIdentifier) -> MerchantError {
        MerchantError(
            .merchantNotFound,
            "there is no merchant \(identifier): check the spelling, or let an admin add it with 'merchant add'")
    }

    package static func keyNotFound(_ hash: PublicKeyHash) -> MerchantError {
        MerchantError(.keyNotFound, "there is no key pair with publicKeyHash \(hash): check the spelling")
    }

    package static func rollNotFound(_ number: Int) -> MerchantError {
        MerchantError(.rollNotFound, "there is no roll \(number): list the rolls to find its number")
    }

    package static func registrationNotFound(_ partner: PartnerInternalMerchantIdentifier) -> MerchantError {
        MerchantError(
            .registrationNotFound,
            "there is no registration \(partner): check the spelling, or list the registrations")
    }

    package static func accessNotFound(_ name: AccessName) -> MerchantError {
        MerchantError(.accessNotFound, "there is no access \(name)")
    }

    package static func invitationNotFound(_ identifier: InvitationIdentifier) -> MerchantError {
        MerchantError(.invitationNotFound, "there is no invitation \(identifier)")
    }

    package static func merchantTokenNotFound(_ identifier: MerchantTokenIdentifier) -> MerchantError {
        MerchantError(
            .merchantTokenNotFound,
            "there is no merchant token \(identifier): the daemon knows the tokens of decrypted payments and of notifications; 'merchant-token list' shows them"
        )
    }

    package static func mpanNotStored(_ identifier: MerchantTokenIdentifier) -> MerchantError {
        MerchantError(
            .mpanNotStored,
            "no account number (MPAN) of the merchant token \(identifier) is stored: the daemon stores one only if the setting merchant-tokens.store-mpan is true, the token is linked, and an event of Apple contained the number"
        )
    }
}
