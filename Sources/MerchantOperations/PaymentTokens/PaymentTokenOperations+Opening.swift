import Crypto
import MerchantCore
package import PaymentToken
import Secrets
import Tracing
package import Vocabulary

extension PaymentTokenOperations {
    /// Verifies a token's signature, certificate chain, environment and signing time. Does not claim the token. The
    /// daemon need not have the token's key pair. May read the store on the calling thread, and block that thread.
    ///
    /// - Parameter receivedAt: the time with which the signing time is compared; nil for now.
    package func verify(_ token: ApplePayToken, receivedAt: Timestamp? = nil) -> TokenVerification {
        if let receivedAt { return verifier.verify(token, receivedAt: receivedAt) }
        let now = clock.now
        let verification = verifier.verify(token, receivedAt: now)
        observeTime(of: token, verification, receivedAt: now)
        return verification
    }

    /// Opens a token: verifies it, decrypts it, compares it with the expected values, writes the audit records, and
    /// claims it. `terms` can decline the verification and the claim.
    ///
    /// A claim records that a token was used, so that no other request can decrypt the token as a payment. Claiming is
    /// the last step, so that a refused token is not claimed.
    ///
    /// This method returns the plaintext only after the audit records and the claim are on stable storage. The
    /// plaintext itself is never stored.
    ///
    /// The token counts as a use of the key only if the key decrypts the token. The `publicKeyHash` in the token is not
    /// enough: Apple's signature does not cover the hash, so any caller can change it.
    ///
    /// - Parameters:
    ///   - key: the key that the token names. The caller of this method must have checked that the request may use the
    ///     keys of the key's merchant.
    ///   - threads: where the private key is read if it is not in memory.
    /// - Throws:
    ///   - `malformed` if the Idempotency-Key contains the token's transactionId.
    ///   - `tokenNotVerified`, naming every check that failed.
    ///   - `tokenMerchantMismatch` if another merchant was expected. The token is not decrypted then.
    ///   - `tokenKeyMismatch` if the key has another algorithm than the token.
    ///   - `decryptionFailed`; `tokenMalformed` if the plaintext cannot be parsed.
    ///   - `tokenMismatch`, naming the found and the expected value.
    ///   - `tokenAlreadyClaimed`, `idempotencyKeyReused`, or `storeUnavailable`.
    package func open(
        _ token: ApplePayToken, with key: TokenKey, on terms: TokenTerms, for request: Request,
        blockingOn threads: any BlockingThreads
    ) async throws -> OpenedToken {
        try refuseIdempotencyKeyFromToken(token, request)
        let verified = try await verifyBeforeOpening(token, key, terms, for: request, blockingOn: threads)
        do throws(MerchantError) { try terms.expectations.requireMerchant(key.merchantIdentifier) } catch {
            metrics.countRefusal(.merchantIdentifier)
            throw error
        }
        guard token.algorithm == key.algorithm else {
            metrics.countRefusal(.algorithm)
            throw MerchantError(
                .tokenKeyMismatch,
                "the token has the algorithm \(token.algorithm.rawValue), but the key \(key.publicKeyHash) that it names has \(key.algorithm.rawValue)"
            )
        }
        let plaintext = try await decryptAndCount(token, with: key.publicKeyHash, blockingOn: threads)
        uses.recordRequest(key.publicKeyHash, at: clock.now)
        // Without `receivedAt`, the token was not verified, or was verified as of a time that the caller gave. Such a
        // token does not show that Apple encrypts to this key now.
        if let receivedAt = verified.receivedAt { uses.recordDecryption(key.publicKeyHash, at: receivedAt) }
        let data: PaymentData
        do { data = try plaintext.paymentData() } catch {
            metrics.countRefusal(.plaintext)
            throw MerchantError(.tokenMalformed, error.detail)
        }
        // The token of a repeated request was recorded when the request was first sent.
        if let verification = verified.verification, let receivedAt = verified.receivedAt, !verified.isRepeat {
            tokenTimes.record(verification, data, key.merchantIdentifier, receivedAt: receivedAt)
        }
        var checks = terms.expectations.compare(with: token, data)
        if let failed = checks.first(where: { $0.outcome == .failed }) {
            if let check = TokenMetrics.Check(rawValue: failed.name) { metrics.countRefusal(check) }
            throw MerchantError(.tokenMismatch, "\(failed.name): \(failed.finding)")
        }
        try await auditRelaxedChecks(token, key, terms, for: request)
        checks.append(try await claim(token, receivedAt: verified.receivedAt, terms, for: request))
        // Only a verified token shows that Apple knows the merchant token.
        if let receivedAt = verified.receivedAt {
            merchantTokens.record(data.merchantTokenIdentifier, of: key.merchantIdentifier, at: receivedAt)
        }
        metrics.countOpened()
        return OpenedToken(
            plaintext: plaintext, paymentData: data, key: key, verification: verified.verification, checks: checks)
    }

