import Crypto
import MerchantCore
package import PaymentToken
import Secrets
package import Vocabulary

extension PaymentTokenOperations {
    /// Verifies a token's signature, certificate chain, environment and signing time. The token's key pair need not be
    /// known, and the token is not claimed.
    ///
    /// - Parameter receivedAt: the time of receipt to verify the token at; nil for now.
    package func verify(_ token: ApplePayToken, receivedAt: Timestamp? = nil) -> TokenVerification {
        if let receivedAt { return verifier.verify(token, receivedAt: receivedAt) }
        let now = clock.now
        let verification = verifier.verify(token, receivedAt: now)
        observeTime(of: token, verification, receivedAt: now)
        return verification
    }

    /// Opens a token: verifies it, decrypts it, compares it with the expected values, writes the audit records, and
    /// claims it.
    ///
    /// A claim records that a token was used, so that no other request can decrypt it as a payment. It is the
    /// last step, so that a token that is refused is not claimed.
    ///
    /// This returns the plaintext only after the audit records and the claim are on stable storage. The plaintext
    /// itself is never stored.
    ///
    /// The token counts as a use of the key only if the key decrypts it. That it names the key is not enough: any
    /// caller can write a `publicKeyHash` into a token, because Apple's signature does not cover it.
    ///
    /// - Parameter key: the key that the token names. The caller of this method must have checked that the request may
    ///   use the keys of the key's merchant.
    /// - Throws:
    ///   - `malformed` if the Idempotency-Key is derived from the token.
    ///   - `tokenNotVerified`, naming every check that failed.
    ///   - `tokenMerchantMismatch`, before anything is decrypted.
    ///   - `tokenKeyMismatch` if the key has another algorithm than the token.
    ///   - `decryptionFailed`; `tokenMalformed` if the plaintext cannot be read.
    ///   - `tokenMismatch`, naming the found and the expected value.
    ///   - `tokenAlreadyClaimed`, `idempotencyKeyReused`, or `storeUnavailable`.
    package func open(
        _ token: ApplePayToken, with key: TokenKey, on terms: TokenTerms, for request: Request
    ) async throws -> OpenedToken {
        try requireRandomIdempotencyKey(of: token, request)
        let receipt = try await verified(token, key, terms, for: request)
        try terms.expectations.requireMerchant(key.merchantIdentifier)
        guard token.algorithm == key.algorithm else {
            throw MerchantError(
                .tokenKeyMismatch,
                "the token is \(token.algorithm.rawValue), its key \(key.publicKeyHash) is \(key.algorithm.rawValue)")
        }
        let plaintext = try plaintext(of: token, with: key.publicKeyHash)
        uses.recordRequest(key.publicKeyHash, at: clock.now)
        // Without `receivedAt`, the token was not verified, or verified at another time than now. Such a token does not
        // show that Apple encrypts to this key now.
        if let receivedAt = receipt.receivedAt { uses.recordDecryption(key.publicKeyHash, at: receivedAt) }
        let data: PaymentData
        do { data = try plaintext.paymentData() } catch { throw MerchantError(.tokenMalformed, error.detail) }
        if let verification = receipt.verification, let receivedAt = receipt.receivedAt, !receipt.isRepeat {
            tokenTimes.record(verification, data, key.merchantIdentifier, receivedAt: receivedAt)
        }
        var checks = try terms.expectations.check(token, data)
        try await recordAccountable(token, key, terms, for: request)
        checks.append(try await claim(token, receivedAt: receipt.receivedAt, terms, for: request))
        return OpenedToken(
            plaintext: plaintext, paymentData: data, key: key, verification: receipt.verification, checks: checks)
    }

    /// Refuses an Idempotency-Key that contains the token's transactionId, the most common way to derive a key from a
    /// token.
    ///
    /// Every request for the token would then have the same key and count as a repeat of the first one. Each would get
    /// the plaintext, and the payment could be accepted more than once.
    private func requireRandomIdempotencyKey(of token: ApplePayToken, _ request: Request) throws(MerchantError) {
        guard let key = request.idempotency?.key.value.lowercased(), key.contains(token.transactionId.hex) else {
            return
        }
        throw MerchantError(
            .malformed,
            "the Idempotency-Key contains the token's transactionId, so that every attempt would get the plaintext; send a random key for each attempt"
        )
    }

