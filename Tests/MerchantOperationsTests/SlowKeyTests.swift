import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Secrets
import Synchronization
import Testing
import Vocabulary

/// Work on keys that takes a processor long.
@Suite("Slow key work") struct SlowKeyTests {
    /// Holds the thread of an import, or of a search for primes, until it is let go, and shortly after that.
    private final class Slow: KeyCustodian {
        private let custodian: FakeCustodian
        private let gate = DispatchSemaphore(value: 0)
        private let state = Mutex((running: 0, most: 0, gaveUp: false))
        var mostAtOnce: Int { state.withLock { $0.most } }
        var isHolding: Bool { state.withLock { $0.running > 0 } }
        /// Whether nobody let the held go: whoever was to had no thread.
        var gaveUp: Bool { state.withLock { $0.gaveUp } }

        func letGo() { gate.signal() }

        init(_ clock: any WallClock) { custodian = FakeCustodian(clock: clock) }

        private func hold() {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
            }
            let gaveUp = gate.wait(timeout: .now() + 20) == .timedOut
            gate.signal()
            usleep(10_000)
            state.withLock { state in
                state.running -= 1
                state.gaveUp = state.gaveUp || gaveUp
            }
        }

        func generateKeyPair(
            algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
        ) throws -> NewKeyPair {
            if algorithm == .rsaV1 { hold() }
            return try custodian.generateKeyPair(algorithm: algorithm, purpose: purpose, for: merchant)
        }

        func importKeyPair(
            privateKey: borrowing SecretBytes, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
            for merchant: MerchantIdentifier
        ) throws -> NewKeyPair {
            hold()
            return try custodian.importKeyPair(
                privateKey: privateKey, passphrase: passphrase, purpose: purpose, for: merchant)
        }

        func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts { try custodian.readCertificate(upload) }
        func issuerFinding(for certificate: CertificateFacts, at moment: Timestamp) -> IssuerFinding { .notConfigured }
        func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
            try custodian.symmetricKey(hash, from: material)
        }
        func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes { try custodian.exportPrivateKey(hash) }
    }

    @Test("it is done one piece at a time, and nothing else waits for it", arguments: ["import", "RSA_v1"])
    func aside(kind: String) async throws {
        let clock = HandMovedClock()
        let slow = Slow(clock)
        let operations = Operations(
            repository: MemoryRepository(), custodian: slow, claims: MemoryClaimLedger(), clock: clock,
            environment: .sandbox)
        let request = Request(caller: Bench.caller, requestId: "r-1")
        let merchant = Bench.integrator
        _ = try await operations.merchants.addMerchant(merchant, name: nil, targetActiveKeyPairs: nil, for: request)
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount
        try await withThrowingTaskGroup { tasks in
            for number in 0..<count {
                tasks.addTask {
                    guard kind == "import" else {
                        _ = try await operations.keys.generateKeyPair(
                            for: merchant, algorithm: .rsaV1, purpose: .paymentProcessing, for: request)
                        return
                    }
                    let hash = PublicKeyHash(of: [UInt8(number)])
                    _ = try await operations.keys.importKeyPair(
                        to: merchant, privateKey: SecretBytes(copying: Array("KEY:\(hash.hex)".utf8)),
                        passphrase: SecretBytes(copying: []),
                        certificate: Array("CERT:\(hash.hex):\(merchant)".utf8), state: .standby,
                        purpose: .paymentProcessing, allowsExpired: false, for: request)
                }
            }
            while !slow.isHolding { try await Task.sleep(for: .milliseconds(1)) }
            for _ in 0..<20 { await Task { await Task.yield() }.value }
            #expect(slow.isHolding && !slow.gaveUp, "other work waited")
            slow.letGo()
            try await tasks.waitForAll()
        }
        #expect(slow.mostAtOnce == 1)
    }
}
