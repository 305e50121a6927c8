import Crypto
import FoundationEssentials
import PaymentToken
import Synchronization
import Testing
import Vocabulary

@Suite("PaymentTokenOpener")
struct OpenerTests {
    /// Records the calls of an opener's functions.
    final class CallLog: Sendable {
        /// The hashes of the keys looked up, first one first.
        let lookups = Mutex<[String]>([])
        /// The number of restored symmetric keys.
        let restored = Mutex(0)
        let claimed = Mutex<Set<TransactionId>>([])
    }

    struct Replayed: Error {}
    struct NoKey: Error {}

    private func opener(_ log: CallLog) throws -> PaymentTokenOpener {
        PaymentTokenOpener(
            verifier: SignatureVerifier(
                environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot]),
            findKey: { hash in
                log.lookups.withLock { $0.append(hash) }
                guard TestMint.publicKeyHashes.contains(hash) else { throw NoKey() }
                return MerchantKey(merchantIdentifier: TestMint.merchantIdentifier) { token in
                    log.restored.withLock { $0 += 1 }
                    return try TestMint.restoredKey(of: token)
                }
            },
            claim: { id in
                guard log.claimed.withLock({ $0.insert(id).inserted }) else { throw Replayed() }
            })
    }

    @Test("A token is opened once; a replay is rejected")
    func once() async throws {
        let log = CallLog()
        let opener = try opener(log)
        let token = try TestMint().token()
        let date = TestMint.signedAt.date
        let opened = try await opener.open(token, receivedAt: date, expected: ExpectedTransaction(currencyCode: "840"))
        #expect(opened.count == TestMint.plaintext.utf8.count)
        await #expect(throws: Replayed.self) {
            _ = try await opener.open(token, receivedAt: date, expected: ExpectedTransaction())
        }
    }

    @Test("A token with applicationData is opened if none is expected")
    func unexpectedApplicationData() async throws {
        let token = try TestMint(applicationData: "order 4711").token()
        let opened = try await opener(CallLog()).open(
            token, receivedAt: TestMint.signedAt.date, expected: ExpectedTransaction())
        #expect(opened.count == TestMint.plaintext.utf8.count)
    }

    @Test("A token that is forged, late or for other applicationData is rejected before the lookup, and claims nothing")
    func rejectedBeforeLookup() async throws {
        let log = CallLog()
        let opener = try opener(log)
        var changed = try TestMint().parts()
        changed.data[0] ^= 1
        let valid = try TestMint().token()
        let date = TestMint.signedAt.date
        for (token, date) in [(try changed.token(), date), (valid, date.addingTimeInterval(301))] {
            let error = await #expect(throws: PaymentTokenError.self) {
                _ = try await opener.open(token, receivedAt: date, expected: ExpectedTransaction())
            }
            #expect(error?.code == .verificationFailed)
        }
        let mismatch = await #expect(throws: TransactionMismatch.self) {
            _ = try await opener.open(valid, receivedAt: date, expected: ExpectedTransaction(applicationData: [1]))
        }
        #expect(mismatch?.checks.map(\.name) == [.applicationData])
        #expect(log.lookups.withLock { $0.isEmpty } && log.claimed.withLock { $0.isEmpty })
    }

    @Test("A token of another merchant is rejected before it is decrypted", arguments: ApplePayToken.Version.allCases)
    func otherMerchant(_ version: ApplePayToken.Version) async throws {
        let log = CallLog()
        let opener = try opener(log)
        let token = try TestMint(version: version).token()
        let mismatch = await #expect(throws: TransactionMismatch.self) {
            _ = try await opener.open(
                token, receivedAt: TestMint.signedAt.date,
                expected: ExpectedTransaction(merchantIdentifier: "merchant.com.example.other"))
        }
        let check = try #require(mismatch?.checks.first)
        #expect(check.name == .merchantIdentifier)
        #expect(check.found?.unredacted == TestMint.merchantIdentifier)
        #expect(check.expected?.unredacted == "merchant.com.example.other")
        #expect("\(mismatch as Any)".contains("merchantIdentifier") && !"\(mismatch as Any)".contains("merchant.com"))
        #expect(log.restored.withLock { $0 } == 0 && log.claimed.withLock { $0.isEmpty })
    }

    @Test("A decrypted token with unexpected content claims nothing")
    func unexpectedContent() async throws {
        let log = CallLog()
        let opener = try opener(log)
        let token = try TestMint().token()
        let mismatch = await #expect(throws: TransactionMismatch.self) {
            _ = try await opener.open(
                token, receivedAt: TestMint.signedAt.date,
                expected: ExpectedTransaction(
                    currencyCode: "978", transactionAmount: TransactionAmount(text: "101", isString: false)))
        }
        #expect(mismatch?.checks.map(\.name) == [.currencyCode, .transactionAmount])
        #expect(log.claimed.withLock { $0.isEmpty })
    }

    @Test("The key is looked up by publicKeyHash; no other key is tried, even if it would decrypt the token")
    func lookedUp() async throws {
        let log = CallLog()
        let opener = try opener(log)
        var parts = try TestMint().parts()
        parts.publicKeyHash[0] ^= 1
        let renamed = try parts.token()
        // The signature does not cover publicKeyHash, and the original key decrypts the token.
        _ = try renamed.decrypt(with: TestMint.restoredKey(of: renamed))
        await #expect(throws: NoKey.self) {
            _ = try await opener.open(renamed, receivedAt: TestMint.signedAt.date, expected: ExpectedTransaction())
        }
        #expect(log.lookups.withLock { $0 } == [renamed.publicKeyHashBase64])
        #expect(log.restored.withLock { $0 } == 0)
    }
}
