package import LocalSocket
package import MerchantCore
package import MerchantOperations
package import Vocabulary

/// The caller of a request, with the caller's permits. On a socket, the permits that the caller had when it connected.
package struct Peer: Sendable {
    package let caller: Caller
    /// The caller's permits, each with the merchants to which the permit applies.
    package let grants: [Grant]
    /// Whose limits apply to the caller: those of one user or client, or those that all users without a permit share.
    package let holder: UserQuotas.Holder
    /// Collects refused requests for the audit.
    private let refusals: RefusalLog

    package init(caller: Caller, grants: [Grant], holder: UserQuotas.Holder, refusals: RefusalLog) {
        self.caller = caller
        self.grants = grants
        self.holder = holder
        self.refusals = refusals
    }

    /// Checks that the caller has a permit.
    ///
    /// - Parameters:
    ///   - key: the key pair that the request names, for the record of a refusal. Evaluated only if the caller is
    ///     refused.
    ///   - merchant: the merchant for which the caller must have the permit. If nil, the permit may be for any
    ///     merchant.
    /// - Throws: `forbidden`, naming the missing permit. The refusal is recorded for the audit.
    package func require(
        _ permit: Permit, of key: @autoclosure () -> PublicKeyHash? = nil, for merchant: MerchantIdentifier? = nil
    ) throws(MerchantError) {
        do {
            if let merchant { try grants.require(permit, for: merchant) } else { try grants.require(permit) }
        } catch {
            recordRefusal(permit, of: key(), for: merchant)
            throw caller.process == nil ? remoteRefusal(permit, for: merchant) : error
        }
    }

    /// Checks that the caller has a permit for all merchants.
    ///
    /// - Throws: `forbidden` if the permit is missing or is only for some merchants. The refusal is recorded for the
    ///   audit.
    package func requireEveryMerchant(_ permit: Permit) throws(MerchantError) {
        try require(permit)
        guard grants.allowsEveryMerchant(permit) else {
            recordRefusal(permit)
            throw MerchantError(
                .forbidden,
                "this request needs the permit '\(permit.rawValue)' for all merchants, but the caller has it only for some: \(advice)"
            )
        }
    }

    /// Checks that the caller has at least one permit.
    ///
    /// - Parameter key: the key pair that the request names, for the record of a refusal. Evaluated only if the caller
    ///   is refused.
    /// - Throws: `forbidden` if the caller has no permit at all. The refusal is recorded for the audit.
    package func requireAnyPermit(of key: @autoclosure () -> PublicKeyHash?) throws(MerchantError) {
        guard !grants.allowNothing else {
            recordRefusal(nil, of: key())
            throw MerchantError(.forbidden, "the caller has no permit at all: \(advice)")
        }
    }

    /// What a caller without a permit must do. A client of the portal cannot read the daemon's settings.
    private var advice: String {
        caller.process == nil ? "ask the platform for other credentials" : "see the setting 'callers'"
    }

    /// The error for a client of the portal that lacks a permit.
    private func remoteRefusal(_ permit: Permit, for merchant: MerchantIdentifier?) -> MerchantError {
        let isForOthers = merchant != nil && grants.contains { $0.permits.contains(permit) }
        return MerchantError(
            .forbidden,
            "this request needs the permit '\(permit.rawValue)'\(isForOthers ? " for this merchant" : ""), which the caller does not have: \(advice)"
        )
    }

    /// Records for the audit that a request was refused because the caller lacks a permit.
    ///
    /// - Parameter permit: the missing permit; nil if the caller has no permit at all.
    package func recordRefusal(
        _ permit: Permit?, of key: PublicKeyHash? = nil, for merchant: MerchantIdentifier? = nil
    ) {
        refusals.note(RefusalKind(by: caller, permit: permit, key: key, merchant: merchant))
    }
}
