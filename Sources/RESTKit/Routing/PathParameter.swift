package import MerchantCore
package import Vocabulary

/// The parameter in a route's path, which identifies a resource. Each route needs one permit, such as `read`. The
/// caller must have this permit for the merchant that owns the resource.
package protocol PathParameter: TextValue {
    /// The parameter's name in the path's template.
    static var name: String { get }

    /// - Returns: the merchant that owns the resource; nil if no merchant owns the resource. The caller then needs the
    ///   permit for every merchant.
    /// - Throws: ``notFoundError`` if the owner must be read from the store and there is no such resource.
    func owner(_ owners: some ResourceOwners) async throws -> MerchantIdentifier?

    /// The error for a resource that does not exist. The use cases throw the same error.
    var notFoundError: MerchantError { get }
}

extension MerchantIdentifier: PathParameter {
    package static let name = "merchantIdentifier"

    package func owner(_ owners: some ResourceOwners) -> MerchantIdentifier? { self }

    package var notFoundError: MerchantError { .merchantNotFound(self) }
}

extension PublicKeyHash: PathParameter {
    package static let name = "publicKeyHash"

    package func owner(_ owners: some ResourceOwners) async throws -> MerchantIdentifier? {
        try await owners.owner(ofKey: self)
    }

    package var notFoundError: MerchantError { .keyNotFound(self) }
}

extension PartnerInternalMerchantIdentifier: PathParameter {
    package static let name = "partnerInternalMerchantIdentifier"

    package func owner(_ owners: some ResourceOwners) async throws -> MerchantIdentifier? {
        try await owners.owner(ofRegistration: self)
    }

    package var notFoundError: MerchantError { .registrationNotFound(self) }
}

extension MerchantTokenIdentifier: PathParameter {
    package static let name = "merchantTokenIdentifier"

    package func owner(_ owners: some ResourceOwners) async throws -> MerchantIdentifier? {
        try await owners.owner(ofMerchantToken: self)
    }

    package var notFoundError: MerchantError { .merchantTokenNotFound(self) }
}

/// The number of a roll.
package struct RollNumber: PathParameter {
    package static let name = "rollId"

    package let number: Int

    /// Accepts at most 18 digits, because every such number fits an `Int`.
    package init?(text: String) {
        guard text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text)
        else { return nil }
        self.number = number
    }

    package var text: String { String(number) }

    package static func refusal(of text: String) -> String { "is not a roll's number, expected digits" }

    package func owner(_ owners: some ResourceOwners) async throws -> MerchantIdentifier? {
        try await owners.owner(ofRoll: number)
    }

    package var notFoundError: MerchantError { .rollNotFound(number) }
}
