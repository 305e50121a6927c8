import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// The last millisecond of the year 9999: no certificate ends later, RFC 5280 section 4.1.2.5.
    private static let latestEnd = Timestamp(millisecondsSince1970: 253_402_300_799_000)

    /// When the first certificate of an active key pair ends, which may be in the past; nil where there is none.
    package func certificateSoonestEnd() async throws -> Timestamp? {
        try await repository.read { try $0.keyPairsExpiring(before: Self.latestEnd, limit: 1) }.first?.notAfter
    }
}
