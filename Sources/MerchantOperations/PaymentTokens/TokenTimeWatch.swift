import Crypto
import MerchantCore
package import PaymentToken
import Synchronization
package import Vocabulary

/// Detects that the machine's clock is wrong, if the daemon refuses payment tokens of most merchants only for their
/// signing time.
///
/// Only genuine tokens count: every check except that of the signing time passes, and the merchant's key decrypts the
/// token.
///
/// The recent genuine tokens vote: a refused token for a wrong clock, an accepted token for a correct clock. The newest
/// tokens vote first. Each merchant has at most one vote. Outside of Apple's sandbox environment, so has each account.
/// So neither old tokens of one customer nor the traffic of one merchant can decide. With fewer than ``minimumVotes``
/// votes, nothing is reported.
package final class TokenTimeWatch: Sendable {
    /// A token is recent if the daemon received it within this time.
    package static let window = Duration.seconds(600)
    package static let minimumVotes = 5
    /// The largest number of merchants whose tokens are kept.
    package static let maximumMerchants = 256
    /// The largest number of tokens that are kept of one merchant, each from another account.
    package static let maximumTokensPerMerchant = 4

    /// A keyed digest of an account number, used only to distinguish accounts.
    package struct Account: Hashable, Sendable {
        fileprivate let digest: [UInt8]
    }

    /// A genuine token that the daemon received.
    private struct ObservedToken {
        let merchant: MerchantIdentifier
        let account: Account
        let receivedAt: Timestamp
        /// Signing time minus time of receipt, in milliseconds; negative if the machine's clock is ahead.
        let offset: Int64
        let isRefused: Bool
    }

    private struct State {
        /// The newest tokens of each merchant, in the order of their receipt.
        var tokens: [MerchantIdentifier: [ObservedToken]] = [:]
        /// When the daemon received the last token that was refused only for its signing time.
        var lastRefusal: Timestamp?
    }

    private let state = Mutex(State())
    /// The key of the digests of account numbers.
    private let accountKey = SymmetricKey(size: .bits256)
    private let distinguishesAccounts: Bool

    /// - Parameter distinguishesAccounts: false for Apple's sandbox environment, where all customers pay with the same
    ///   test cards.
    package init(distinguishesAccounts: Bool = true) { self.distinguishesAccounts = distinguishesAccounts }

    /// The digest of an account number.
    package func account(_ number: SensitiveText) -> Account {
        Account(
            digest: Array(
                HMAC<SHA256>.authenticationCode(for: Array(number.unredacted.utf8), using: accountKey).prefix(16)))
    }

    /// Records a genuine token that was accepted, or refused only for its signing time. Ignores other tokens.
    ///
    /// - Parameter data: the token's payment data, which the merchant's key decrypted.
    func record(
        _ verification: TokenVerification, _ data: PaymentData, _ merchant: MerchantIdentifier, receivedAt: Timestamp
    ) {
        guard verification.isVerified || verification.failsOnlySigningTime, let signedAt = verification.signingTime
        else { return }
        record(
            account(data.applicationPrimaryAccountNumber), at: merchant, signedAt: Timestamp(signedAt),
            receivedAt: receivedAt, isRefused: !verification.isVerified)
    }

    package func record(
        _ account: Account, at merchant: MerchantIdentifier, signedAt: Timestamp, receivedAt: Timestamp, isRefused: Bool
    ) {
        let token = ObservedToken(
            merchant: merchant, account: account, receivedAt: receivedAt,
            offset: signedAt.millisecondsSince1970 - receivedAt.millisecondsSince1970, isRefused: isRefused)
        state.withLock { state in
            if isRefused { state.lastRefusal = receivedAt }
            var tokensOfMerchant = state.tokens[merchant, default: []]
            tokensOfMerchant.removeAll { $0.account == account }
            tokensOfMerchant.append(token)
            state.tokens[merchant] = tokensOfMerchant.suffix(Self.maximumTokensPerMerchant)
            // Remove the merchant whose newest token is the oldest.
            guard state.tokens.count > Self.maximumMerchants,
                let leastRecent = state.tokens.min(by: { Self.lastReceipt($0.value) < Self.lastReceipt($1.value) })?.key
            else { return }
            state.tokens[leastRecent] = nil
        }
    }

    private static func lastReceipt(_ tokens: [ObservedToken]) -> Timestamp {
        tokens.last?.receivedAt ?? Timestamp(millisecondsSince1970: .min)
    }

    /// Whether a genuine token was refused only for its signing time within the ``window``.
    package func hasRefusals(at now: Timestamp) -> Bool {
        state.withLock(\.lastRefusal).map(Self.recentTimes(at: now).contains) ?? false
    }

    /// The times of receipt of recent tokens. They include times after `now`, because the clock may have been set back
    /// after a token was received.
    private static func recentTimes(at now: Timestamp) -> ClosedRange<Timestamp> {
        now.adding(.zero - window)...now.adding(window)
    }

    /// The result of a vote in which the majority is for a wrong clock.
    package struct Anomaly: Hashable, Sendable {
        /// The number of merchants whose vote is a refused token.
        package let refusing: Int
        /// The number of merchants that have a vote.
        package let merchants: Int
        /// The median of signing time minus time of receipt, over the refused tokens that voted. It is negative if the
        /// machine's clock is ahead.
        package let medianOffset: Duration
    }

    /// Counts the votes.
    ///
    /// - Returns: nil if there are too few votes, or no majority for a wrong clock.
    package func anomaly(at now: Timestamp) -> Anomaly? {
        var merchants: Set<MerchantIdentifier> = []
        var accounts: Set<Account> = []
        var refusedOffsets: [Int64] = []
        let recentTimes = Self.recentTimes(at: now)
        let recent = state.withLock { state in
            state.tokens.values.flatMap { $0.filter { recentTimes.contains($0.receivedAt) } }
        }
        for token in recent.sorted(by: { $0.receivedAt > $1.receivedAt })
        where !merchants.contains(token.merchant) && !(distinguishesAccounts && accounts.contains(token.account)) {
            merchants.insert(token.merchant)
            accounts.insert(token.account)
            if token.isRefused { refusedOffsets.append(token.offset) }
        }
        guard merchants.count >= Self.minimumVotes, refusedOffsets.count * 2 > merchants.count else { return nil }
        refusedOffsets.sort()
        return Anomaly(
            refusing: refusedOffsets.count, merchants: merchants.count,
            medianOffset: .milliseconds(refusedOffsets[refusedOffsets.count / 2]))
    }
}
