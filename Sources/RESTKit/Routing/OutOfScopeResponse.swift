package import MerchantCore
package import ServerKit
package import Vocabulary

/// The response to a request for a resource of a merchant for which the caller has no permit.
package enum OutOfScopeResponse: Sendable {
    /// Status 403. The caller can find out whether the resource exists.
    case forbidden
    /// Status 404, exactly as for a resource that does not exist.
    case notFound

    /// Checks that the caller has a permit for the merchant that owns a resource. If the check fails, the refusal is
    /// recorded for the audit.
    ///
    /// - Parameters:
    ///   - owner: nil if no merchant owns the resource. The caller then needs the permit for every merchant.
    ///   - notFound: the error for a resource that does not exist.
    /// - Throws: `forbidden` if the caller has the permit for no merchant. If the caller has the permit only for other
    ///   merchants, `forbidden` or `notFound`.
    package func check(
        _ permit: Permit, of peer: Peer, for owner: MerchantIdentifier?, notFound: @autoclosure () -> MerchantError
    ) throws(MerchantError) {
        switch self {
        case .forbidden: try Self.require(permit, of: peer, for: owner)
        case .notFound:
            // This error does not depend on the resource, so it reveals nothing.
            try peer.require(permit)
            do throws(MerchantError) { try Self.require(permit, of: peer, for: owner) } catch { throw notFound() }
        }
    }

    private static func require(
        _ permit: Permit, of peer: Peer, for owner: MerchantIdentifier?
    ) throws(MerchantError) {
        if let owner { try peer.require(permit, for: owner) } else { try peer.requireEveryMerchant(permit) }
    }
}
