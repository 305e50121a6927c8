import Crypto
import FoundationEssentials
import PaymentToken
import Synchronization
import Testing
import Vocabulary

@Suite("Opening a token in all its steps")
struct OpenerTests {
    /// Counts what was asked for.
    final class Ledger: Sendable {
        /// publicKeyHashes asked for.
        let asked = Mutex<[String]>([])
        let restored = Mutex(0)
        let claimed = Mutex<Set<TransactionId>>([])
    }

    struct Replayed: Error {}
    struct NoKey: Error {}

    private func opener(_ ledger: Ledger) throws -> PaymentTokenOpener {
        PaymentTokenOpener(
            verifier: SignatureVerifier(
                environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot]),
            findKey: { hash in
                ledger.asked.withLock { $0.append(hash) }
                guard TestMint.publicKeyHashes.contains(hash) else { throw NoKey() }
                return MerchantKey(merchantIdentifier: TestMint.merchantIdentifier) { token in
                    ledger.restored.withLock { $0 += 1 }
                    return try TestMint.restoredKey(of: token)
                }
            },
            claim: { id in
                guard ledger.claimed.withLock({ $0.insert(id).inserted }) else { throw Replayed() }
            })
    }

    @Test("gives the plaintext once, and refuses the same payment a second time")
    func once() async throws {
        let ledger = Ledger()
        let opener = try opener(ledger)
        let token = try TestMint().token()
        let date = TestMint.signedAt.date
        let opened = try await opener.open(token, receivedAt: date, expected: ExpectedTransaction(currencyCode: "840"))
        #expect(opened.count == TestMint.plaintext.utf8.count)
        await #expect(throws: Replayed.self) {
            _ = try await opener.open(token, receivedAt: date, expected: ExpectedTransaction())
        }
    }

    @Test("opens a token with applicationData where none is expected")
    func unexpectedApplicationData() async throws {
        let token = try TestMint(applicationData: "order 4711").token()
        let opened = try await opener(Ledger()).open(
            token, receivedAt: TestMint.signedAt.date, expected: ExpectedTransaction())
        #expect(opened.count == TestMint.plaintext.utf8.count)
    }

    @Test("claims nothing for a token that is not Apple's, is late or was not expected, and asks for no key")
    func refusedUnasked() async throws {
        let ledger = Ledger()
        let opener = try opener(ledger)
        var changed = try TestMint().parts()
        changed.data[0] ^= 1
        let right = try TestMint().token()
        let date = TestMint.signedAt.date
        for (token, date) in [(try changed.token(), date), (right, date.addingTimeInterval(301))] {
            let error = await #expect(throws: PaymentTokenError.self) {
                _ = try await opener.open(token, receivedAt: date, expected: ExpectedTransaction())
            }
            #expect(error?.code == .verificationFailed)
        }
        let mismatch = await #expect(throws: TransactionMismatch.self) {
            _ = try await opener.open(right, receivedAt: date, expected: ExpectedTransaction(applicationData: [1]))
        }
        #expect(mismatch?.checks.map(\.name) == [.applicationData])
        #expect(ledger.asked.withLock { $0.isEmpty } && ledger.claimed.withLock { $0.isEmpty })
    }

    @Test("refuses another merchant's token before anything is decrypted", arguments: ApplePayToken.Version.allCases)
    func otherMerchant(_ version: ApplePayToken.Version) async throws {
        let ledger = Ledger()
        let opener = try opener(ledger)
        let token = try TestMint(version: version).token()
        let mismatch = await #expect(throws: TransactionMismatch.self) {
            _ = try await opener.open(
                token, receivedAt: TestMint.signedAt.date,
                expected: ExpectedTransaction(merchantIdentifier: "merchant.com.example.other"))
        }
        let check = try #require(mismatch?.checks.first)
        #expect(check.name == .merchantIdentifier)
        #expect(check.found?.exposed == TestMint.merchantIdentifier)
        #expect(check.expected?.exposed == "merchant.com.example.other")
        #expect("\(mismatch as Any)".contains("merchantIdentifier") && !"\(mismatch as Any)".contains("merchant.com"))
        #expect(ledger.restored.withLock { $0 } == 0 && ledger.claimed.withLock { $0.isEmpty })
    }

    @Test("claims nothing for what it decrypted and did not expect")
    func refusedContent() async throws {
        let ledger = Ledger()
        let opener = try opener(ledger)
        let token = try TestMint().token()
        let mismatch = await #expect(throws: TransactionMismatch.self) {
            _ = try await opener.open(
                token, receivedAt: TestMint.signedAt.date,
                expected: ExpectedTransaction(
                    currencyCode: "978", transactionAmount: TransactionAmount(text: "101", isString: false)))
        }
        #expect(mismatch?.checks.map(\.name) == [.currencyCode, .transactionAmount])
        #expect(ledger.claimed.withLock { $0.isEmpty })
    }

    @Test("looks its key up by the token's publicKeyHash, and tries no other that would fit")
    func lookedUp() async throws {
        let ledger = Ledger()
        let opener = try opener(ledger)
        var parts = try TestMint().parts()
        parts.publicKeyHash[0] ^= 1
        let renamed = try parts.token()
        // Its signature holds, and the key of the hash it had opens it.
        _ = try renamed.decrypt(with: TestMint.restoredKey(of: renamed))
        await #expect(throws: NoKey.self) {
            _ = try await opener.open(renamed, receivedAt: TestMint.signedAt.date, expected: ExpectedTransaction())
        }
        #expect(ledger.asked.withLock { $0 } == [renamed.publicKeyHashBase64])
        #expect(ledger.restored.withLock { $0 } == 0)
    }
}
