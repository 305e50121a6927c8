import FoundationEssentials
import Synchronization
import Vocabulary

/// Requests that wait until the test releases them.
extension DecryptorTestServer {
    /// The body of a request for an RSA token's symmetric key.
    static let wrappedKey = #"{"wrappedKey":"\#(Data(repeating: 65, count: 256).base64EncodedString())"}"#

    /// A request that, while the custodian's gate is closed, waits until the gate opens.
    static func slowRequest(_ rsa: PublicKeyHash) -> String {
        SocketClient.request("POST", "/v1/keys/\(rsa.base64URL)/symmetric-key", wrappedKey)
    }

    func closeGate() -> Gate {
        let gate = Gate()
        custodian.rsaGate.withLock { $0 = gate }
        return gate
    }
}