    /// Counts a request for a key that is revoked or destroyed. A token that fails verification
    /// does not count.
    package func countRequestForRevokedKey(by token: ApplePayToken, _ terms: TokenTerms) {
        let now = clock.now
        let verification: TokenVerification? =
            switch terms.verification {
            case .declined: nil
            case .at(let time): verifier.verify(token, receivedAt: time)
            case .now: verifier.verify(token, receivedAt: now)
            }
        if verification?.isVerified ?? true { uses.recordRequest(token.publicKeyHash, at: now) }
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

    /// The result of verifying a token that will be opened.
    private struct Receipt {
        /// nil if verification was declined.
        var verification: TokenVerification?
        /// When the daemon first received the token; nil if the token was not verified, or was verified at a
        /// time that the caller named.
        var receivedAt: Timestamp?
        /// Whether an earlier attempt of the same request has claimed the token.
        var isRepeat = false
    }

    private func verified(
        _ token: ApplePayToken, _ key: TokenKey, _ terms: TokenTerms, for request: Request
    ) async throws -> Receipt {
        var receipt = Receipt()
        let verification: TokenVerification
        switch terms.verification {
        case .declined: return receipt
        case .at(let time): verification = verifier.verify(token, receivedAt: time)
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

    /// The claim by an earlier attempt of this request, if the token fails verification only for its signing time.
    ///
    /// The token is then verified at the time of that claim. A client that got no response may repeat its request when
    /// the token is already too old to be accepted as a new one.
    ///
    /// - Returns: nil if there is no such claim, or verification does not fail for the signing time alone.
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

    /// Writes an audit record for each check that the caller declined, or requested at another time.
    private func recordAccountable(
        _ token: ApplePayToken, _ key: TokenKey, _ terms: TokenTerms, for request: Request
    ) async throws {
        var actions: [(AuditAction, String)] = []
        let named = "transactionId \(token.transactionId.hex)"
        switch terms.verification {
        case .now: break
        case .at(let time): actions.append((.tokenVerifiedAtOtherTime, "\(named), verified at \(time)"))
        case .declined: actions.append((.tokenDecryptedUnverified, named))
        }
        if case .any = terms.expectations.merchant { actions.append((.tokenDecryptedForAnyMerchant, named)) }
        guard !actions.isEmpty else { return }
        let entries = actions.map { action, reason in
            request.entry(
                action, at: clock.now, merchant: key.merchantIdentifier, key: key.publicKeyHash, reason: reason)
        }
        try await recorded("the token is not opened") { transaction in
            for entry in entries { try transaction.append(entry) }
        }
    }

    /// Claims the token, unless the caller declined that.
    ///
    /// - Parameter receivedAt: the time at which the token was verified, which becomes the time of the claim. With a
    ///   second reading of the clock, the claim could be later than the times of the next tokens, and these would be
    ///   refused as older than the newest claim.
    /// - Returns: the check `replay` of the response.
    private func claim(
        _ token: ApplePayToken, receivedAt: Timestamp?, _ terms: TokenTerms, for request: Request
    ) async throws -> ExpectationCheck {
        func check(_ outcome: ExpectationCheck.Outcome, _ finding: String) -> ExpectationCheck {
            ExpectationCheck(name: "replay", outcome: outcome, finding: finding)
        }
        guard case .now(claims: true) = terms.verification else {
            return check(.notChecked, "not claimed: the token can be decrypted again")
        }
        let claim = try TokenClaim(of: token, at: receivedAt ?? clock.now, for: request)
        switch try await claims.claim(claim) {
        case .won: return check(.passed, "claimed: no other request can decrypt the token as a payment")
        case .repeated(let time):
            return check(.passed, "claimed at \(time) by an earlier attempt of this request")
        }
    }
}

extension TokenVerification {
    /// Whether the check of the signing time failed, and no other check.
    var failsInTimeAlone: Bool { refusals.map(\.name) == [.signingTime] }
}

extension TokenClaim {
    fileprivate init(of token: ApplePayToken, at time: Timestamp, for request: Request) throws(MerchantError) {
        var attempt: Attempt?
        if let idempotency = request.idempotency {
            guard let key = Words256(bytes: Array(SHA256.hash(data: Array(idempotency.key.value.utf8)))),
                let digest = Words256(bytes: idempotency.requestDigest)
            else { throw MerchantError(.internalError, "a request's digest is not a SHA-256 value") }
            attempt = Attempt(keyDigest: key, requestDigest: digest)
        }
        self.init(
            transactionId: token.transactionId.words, callerUID: request.caller.uid, at: time, attempt: attempt)
    }
}
