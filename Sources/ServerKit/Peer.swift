package import LocalSocket
package import MerchantCore
package import MerchantOperations
package import Vocabulary

/// The caller of a request, with the caller's permits.
package struct Peer: Sendable {
    /// The properties that never change. They are in one object, because a peer is copied for every request.
    private final class Identity: Sendable {
        let caller: Caller
        let holder: UserQuotas.Holder
        /// Collects refused requests for the audit.
        let refusals: RefusalLog
        /// The setting that gives a process its permits; nil for a caller whose permits do not come from this setting.
        let policy: CurrentValue<CallerPolicy>?

        init(
            caller: Caller, holder: UserQuotas.Holder, refusals: RefusalLog, policy: CurrentValue<CallerPolicy>?
        ) {
            self.caller = caller
            self.holder = holder
            self.refusals = refusals
            self.policy = policy
        }
    }

    private let identity: Identity
    /// The generation of ``Identity/policy`` when ``grants`` were read.
    private var generation: Int
    /// The caller's permits, each with the merchants to which the permit applies. On a socket, the permits that the
    /// caller had when it connected, or at the last call of ``refreshPermits()``.
    package private(set) var grants: [Grant]

    /// A caller whose permits do not come from the setting `callers`.
    package init(caller: Caller, grants: [Grant], holder: UserQuotas.Holder, refusals: RefusalLog) {
        identity = Identity(caller: caller, holder: holder, refusals: refusals, policy: nil)
        self.grants = grants
        generation = 0
    }

    /// A process at the other end of a socket.
    ///
    /// - Parameters:
    ///   - grants: the permits that the policy gave the process at `generation`.
    ///   - policy: the setting `callers`, which a reload may change while the connection is open.
    package init(
        caller: Caller, grants: [Grant], of policy: CurrentValue<CallerPolicy>, generation: Int,
        holder: UserQuotas.Holder, refusals: RefusalLog
    ) {
        identity = Identity(caller: caller, holder: holder, refusals: refusals, policy: policy)
        self.grants = grants
        self.generation = generation
    }

    package var caller: Caller { identity.caller }

    /// Whose limits apply to the caller: those of one user or client, or those that all users without a permit share.
    package var holder: UserQuotas.Holder { identity.holder }

    /// Updates the permits of a process on a socket to the present settings. Call this before each request, so that a
    /// reload also changes the permits of open connections. Takes no lock unless the settings have changed since the
    /// last call.
    package mutating func refreshPermits() {
        guard let policy = identity.policy else { return }
        let generation = policy.generation
        guard generation != self.generation, let process = caller.process else { return }
        grants = policy.value.grants(for: process)
        self.generation = generation
    }

    /// The same caller with its present permits.
    package var withPresentPermits: Peer {
        var peer = self
        peer.refreshPermits()
        return peer
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
        guard merchant.map({ grants.allow(permit, for: $0) }) ?? grants.allow(permit) else {
            recordRefusal(permit, of: key(), for: merchant)
            throw refusal(permit, for: merchant)
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
                "this request needs the permit '\(permit.rawValue)' for all merchants, but \(subject) has it only for some: \(advice)"
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
            throw MerchantError(.forbidden, "\(subject) has no permit at all: \(advice)")
        }
    }

    /// The caller in an error message, such as `uid 1000`. A client of the portal knows neither the name of its access
    /// nor the daemon's settings, so the message does not name them.
    private var subject: String { caller.process.map { "uid \($0.uid)" } ?? "the caller" }

    /// What a caller without a permit must do.
    private var advice: String {
        caller.process == nil
            ? "ask the platform for other credentials"
            : "an admin grants permits in the setting 'callers' of the daemon"
    }

    /// The error for a caller that lacks a permit.
    private func refusal(_ permit: Permit, for merchant: MerchantIdentifier?) -> MerchantError {
        let isForOthers = merchant != nil && grants.allow(permit)
        let missing = "the permit '\(permit.rawValue)'\(isForOthers ? " for this merchant" : "")"
        return MerchantError(
            .forbidden, "this request needs \(missing), which \(subject) does not have: \(advice)")
    }

    /// Records for the audit that a request was refused because the caller lacks a permit.
    ///
    /// - Parameter permit: the missing permit; nil if the caller has no permit at all.
    package func recordRefusal(
        _ permit: Permit?, of key: PublicKeyHash? = nil, for merchant: MerchantIdentifier? = nil
    ) {
        identity.refusals.note(RefusalKind(by: caller, permit: permit, key: key, merchant: merchant))
    }
}
