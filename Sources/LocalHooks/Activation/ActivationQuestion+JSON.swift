import MerchantOperations
import PassProvisioning
import Secrets

extension ActivationQuestion {
    /// The JSON object that a hook gets: `{"requestId", "network", "configuration", "nonce", "card"}`.
    ///
    /// None of the texts contains a character that JSON escapes: a request identifier has letters, digits and
    /// `-._:=+/@`, and the names of networks are Apple's.
    func json() -> SecretBytes {
        let head = Array(
            "{\"requestId\":\"\(requestId)\",\"network\":\"\(network.rawValue)\",\"configuration\":\(configuration.rawValue),\"nonce\":\"\(nonce)\",\"card\":"
                .utf8)
        return SecretBytes(count: head.count + card.count + 1) { memory in
            memory.copyBytes(from: head)
            UnsafeMutableRawBufferPointer(rebasing: memory[head.count...]).copyBytes(from: card)
            memory[memory.count - 1] = UInt8(ascii: "}")
        }
    }
}
