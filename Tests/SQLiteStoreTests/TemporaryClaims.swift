import Foundation
import GRDB
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Vocabulary

/// A claims file in a temporary directory, or in the directory that the test names. `deinit` removes the directory.
final class TemporaryClaims: Sendable {
    static let start = Timestamp(millisecondsSince1970: 1_790_000_000_000)

    let directory: URL
    let store: ClaimStore

    var path: String { directory.appending(path: "claims.sqlite").path }

    init(in directory: URL? = nil) throws {
        self.directory = try directory ?? makeDirectory()
        store = try ClaimStore.open(path: self.directory.appending(path: "claims.sqlite").path)
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// The number of claims in the file.
    func rows() throws -> Int {
        try withSeparateConnection(to: path) { try Int.fetchOne($0, sql: "SELECT count(*) FROM claims") ?? -1 }
    }
}

extension TokenClaim {
    /// A claim whose transaction, idempotency key and request are derived from the numbers, `seconds` after the start.
    /// If `key` is nil, the claim has no idempotency key and no request.
    static func sample(
        _ payment: Int, key: Int? = nil, request: Int = 0, uid: UInt32 = 1000, after seconds: Int = 0
    ) -> TokenClaim {
        TokenClaim(
            transactionId: digest(payment), caller: "uid:\(uid)",
            at: TemporaryClaims.start.adding(.seconds(seconds)),
            requestIdentity: key.map {
                RequestIdentity(idempotencyKeyDigest: digest($0), requestDigest: digest(request))
            })
    }

    /// Pseudorandom bytes: always the same ones for a number.
    private static func digest(_ number: Int) -> Bits256 {
        var random = SeededGenerator(seed: UInt64(number))
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        guard let bits = Bits256(bytes: bytes) else { preconditionFailure("32 bytes") }
        return bits
    }
}
