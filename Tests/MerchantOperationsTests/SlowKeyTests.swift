import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Secrets
import Synchronization
import Testing
import Vocabulary

/// Key operations that occupy a processor for long.
@Suite("Slow key work") struct SlowKeyTests {
    /// A custodian that blocks the thread of an import or of an RSA key generation until ``release()``, for at most 20
    /// seconds, and then for 10 ms more.
    private final class BlockingCustodian: KeyCustodian {
        private let custodian: FakeCustodian
        private let gate = DispatchSemaphore(value: 0)
        private let state = Mutex((running: 0, most: 0, timedOut: false))
        var mostConcurrent: Int { state.withLock { $0.most } }
        var isBlocking: Bool { state.withLock { $0.running > 0 } }
        /// Whether ``release()`` was not called within 20 seconds, because its task got no thread.
        var timedOut: Bool { state.withLock { $0.timedOut } }

        func release() { gate.signal() }

        init(_ clock: any WallClock) { custodian = FakeCustodian(clock: clock) }

        private func block() {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
            }
            let timedOut = gate.wait(timeout: .now() + 20) == .timedOut
            gate.signal()
            usleep(10_000)
            state.withLock { state in
                state.running -= 1
                state.timedOut = state.timedOut || timedOut
            }
        }

        func generateKeyPair(
            algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
        ) throws -> NewKeyPair {
            if algorithm == .rsaV1 { block() }
            return try custodian.generateKeyPair(algorithm: algorithm, purpose: purpose, for: merchant)
        }

        func importKeyPair(
            privateKey: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
            for merchant: MerchantIdentifier
        ) throws -> ImportedKeyPair {
            block()
            return try custodian.importKeyPair(
                privateKey: privateKey, number: number, passphrase: passphrase, purpose: purpose, for: merchant)
        }

        func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts { try custodian.readCertificate(upload) }
        func fingerprint(ofClientCertificate upload: [UInt8]) throws -> Bits256 {
            try custodian.fingerprint(ofClientCertificate: upload)
        }
        func issuerFinding(for certificate: CertificateFacts, at time: Timestamp) -> IssuerFinding { .notConfigured }
        func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
            try custodian.symmetricKey(hash, from: material)
        }
        func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes { try custodian.exportPrivateKey(hash) }
    }

    @Test(
        "one slow key operation runs at a time, and other work does not wait for it", arguments: ["import", "RSA_v1"])
    func isolated(kind: String) async throws {
        let clock = HandMovedClock()
        let custodian = BlockingCustodian(clock)
        let operations = Operations(
            repository: MemoryRepository(), custodian: custodian, claims: MemoryClaimLedger(), clock: clock,
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
            while !custodian.isBlocking { try await Task.sleep(for: .milliseconds(1)) }
            for _ in 0..<20 { await Task { await Task.yield() }.value }
            #expect(custodian.isBlocking && !custodian.timedOut, "other work waited")
            custodian.release()
            try await tasks.waitForAll()
        }
        #expect(custodian.mostConcurrent == 1)
    }
}
