import Crypto
import MerchantCore
package import PaymentToken
import Secrets
package import Vocabulary

extension MerchantOperations {
    /// Checks a token's signature, chain, environment and time. Needs no key, and claims nothing.
    ///
    /// - Parameter receivedAt: nil for now.
    package func verify(_ token: ApplePayToken, receivedAt: Timestamp? = nil) -> TokenVerification {
        if let receivedAt { return verifier.verify(token, receivedAt: receivedAt) }
        let now = clock.now
        let verification = verifier.verify(token, receivedAt: now)
        observeTime(of: token, verification, receivedAt: now)
        return verification
    }

    /// Opens a token: verifies it, decrypts it with the key it names, holds it against what was expected, records what
    /// must be accountable, and claims it last, so that a token refused for any reason claims nothing.
    ///
    /// The plaintext is returned only once record and claim are on stable storage; it is never stored. Only a token that
    /// the key decrypts counts as a use of the key: anybody can write a `publicKeyHash` into a token, and Apple's signature
    /// does not cover it.
    ///
    /// - Parameter key: what the token's publicKeyHash resolved to; the caller's permits for its merchant were checked.
    /// - Throws: `malformed` for an Idempotency-Key made of the token; `tokenNotVerified`, naming every check that did not
    ///   pass; `tokenMerchantMismatch`, before anything is decrypted; `tokenKeyMismatch`; `decryptionFailed`; `tokenMalformed`; `tokenMismatch`, naming both values;
    ///   `tokenAlreadyClaimed`; `idempotencyKeyReused`; `storeUnavailable`.
    package func open(
        _ token: ApplePayToken, with key: TokenKey, on terms: TokenTerms, for request: Request
    ) async throws -> OpenedToken {
        try requireRandomAttempt(of: token, request)
        let receipt = try await verified(token, key, terms, for: request)
        try terms.expectations.requireMerchant(key.merchantIdentifier)
        guard token.algorithm == key.algorithm else {
            throw MerchantError(
                .tokenKeyMismatch,
                "the token is \(token.algorithm.rawValue), its key \(key.publicKeyHash) is \(key.algorithm.rawValue)")
        }
        let plaintext = try plaintext(of: token, with: key.publicKeyHash)
        uses.recordAsked(key.publicKeyHash, at: clock.now)
        // Apple made the token for this key when it was received; one that is verified at another time proves nothing.
        if let receivedAt = receipt.receivedAt { uses.recordProven(key.publicKeyHash, at: receivedAt) }
        let data: PaymentData
        do { data = try plaintext.paymentData() } catch { throw MerchantError(.tokenMalformed, error.detail) }
        if let verification = receipt.verification, let receivedAt = receipt.receivedAt, !receipt.isRepeat {
            tokenTimes.record(verification, data, key.merchantIdentifier, receivedAt: receivedAt)
        }
        var checks = try terms.expectations.judge(token, data)
        try await recordAccountable(token, key, terms, for: request)
        checks.append(try await claim(token, receivedAt: receipt.receivedAt, terms, for: request))
        return OpenedToken(
            plaintext: plaintext, paymentData: data, key: key, verification: receipt.verification, checks: checks)
    }

    /// A key that is derived from the token is the same in every attempt, so that each attempt of one caller would get the
    /// plaintext of a payment that is taken once. The usual mistake is recognized; other derivations cannot be.
    private func requireRandomAttempt(of token: ApplePayToken, _ request: Request) throws(MerchantError) {
        guard let key = request.idempotency?.key.value.lowercased(), key.contains(token.transactionId.hex) else {
            return
        }
        throw MerchantError(
            .malformed,
            "the Idempotency-Key contains the token's transactionId, so that every attempt would get the plaintext; send a random key for each attempt"
        )
    }

    /// Counts a request for a key that can no longer be used, unless its token does not verify.
    package func countRequestForRevokedKey(by token: ApplePayToken, _ terms: TokenTerms) {
        let now = clock.now
        let verification: TokenVerification? =
            switch terms.verification {
            case .declined: nil
            case .at(let moment): verifier.verify(token, receivedAt: moment)
            case .now: verifier.verify(token, receivedAt: now)
            }
        if verification?.isVerified ?? true { uses.recordAsked(token.publicKeyHash, at: now) }
    }

    func plaintext(of token: ApplePayToken, with hash: PublicKeyHash) throws -> DecryptedPaymentData {
        let material: SymmetricKeyMaterial =
            switch token.keyMaterial {
            case .ephemeralPublicKey(let key): .ephemeralPublicKey(key.derRepresentation)
            case .wrappedKey(let key): .wrappedKey(key.bytes)
            }
        let secret = try custodian.symmetricKey(hash, from: material)
        let key = secret.withUnsafeBytes { SymmetricKey(data: $0) }
        do {
            return try token.decrypt(with: key)
        } catch {
            throw MerchantError(.decryptionFailed, error.detail)
        }
    }

