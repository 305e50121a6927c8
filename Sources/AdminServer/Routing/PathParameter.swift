import MerchantCore
import ServerKit
import Vocabulary

/// The parameter in a route's path, which identifies a resource. Each route needs one permit, such as `read`. The
/// caller must have this permit for the merchant that owns the resource.
protocol PathParameter: TextValue {
    /// The parameter's name in the path's template.
    static var name: String { get }

    /// - Returns: the merchant that owns the resource; nil if the caller's permit must not be limited to some
    ///   merchants.
    /// - Throws: an error such as `keyNotFound` if there is no such resource.
    func owner(_ handlers: AdminHandlers) async throws -> MerchantIdentifier?
}

extension MerchantIdentifier: PathParameter {
    static let name = "merchantIdentifier"

    func owner(_ handlers: AdminHandlers) -> MerchantIdentifier? { self }
}

extension PublicKeyHash: PathParameter {
    static let name = "publicKeyHash"

    func owner(_ handlers: AdminHandlers) async throws -> MerchantIdentifier? { try await handlers.owner(of: self) }
}

/// A registration may belong to no merchant of this daemon. The routes of registrations therefore need a permit
/// that is not limited to some merchants.
extension PartnerInternalMerchantIdentifier: PathParameter {
    static let name = "partnerInternalMerchantIdentifier"

    func owner(_ handlers: AdminHandlers) -> MerchantIdentifier? { nil }
}

/// The number of a roll.
struct RollNumber: PathParameter {
    static let name = "rollId"

    let number: Int

    /// Accepts at most 18 digits, because every such number fits an `Int`.
    init?(text: String) {
        guard text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text)
        else { return nil }
        self.number = number
    }

    var text: String { String(number) }

    static func refusal(of text: String) -> String { "is not a roll's number, expected digits" }

    func owner(_ handlers: AdminHandlers) async throws -> MerchantIdentifier? {
        try await handlers.owner(ofRoll: number)
    }
}