    /// Refuses an Idempotency-Key that contains the token's transactionId. This is the most common way to derive an
    /// Idempotency-Key from a token.
    ///
    /// With such an Idempotency-Key, every request for the token would count as a repeat of the first request. Each
    /// request would get the plaintext, and the payment could be accepted more than once.
    private func refuseIdempotencyKeyFromToken(_ token: ApplePayToken, _ request: Request) throws(MerchantError) {
        guard let key = request.idempotency?.key.value.lowercased(), key.contains(token.transactionId.hex) else {
            return
        }
        throw MerchantError(
            .malformed,
            "the Idempotency-Key contains the token's transactionId, so every request for the token would get the plaintext: send a new random key with each new request"
        )
    }

    /// Counts a request for a key that is revoked or destroyed. A request with a token that fails verification does not
    /// count.
    package func countRequest(forUnusableKeyOf token: ApplePayToken, terms: TokenTerms) {
        let now = clock.now
        let verification: TokenVerification? =
            switch terms.verification {
            case .declined: nil
            case .at(let time): verifier.verify(token, receivedAt: time)
            case .now: verifier.verify(token, receivedAt: now)
            }
        if verification?.isVerified ?? true { uses.recordRequest(token.publicKeyHash, at: now) }
    }

    private func decryptAndCount(
        _ token: ApplePayToken, with hash: PublicKeyHash, blockingOn threads: any BlockingThreads
    ) async throws -> DecryptedPaymentData {
        do { return try await plaintext(of: token, with: hash, blockingOn: threads) } catch let error as MerchantError
            where error.code == .decryptionFailed
        {
            metrics.countRefusal(.decryption)
            throw error
        }
    }

    /// Decrypts a token with the key pair's private key. If the private key is not in memory, this method reads the
    /// private key on another thread.
    ///
    /// - Throws: `decryptionFailed`; the errors of ``KeyCustodian/symmetricKey(_:from:)``.
    func plaintext(
        of token: ApplePayToken, with hash: PublicKeyHash, blockingOn threads: any BlockingThreads
    ) async throws -> DecryptedPaymentData {
        let material = SymmetricKeyMaterial(of: token)
        if let secret = try custodian.cachedSymmetricKey(hash, from: material) {
            return try Self.decrypt(token, with: SymmetricKey(secret))
        }
        let key = try await threads.run { [custodian] in
            SymmetricKey(try custodian.symmetricKey(hash, from: material))
        }
        return try Self.decrypt(token, with: key)
    }

    /// Decrypts a token with the key pair's private key. May read the store on the calling thread, and block that
    /// thread.
    ///
    /// - Throws: `decryptionFailed`; the errors of ``KeyCustodian/symmetricKey(_:from:)``.
    func plaintextNow(of token: ApplePayToken, with hash: PublicKeyHash) throws -> DecryptedPaymentData {
        let secret = try custodian.symmetricKey(hash, from: SymmetricKeyMaterial(of: token))
        return try Self.decrypt(token, with: SymmetricKey(secret))
    }

    private static func decrypt(
        _ token: ApplePayToken, with key: SymmetricKey
    ) throws(MerchantError) -> DecryptedPaymentData {
        do {
            return try token.decrypt(with: key)
        } catch {
            throw MerchantError(.decryptionFailed, error.detail)
        }
    }

    /// The result of verifying a token that will be opened.
    private struct VerificationBeforeOpening {
        /// nil if the caller declined verification.
        var verification: TokenVerification?
        /// When the daemon first received the token; nil if the token was not verified, or was verified as of a time
        /// that the caller gave.
        var receivedAt: Timestamp?
        /// Whether the same request has claimed the token before, and was sent again.
        var isRepeat = false
    }

    /// Verifies a token that will be opened.
    ///
    /// - Throws: `tokenNotVerified`, naming every check that failed.
    private func verifyBeforeOpening(
        _ token: ApplePayToken, _ key: TokenKey, _ terms: TokenTerms, for request: Request,
        blockingOn threads: any BlockingThreads
    ) async throws -> VerificationBeforeOpening {
        var result = VerificationBeforeOpening()
        let verification: TokenVerification
        switch terms.verification {
        case .declined: return result
        case .at(let time): verification = verifier.verify(token, receivedAt: time)
        case .now(let claims):
            let now = clock.now
            let verificationNow = verifier.verify(token, receivedAt: now)
            if claims, let earlier = try await earlierClaim(token, verificationNow, for: request) {
                result.receivedAt = earlier.at
                result.isRepeat = true
                verification = verifier.verify(token, receivedAt: earlier.at)
            } else {
                result.receivedAt = now
                verification = verificationNow
                if verification.failsOnlySigningTime {
                    await observeTime(of: token, verification, with: key, receivedAt: now, blockingOn: threads)
                }
            }
        }
        guard verification.isVerified else {
            metrics.countRefusal(verification)
            let reasons = verification.unpassedChecks.map { "\($0.name.rawValue): \($0.finding)" }
            throw MerchantError(.tokenNotVerified, reasons.joined(separator: "; "))
        }
        result.verification = verification
        return result
    }

