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
        let keys = Mutex(0)
        let claimed = Mutex<Set<TransactionId>>([])
    }

    struct Replayed: Error {}

    private func opener(_ ledger: Ledger) throws -> PaymentTokenOpener {
        PaymentTokenOpener(
            verifier: SignatureVerifier(
                environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot]),
            restoreKey: { token in
                ledger.keys.withLock { $0 += 1 }
                return try TestMint.restoredKey(of: token)
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

    @Test("claims nothing for a token that it refuses, and asks for no key for one that is not Apple's")
    func refused() async throws {
        let ledger = Ledger()
        let opener = try opener(ledger)
        var changed = try TestMint().parts()
        changed.data[0] ^= 1
        let right = try TestMint().token()
        let date = TestMint.signedAt.date
        let attempts: [(ApplePayToken, Date, ExpectedTransaction, keys: Int)] = [
            (try changed.token(), date, ExpectedTransaction(), 0),
            (right, date.addingTimeInterval(301), ExpectedTransaction(), 0),
            (right, date, ExpectedTransaction(applicationData: [1]), 0),
            (right, date, ExpectedTransaction(currencyCode: "978"), 1),
        ]
        for (token, date, expected, keys) in attempts {
            ledger.keys.withLock { $0 = 0 }
            let error = await #expect(throws: PaymentTokenError.self) {
                _ = try await opener.open(token, receivedAt: date, expected: expected)
            }
            #expect(error?.code == .verificationFailed)
            #expect(ledger.keys.withLock { $0 } == keys)
        }
        #expect(ledger.claimed.withLock { $0.isEmpty })
    }
}