    /// What the verification of a token that is to be opened found.
    private struct Receipt {
        /// nil where verification was declined.
        var verification: TokenVerification?
        /// When the daemon received the token first; nil unless it is verified for the present.
        var receivedAt: Timestamp?
        /// Whether an earlier attempt of the same request won the token's claim.
        var isRepeat = false
    }

    private func verified(
        _ token: ApplePayToken, _ key: TokenKey, _ terms: TokenTerms, for request: Request
    ) async throws -> Receipt {
        var receipt = Receipt()
        let verification: TokenVerification
        switch terms.verification {
        case .declined: return receipt
        case .at(let moment): verification = verifier.verify(token, receivedAt: moment)
        case .now(let claims):
            let now = clock.now
            let atPresent = verifier.verify(token, receivedAt: now)
            if claims, let earlier = try await earlierAttempt(token, atPresent, for: request) {
                receipt.receivedAt = earlier.at
                receipt.isRepeat = true
                verification = verifier.verify(token, receivedAt: earlier.at)
            } else {
                receipt.receivedAt = now
                verification = atPresent
                if verification.failsInTimeAlone { observeTime(of: token, verification, with: key, receivedAt: now) }
            }
        }
        guard verification.isVerified else {
            let refusals = verification.refusals.map { "\($0.name.rawValue): \($0.finding)" }
            throw MerchantError(.tokenNotVerified, refusals.joined(separator: "; "))
        }
        receipt.verification = verification
        return receipt
    }

    /// A repeat of a request that won its claim is verified at the time of that claim: a client whose response was lost may
    /// repeat the request later than a new token is accepted.
    private func earlierAttempt(
        _ token: ApplePayToken, _ verification: TokenVerification, for request: Request
    ) async throws -> TokenClaim? {
        guard verification.failsInTimeAlone, request.idempotency != nil else { return nil }
        let claim = try TokenClaim(of: token, at: clock.now, for: request)
        guard let earlier = try await claims.claim(of: claim.transactionId), earlier.isRepeated(by: claim) else {
            return nil
        }
        return earlier
    }

    private func recordAccountable(
        _ token: ApplePayToken, _ key: TokenKey, _ terms: TokenTerms, for request: Request
    ) async throws {
        var actions: [(AuditAction, String)] = []
        let named = "transactionId \(token.transactionId.hex)"
        switch terms.verification {
        case .now: break
        case .at(let moment): actions.append((.tokenVerifiedAtOtherTime, "\(named), judged at \(moment)"))
        case .declined: actions.append((.tokenDecryptedUnverified, named))
        }
        if case .any = terms.expectations.merchant { actions.append((.tokenDecryptedForAnyMerchant, named)) }
        guard !actions.isEmpty else { return }
        let entries = actions.map { action, reason in
            request.entry(
                action, at: clock.now, merchant: key.merchantIdentifier, key: key.publicKeyHash, reason: reason)
        }
        try await recorded("the token stays closed") { transaction in
            for entry in entries { try transaction.append(entry) }
        }
    }

    /// - Parameter receivedAt: the time at which the token verified. Another reading of the clock could lie ahead of every token
    ///   that follows, which would all be refused then as older than the newest claim.
    /// - Returns: the check of the replay.
    private func claim(
        _ token: ApplePayToken, receivedAt: Timestamp?, _ terms: TokenTerms, for request: Request
    ) async throws -> ExpectationCheck {
        func check(_ outcome: ExpectationCheck.Outcome, _ finding: String) -> ExpectationCheck {
            ExpectationCheck(name: "replay", outcome: outcome, finding: finding)
        }
        guard case .now(claims: true) = terms.verification else {
            return check(.notChecked, "not claimed: the token can be opened again")
        }
        let claim = try TokenClaim(of: token, at: receivedAt ?? clock.now, for: request)
        switch try await claims.claim(claim) {
        case .won: return check(.passed, "claimed: no other request opens the token as a payment")
        case .repeated(let moment):
            return check(.passed, "claimed at \(moment) by an earlier attempt of this request")
        }
    }
}

extension TokenVerification {
    /// Whether the token is genuine, and its time alone is not right.
    var failsInTimeAlone: Bool { refusals.map(\.name) == [.signingTime] }
}

extension TokenClaim {
    fileprivate init(of token: ApplePayToken, at moment: Timestamp, for request: Request) throws(MerchantError) {
        var attempt: Attempt?
        if let idempotency = request.idempotency {
            guard let key = Words256(bytes: Array(SHA256.hash(data: Array(idempotency.key.value.utf8)))),
                let digest = Words256(bytes: idempotency.requestDigest)
            else { throw MerchantError(.internalError, "a request's digest is not a SHA-256 value") }
            attempt = Attempt(keyDigest: key, requestDigest: digest)
        }
        self.init(
            transactionId: token.transactionId.words, callerUID: request.caller.uid, at: moment, attempt: attempt)
    }
}
