import Crypto
import MerchantCore
package import PaymentToken
import Synchronization
package import Vocabulary

/// Detects that the machine's clock is wrong: genuine tokens of most merchants are refused only for their signing time.
///
/// A token is genuine if every check except that of its signing time passes, and the merchant's key decrypts it.
///
/// The recent genuine tokens vote: a refused one for a wrong clock, an accepted one for a correct clock. They are
/// counted newest first, at most one for each merchant and one for each account, so that neither old tokens of one
/// customer nor the traffic of one merchant can decide. With fewer than ``fewestVotes`` votes, nothing is reported.
package final class TokenTimeWatch: Sendable {
    /// A token is recent if the daemon received it within this time.
    package static let window = Duration.seconds(600)
    package static let fewestVotes = 5
    package static let mostMerchants = 256
    /// The most accounts of one merchant whose newest tokens are kept.
    package static let mostOfMerchant = 4

    /// A keyed digest of an account number, used only to distinguish accounts.
    package struct Account: Hashable, Sendable {
        fileprivate let digest: [UInt8]
    }

    private struct Sighting {
        let merchant: MerchantIdentifier
        let account: Account
        let receivedAt: Timestamp
        /// Signing time minus time of receipt, in milliseconds; negative if the machine's clock is ahead.
        let offset: Int64
        let isRefused: Bool
    }

    private struct State {
        /// The newest tokens of each merchant, sorted from the oldest of them to the newest.
        var sightings: [MerchantIdentifier: [Sighting]] = [:]
        var lastRefusal: Timestamp?
    }

    private let state = Mutex(State())
    private let accountKey = SymmetricKey(size: .bits256)

    private let distinguishesAccounts: Bool

    /// - Parameter distinguishesAccounts: false for Apple's sandbox environment, where all customers pay with the same
    ///   test cards.
    package init(distinguishesAccounts: Bool = true) { self.distinguishesAccounts = distinguishesAccounts }

    package func account(_ number: SensitiveText) -> Account {
        Account(
            digest: Array(
                HMAC<SHA256>.authenticationCode(for: Array(number.exposed.utf8), using: accountKey).prefix(16)))
    }

    /// - Parameter data: the token's payment data, which the merchant's key decrypted.
    func record(
        _ verification: TokenVerification, _ data: PaymentData, _ merchant: MerchantIdentifier, receivedAt: Timestamp
    ) {
        guard verification.isVerified || verification.failsInTimeAlone, let signedAt = verification.signingTime
        else { return }
        record(
            account(data.applicationPrimaryAccountNumber), at: merchant, signedAt: Timestamp(signedAt),
            receivedAt: receivedAt, isRefused: !verification.isVerified)
    }

    package func record(
        _ account: Account, at merchant: MerchantIdentifier, signedAt: Timestamp, receivedAt: Timestamp, isRefused: Bool
    ) {
        let sighting = Sighting(
            merchant: merchant, account: account, receivedAt: receivedAt,
            offset: signedAt.millisecondsSince1970 - receivedAt.millisecondsSince1970, isRefused: isRefused)
        state.withLock { state in
            if isRefused { state.lastRefusal = receivedAt }
            var ofMerchant = state.sightings[merchant, default: []]
            ofMerchant.removeAll { $0.account == account }
            ofMerchant.append(sighting)
            state.sightings[merchant] = ofMerchant.suffix(Self.mostOfMerchant)
            guard state.sightings.count > Self.mostMerchants,
                let oldest = state.sightings.min(by: { Self.newest($0.value) < Self.newest($1.value) })?.key
            else { return }
            state.sightings[oldest] = nil
        }
    }

    private static func newest(_ sightings: [Sighting]) -> Timestamp {
        sightings.last?.receivedAt ?? Timestamp(millisecondsSince1970: .min)
    }

    /// Whether a genuine token was refused for its time within the window.
    package func hasRefusals(at now: Timestamp) -> Bool {
        state.withLock(\.lastRefusal).map(Self.range(at: now).contains) ?? false
    }

    /// Includes times after `now`, because the clock may have been set back since.
    private static func range(at now: Timestamp) -> ClosedRange<Timestamp> {
        now.adding(.zero - window)...now.adding(window)
    }

    /// The numbers of a vote whose majority says that the machine's clock is wrong.
    package struct Anomaly: Hashable, Sendable {
        /// The number of merchants whose vote is a refused token.
        package let refusing: Int
        /// The number of merchants that have a vote.
        package let merchants: Int
        /// The median of signing time minus time of receipt of the refused tokens.
        package let medianOffset: Duration
    }

    /// - Returns: nil if there are too few votes, or no majority for a wrong clock.
    package func anomaly(at now: Timestamp) -> Anomaly? {
        var merchants: Set<MerchantIdentifier> = []
        var accounts: Set<Account> = []
        var refused: [Int64] = []
        let range = Self.range(at: now)
        let recent = state.withLock { state in
            state.sightings.values.flatMap { $0.filter { range.contains($0.receivedAt) } }
        }
        for sighting in recent.sorted(by: { $0.receivedAt > $1.receivedAt })
        where !merchants.contains(sighting.merchant)
            && !(distinguishesAccounts && accounts.contains(sighting.account))
        {
            merchants.insert(sighting.merchant)
            accounts.insert(sighting.account)
            if sighting.isRefused { refused.append(sighting.offset) }
        }
        guard merchants.count >= Self.fewestVotes, refused.count * 2 > merchants.count else { return nil }
        refused.sort()
        return Anomaly(
            refusing: refused.count, merchants: merchants.count,
            medianOffset: .milliseconds(refused[refused.count / 2]))
    }
}
