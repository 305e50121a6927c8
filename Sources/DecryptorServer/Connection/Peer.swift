import LocalSocket
import MerchantCore
import MerchantOperations
import Vocabulary

/// Who is at the other end of a connection, and what it was granted when it connected.
struct Peer: Sendable {
    let caller: Caller
    let grants: [Grant]
    /// Whose share of the server its connection uses.
    let holder: Shares.Holder
    /// Brings what was refused into the audit.
    let refusals: RefusalLog

    /// - Parameter key: what the request names, read where it is refused.
    /// - Throws: `forbidden`, naming the permit that is missing.
    func require(_ permit: RoutePermit, of key: () -> PublicKeyHash?) throws(MerchantError) {
        switch permit {
        case .permit(let permit):
            do { try grants.require(permit) } catch { throw noted(error, permit, key(), nil) }
        case .any:
            guard !grants.allowNothing else {
                throw noted(MerchantError(.forbidden, "the caller has no permit, expected any"), nil, key(), nil)
            }
        }
    }

    /// - Parameter merchant: nil for whichever.
    /// - Throws: `forbidden`, naming the permit that is missing.
    func require(
        _ permit: Permit, of key: PublicKeyHash? = nil, for merchant: MerchantIdentifier? = nil
    ) throws(MerchantError) {
        do {
            if let merchant { try grants.require(permit, for: merchant) } else { try grants.require(permit) }
        } catch { throw noted(error, permit, key, merchant) }
    }

    private func noted(
        _ error: MerchantError, _ permit: Permit?, _ key: PublicKeyHash?, _ merchant: MerchantIdentifier?
    ) -> MerchantError {
        refusals.note(Refusal(by: caller, permit: permit, key: key, merchant: merchant))
        return error
    }
}
