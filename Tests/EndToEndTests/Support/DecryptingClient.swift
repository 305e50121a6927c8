import Dispatch
import Foundation
import MerchantTestSupport

/// A thread that acts as a decryptor: decrypts the same tokens repeatedly on one connection, until it is stopped.
final class DecryptingClient: Sendable {
    private struct State {
        /// The body of the request that decrypts each token, by the name of the key.
        var tokens: [String: [UInt8]] = [:]
        /// The number of decryptions, by the name of the key.
        var decrypted: [String: Int] = [:]
        var failures: [String] = []
        var isStopped = false
    }

    private let state = Guarded(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ socket: String) {
        Thread.detachNewThread { [state, ended] in
            defer { ended.signal() }
            do {
                let connection = try LoadClient(socket)
                while !state.value.isStopped {
                    let tokens = state.value.tokens
                    if tokens.isEmpty { Thread.sleep(forTimeInterval: 0.001) }
                    for (name, token) in tokens {
                        let (status, answer) = try connection.call("POST", "/v1/payment-tokens/decrypt", token)
                        state.update {
                            if status == 200 {
                                $0.decrypted[name, default: 0] += 1
                            } else {
                                $0.failures.append("\(name): \(status) \(String(decoding: answer, as: UTF8.self))")
                            }
                        }
                    }
                }
            } catch { state.update { $0.failures.append("\(error)") } }
        }
    }

    /// - Parameter token: a token's file; nil if no more tokens for this key arrive.
    func setToken(_ token: String?, of name: String, merchant: String) throws {
        let body = try token.map { path in
            let read = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(filePath: path)))
            let request: [String: Any] = [
                "paymentData": (read as? [String: Any])?["paymentData"] as Any,
                // The same token is decrypted repeatedly.
                "expected": ["merchantIdentifier": merchant], "claim": false,
            ]
            return Array(try JSONSerialization.data(withJSONObject: request))
        }
        state.update { $0.tokens[name] = body }
    }

    var decrypted: [String: Int] { state.value.decrypted }

    var failures: [String] { state.value.failures }

    /// Returns when the last request has ended.
    func stop() {
        state.update { $0.isStopped = true }
        ended.wait()
        ended.signal()
    }
}
