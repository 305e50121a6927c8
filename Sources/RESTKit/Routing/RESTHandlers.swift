package import MerchantCore
package import Vocabulary

/// Finds the merchant that owns a resource, so that a server can check whether the caller has a permit for this
/// merchant.
package protocol ResourceOwners: Sendable {
    /// - Throws: `keyNotFound` if there is no such key pair.
    func owner(ofKey hash: PublicKeyHash) async throws -> MerchantIdentifier

    /// - Throws: `rollNotFound` if there is no such roll.
    func owner(ofRoll number: Int) async throws -> MerchantIdentifier

    /// - Returns: nil if no merchant owns the registration. The caller then needs a permit for every merchant.
    /// - Throws: `registrationNotFound` if there is no such registration.
    func owner(ofRegistration partner: PartnerInternalMerchantIdentifier) async throws -> MerchantIdentifier?

    /// - Throws: `merchantTokenNotFound` if there is no such merchant token, or if the server has no routes of merchant
    ///   tokens.
    func owner(ofMerchantToken token: MerchantTokenIdentifier) async throws -> MerchantIdentifier
}

extension ResourceOwners {
    package func owner(ofMerchantToken token: MerchantTokenIdentifier) async throws -> MerchantIdentifier {
        throw MerchantError.merchantTokenNotFound(token)
    }
}

/// The handlers of one REST server, and the rules by which the server authorizes the callers of its routes.
package protocol RESTHandlers: ResourceOwners {
    /// The permit that a route needs if it only reads and its declaration names no permit.
    static var permitToRead: Permit { get }

    /// The permit that a route needs if it changes something and its declaration names no permit.
    static var permitToChange: Permit { get }

    /// The response to a request for a resource of a merchant for which the caller has no permit.
    static var outOfScope: OutOfScopeResponse { get }
}
