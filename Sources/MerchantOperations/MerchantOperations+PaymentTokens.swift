import Crypto
import MerchantCore
package import PaymentToken
import Secrets
package import Vocabulary

/// What a decryptor expects of a token before its plaintext may leave: Apple's last steps, and ours.
package struct TokenExpectations: Sendable {
    package enum ExpectedMerchant: Sendable {
        /// An audited choice: the token's own key says whose it is.
        case any
        case only(MerchantIdentifier)
    }

    package let merchant: ExpectedMerchant
    /// ISO 4217 numeric, three digits.
    package let currencyCode: String?
    /// Minor units, as text.
    package let transactionAmount: String?
    /// The original bytes, of which the token carries the SHA-256.
    package let applicationData: [UInt8]?

    package init(
        merchant: ExpectedMerchant, currencyCode: String?, transactionAmount: String?, applicationData: [UInt8]?
    ) {
        self.merchant = merchant
        self.currencyCode = currencyCode
        self.transactionAmount = transactionAmount
        self.applicationData = applicationData
    }
}

/// One check that a decryption made on what it found, or why it made none.
package struct ExpectationCheck: Sendable {
    package enum Outcome: String, Sendable { case passed, failed, notChecked }

    package let name: String
    package let outcome: Outcome
    package let finding: String
}

/// A decrypted token on its way to the caller.
package struct DecryptedToken: ~Copyable, Sendable {
    package let plaintext: DecryptedPaymentData
    package let checks: [ExpectationCheck]
    package let merchantIdentifier: MerchantIdentifier
    package let publicKeyHash: PublicKeyHash
}

extension MerchantOperations {
    /// Decrypts a token with the key it names, and holds it against what was expected.
    ///
    /// A token of another merchant is refused before anything is decrypted. The deed is on record, where it must be,
    /// before the plaintext is returned; plaintext is never stored.
    ///
    /// - Parameters:
    ///   - key: what the token's publicKeyHash resolved to; the caller's permit for its merchant was checked.
    ///   - isVerified: whether the signature was verified before; if not, the deed is audited.
    /// - Throws: `tokenMerchantMismatch`, `tokenKeyMismatch`, `decryptionFailed`, `tokenMismatch` (naming both values).
    package func decrypt(
        _ token: ApplePayToken, with key: ResolvedKey, expecting expectations: TokenExpectations, isVerified: Bool,
        for request: Request
    ) async throws -> DecryptedToken {
        let merchant = key.keyPair.merchantIdentifier
        let hash = key.keyPair.publicKeyHash
        if case .only(let expected) = expectations.merchant, expected != merchant {
            throw MerchantError(
                .tokenMerchantMismatch, "the token is encrypted to a key of \(merchant), expected one of \(expected)")
        }
        guard token.algorithm == key.keyPair.algorithm else {
            throw MerchantError(
                .tokenKeyMismatch,
                "the token is \(token.algorithm.rawValue), its key \(hash) is \(key.keyPair.algorithm.rawValue)")
        }
        let plaintext = try plaintext(of: token, with: hash)
        let checks = try Self.judge(token, plaintext, expectations)
        if !isVerified {
            try await record(
                .tokenDecryptedUnverified, merchant: merchant, key: hash,
                reason: "transactionId \(token.transactionId.hex)", for: request)
        }
        if case .any = expectations.merchant {
            try await record(
                .tokenDecryptedForAnyMerchant, merchant: merchant, key: hash,
                reason: "transactionId \(token.transactionId.hex)", for: request)
        }
        if isVerified { uses.recordProven(hash, at: clock.now) }
        return DecryptedToken(plaintext: plaintext, checks: checks, merchantIdentifier: merchant, publicKeyHash: hash)
    }

    private func plaintext(of token: ApplePayToken, with hash: PublicKeyHash) throws -> DecryptedPaymentData {
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

    /// - Throws: `tokenMismatch` for the first value that differs.
    private static func judge(
        _ token: ApplePayToken, _ plaintext: borrowing DecryptedPaymentData, _ expectations: TokenExpectations
    ) throws(MerchantError) -> [ExpectationCheck] {
        let data: PaymentData
        do { data = try plaintext.paymentData() } catch { throw MerchantError(.tokenMalformed, error.detail) }
        let checks = [
            merchantCheck(expectations.merchant),
            check("currencyCode", found: data.currencyCode, expected: expectations.currencyCode),
            check("transactionAmount", found: data.transactionAmount.text, expected: expectations.transactionAmount),
            applicationDataCheck(found: token.applicationDataHash, expected: expectations.applicationData),
        ]
        if let failed = checks.first(where: { $0.outcome == .failed }) {
            throw MerchantError(.tokenMismatch, "\(failed.name): \(failed.finding)")
        }
        return checks
    }

    private static func merchantCheck(_ expected: TokenExpectations.ExpectedMerchant) -> ExpectationCheck {
        switch expected {
        case .any:
            ExpectationCheck(name: "merchantIdentifier", outcome: .notChecked, finding: "any merchant was expected")
        case .only(let merchant):
            ExpectationCheck(name: "merchantIdentifier", outcome: .passed, finding: "the key belongs to \(merchant)")
        }
    }

    private static func check(_ name: String, found: String, expected: String?) -> ExpectationCheck {
        guard let expected else {
            return ExpectationCheck(name: name, outcome: .notChecked, finding: "nothing was expected")
        }
        return found == expected
            ? ExpectationCheck(name: name, outcome: .passed, finding: "as expected")
            : ExpectationCheck(name: name, outcome: .failed, finding: "found \(found), expected \(expected)")
    }

    private static func applicationDataCheck(found: [UInt8]?, expected: [UInt8]?) -> ExpectationCheck {
        let name = "applicationData"
        let digest = expected.map { Array(SHA256.hash(data: $0)) }
        switch (found, digest) {
        case (nil, nil):
            return ExpectationCheck(
                name: name, outcome: .notChecked, finding: "the token carries none and none was expected")
        case (let found?, let digest?) where ConstantTime.areEqual(found, digest):
            return ExpectationCheck(name: name, outcome: .passed, finding: "as expected")
        default:
            return ExpectationCheck(
                name: name, outcome: .failed,
                finding:
                    "found \(found.map { "SHA-256 " + Hex.encode($0) } ?? "none"), expected \(digest.map { "SHA-256 " + Hex.encode($0) } ?? "none")"
            )
        }
    }
}