    /// The claim that this request made when it was sent before, if the token now fails verification only for its
    /// signing time.
    ///
    /// A client that got no response may repeat its request when the token is already too old to be accepted as a new
    /// one. The token is then verified as of the time of the earlier claim.
    ///
    /// - Returns: nil if there is no such claim, or if another check fails.
    private func earlierClaim(
        _ token: ApplePayToken, _ verification: TokenVerification, for request: Request
    ) async throws -> TokenClaim? {
        guard verification.failsOnlySigningTime, request.idempotency != nil else { return nil }
        let claim = try TokenClaim(of: token, at: clock.now, for: request)
        guard let earlier = try await claims.claim(of: claim.transactionId), earlier.isRepeated(by: claim) else {
            return nil
        }
        return earlier
    }

    /// Writes an audit record if the caller declined the verification, if the token was verified as of another time
    /// than now, and if the caller accepts any merchant.
    private func auditRelaxedChecks(
        _ token: ApplePayToken, _ key: TokenKey, _ terms: TokenTerms, for request: Request
    ) async throws {
        var actions: [(AuditAction, String)] = []
        let transaction = "transactionId \(token.transactionId.hex)"
        switch terms.verification {
        case .now: break
        case .at(let time): actions.append((.tokenVerifiedAtOtherTime, "\(transaction), verified at \(time)"))
        case .declined: actions.append((.tokenDecryptedUnverified, transaction))
        }
        if case .any = terms.expectations.merchant { actions.append((.tokenDecryptedForAnyMerchant, transaction)) }
        guard !actions.isEmpty else { return }
        let entries = actions.map { action, reason in
            request.auditEntry(
                action, at: clock.now, merchant: key.merchantIdentifier, key: key.publicKeyHash, reason: reason)
        }
        try await writeBeforeRelease("the token is not opened") { transaction in
            for entry in entries { try transaction.append(entry) }
        }
    }

    /// Claims the token, if `terms` require a claim.
    ///
    /// - Parameter receivedAt: the time of receipt, which was compared with the token's signing time. It becomes the
    ///   time of the claim. If the claim had the time of a clock that has jumped ahead since, the store would refuse
    ///   the next claims, as if the clock had been set back.
    /// - Returns: the check `replay` of the response.
    private func claim(
        _ token: ApplePayToken, receivedAt: Timestamp?, _ terms: TokenTerms, for request: Request
    ) async throws -> ExpectationCheck {
        func check(_ outcome: ExpectationCheck.Outcome, _ finding: String) -> ExpectationCheck {
            ExpectationCheck(name: "replay", outcome: outcome, finding: finding)
        }
        guard case .now(claims: true) = terms.verification else {
            return check(.notChecked, "not claimed: another request can decrypt the token again")
        }
        let claim = try TokenClaim(of: token, at: receivedAt ?? clock.now, for: request)
        switch try await claimAndCount(claim) {
        case .claimed: return check(.passed, "claimed: no other request can decrypt the token as a payment")
        case .repeated(let time):
            return check(.passed, "claimed at \(time) by an earlier attempt of this request")
        }
    }

    private func claimAndCount(_ claim: TokenClaim) async throws -> ClaimOutcome {
        let start = ContinuousClock.now
        do {
            let outcome = try await withSpan("claim token") { _ in try await claims.claim(claim) }
            metrics.countClaim(outcome == .claimed ? .claimed : .repeated, after: ContinuousClock.now - start)
            return outcome
        } catch {
            let isAlreadyClaimed = (error as? MerchantError)?.code == .tokenAlreadyClaimed
            metrics.countClaim(isAlreadyClaimed ? .alreadyClaimed : .failed, after: ContinuousClock.now - start)
            throw error
        }
    }
}

extension SymmetricKeyMaterial {
    fileprivate init(of token: ApplePayToken) {
        self =
            switch token.keyMaterial {
            case .ephemeralPublicKey(let key): .ephemeralPublicKey(key.derRepresentation)
            case .wrappedKey(let key): .wrappedKey(key.bytes)
            }
    }
}

extension SymmetricKey {
    fileprivate init(_ secret: borrowing SecretBytes) { self = secret.withUnsafeBytes { SymmetricKey(data: $0) } }
}

extension TokenVerification {
    /// Whether the check of the signing time failed, and no other check.
    var failsOnlySigningTime: Bool { unpassedChecks.map(\.name) == [.signingTime] }
}

extension TokenClaim {
    fileprivate init(of token: ApplePayToken, at time: Timestamp, for request: Request) throws(MerchantError) {
        var identity: RequestIdentity?
        if let idempotency = request.idempotency {
            guard let key = Bits256(bytes: Array(SHA256.hash(data: Array(idempotency.key.value.utf8)))),
                let digest = Bits256(bytes: idempotency.requestDigest)
            else { throw MerchantError(.internalError, "a request's digest is not a SHA-256 value") }
            identity = RequestIdentity(idempotencyKeyDigest: key, requestDigest: digest)
        }
        self.init(
            transactionId: token.transactionId.bits, caller: request.caller.name, at: time, requestIdentity: identity
        )
    }
}
