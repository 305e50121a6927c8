import MerchantCore
import Vocabulary

extension KeyTransitionPlan {
    /// The plan that makes the key pair `current`, and the former current key pair of the same purpose and algorithm,
    /// if there is one, `retiring`. The plan is empty if the key pair is `current` already.
    ///
    /// - Parameter reason: why the daemon promotes the key pair; nil if an admin does.
    static func promotion(
        of keyPair: KeyPair, reason: String?, at time: ClockReading, for request: Request,
        in transaction: any KeyTransitionWriting
    ) throws -> Self {
        let (hash, now) = (keyPair.publicKeyHash, time.wall)
        var plan = KeyTransitionPlan(keyPair)
        guard try KeyLifecycle.state(after: .promote, from: keyPair.state) != keyPair.state else { return plan }
        let former = try transaction.currentKeyPair(matching: keyPair)
        if let former {
            plan.changes.append(
                try KeyChange(
                    former, .supersede, at: time.latest,
                    audit: request.auditEntry(
                        .keySuperseded, at: now, merchant: former.merchantIdentifier, key: former.publicKeyHash,
                        before: former.state.rawValue, after: KeyState.retiring.rawValue,
                        reason: "superseded by \(hash)")))
        }
        plan.changes.append(
            try KeyChange(
                keyPair, .promote, at: time.latest,
                audit: request.auditEntry(
                    .keyPromoted, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                    before: keyPair.state.rawValue, after: KeyState.current.rawValue, reason: reason)))
        plan.events.append(.promoted(keyPair, superseding: former, reason: reason, at: now))
        if let certificate = try transaction.certificates(of: hash).certificateInUse(at: now),
            !certificate.isValid(at: now)
        {
            plan.warnings.append(
                "the key's certificate is not valid now (it is valid from \(certificate.notBefore) to \(certificate.notAfter)): Apple will not encrypt to this key"
            )
        }
        return plan
    }
}
