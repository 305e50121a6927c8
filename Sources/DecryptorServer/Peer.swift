import LocalSocket
import MerchantCore

/// Who is at the other end of a connection, and what it was granted when it connected.
struct Peer: Sendable {
    let caller: Caller
    let grants: [Grant]

    /// Whose share of the connections its own counts on.
    var holder: ConnectionShares.Holder {
        grants.allowNothing ? .stranger : .user(uid: caller.uid)
    }

    /// - Throws: `forbidden`, naming the permit that is missing.
    func require(_ permit: RoutePermit) throws(MerchantError) {
        switch permit {
        case .permit(let permit): try grants.require(permit)
        case .any:
            guard !grants.allowNothing else {
                throw MerchantError(.forbidden, "the caller has no permit, expected any")
            }
        }
    }
}
