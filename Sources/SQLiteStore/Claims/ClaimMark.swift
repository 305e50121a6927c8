import MerchantCore
package import Vocabulary

/// Identifies a claim of a payment token, to find out later whether a claims file contains it. The row id alone is not
/// enough: an older copy of the file, which was used for a while, has other claims with the same ids.
package struct ClaimMark: Hashable, Sendable, LosslessStringConvertible {
    /// The id of the row.
    package let id: Int64
    package let transactionId: Bits256

    package init(id: Int64, transactionId: Bits256) { (self.id, self.transactionId) = (id, transactionId) }

    /// Reads the form that ``description`` writes.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = Int64(parts[0]), let bytes = Hex.decode(String(parts[1])),
            let transactionId = Bits256(bytes: bytes)
        else { return nil }
        self.init(id: id, transactionId: transactionId)
    }

    /// The id, a colon and the transactionId in hexadecimal.
    package var description: String { "\(id):\(Hex.encode(transactionId.bytes))" }
}
