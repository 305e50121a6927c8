package import Vocabulary

extension Paths {
    package static let rolls = "/v1/rolls"

    package static func rolls(of merchant: MerchantIdentifier) -> String { "\(Self.merchant(merchant))/rolls" }

    package static func roll(_ rollId: String) -> String { "\(rolls)/\(rollId)" }
}

/// A roll, which is the replacement of a merchant's key pair, as `POST /v1/merchants/{merchantIdentifier}/rolls` and
/// `GET /v1/rolls` return it.
package struct RollDocument: Codable, Hashable, Sendable {
    package let rollId: String
    package let merchantIdentifier: MerchantIdentifier
    package let algorithm: KeyAlgorithm
    /// `started`, `certificateStored`, `promoted`, `quiet`, `finished` or `abandoned`. `quiet` means that the roll can
    /// be finished: no decryptor has requested the old key for 7 days (by default), and a token was decrypted with the
    /// new key.
    package let state: String
    /// The old key pair; absent for a merchant's first roll.
    package var from: PublicKeyHash?
    /// The new key pair.
    package let to: PublicKeyHash
    /// Who must act before the roll can continue: `merchant`, `admin` or `Apple`. `time` if only time must pass, `none`
    /// if the roll has ended.
    package let waitingFor: String
    /// When the roll entered its state.
    package let since: Timestamp
    /// The next step, in a few words; absent if the roll has ended.
    package var next: String?
    /// When the roll became `quiet`, or when it will become `quiet` if no decryptor requests the old key before then.
    /// Absent if this time is unknown.
    package var quietAt: Timestamp?
    package let startedAt: Timestamp
    package var endedAt: Timestamp?
    /// Why the roll ended; absent while the roll is open.
    package var reason: String?
    // The fields from here on are present only in the response to a request that finishes or abandons the roll.
    package var dryRun: Bool?
    /// The changes of the key pairs' states.
    package var transitions: [KeyTransitionDocument.Transition]?
    package var warnings: [String]?
    /// The daemons that may still use the old key pair, because they cannot reach the database. Absent if there are
    /// none.
    package var staleNodes: [NodeName]?
    /// How many key pairs are generated for the merchant's next roll when this roll is finished, so that the merchant
    /// has as many key pairs as its target. Present only in the response to a request that finishes the roll.
    package var nextKeyPairs: Int?
    /// The key pairs that the request has generated for the next roll; absent in a dry run. They have no certificate
    /// yet.
    package var generatedKeyPairs: [PublicKeyHash]?

    package init(
        _ rollId: String, of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, to hash: PublicKeyHash,
        startedAt: Timestamp, state: String, since: Timestamp, waitingFor: String
    ) {
        (self.rollId, merchantIdentifier, self.algorithm, to) = (rollId, merchant, algorithm, hash)
        (self.startedAt, self.state, self.since, self.waitingFor) = (startedAt, state, since, waitingFor)
    }
}

/// The body of `POST /v1/merchants/{merchantIdentifier}/rolls`.
package struct StartRollRequest: RequestBody {
    /// If absent, the algorithm of the merchant's current key. If the merchant has no current key or several current
    /// keys, EC_v1.
    package var algorithm: KeyAlgorithm?

    package init() {}
}

/// The body of `POST /v1/rolls/{rollId}/finish`.
package struct FinishRollRequest: RequestBody {
    /// Whether to finish the roll even if its state is not `quiet`. Requires `reason`.
    package var now: Bool?
    package var reason: String?
    package var dryRun: Bool?

    package init() {}
}

/// The body of `POST /v1/rolls/{rollId}/abandon`.
package struct AbandonRollRequest: RequestBody {
    package var reason: String?
    package var dryRun: Bool?

    package init() {}
}
