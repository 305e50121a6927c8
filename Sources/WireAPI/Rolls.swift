package import Vocabulary

extension Paths {
    package static let rolls = "/v1/rolls"

    package static func rolls(of merchant: MerchantIdentifier) -> String { "\(Self.merchant(merchant))/rolls" }

    package static func roll(_ rollId: String) -> String { "\(rolls)/\(rollId)" }
}

/// A roll: `POST /v1/merchants/{merchantIdentifier}/rolls`, `GET /v1/rolls`.
package struct RollDocument: Codable, Hashable, Sendable {
    package let rollId: String
    package let merchantIdentifier: MerchantIdentifier
    package let algorithm: KeyAlgorithm
    /// `started`, `certificateStored`, `promoted`, `quiet`, `finished` or `abandoned`.
    package let state: String
    /// The old key pair; absent for a merchant's first roll.
    package var from: PublicKeyHash?
    /// The new key pair.
    package let to: PublicKeyHash
    /// Who must act before the roll can continue: `merchant`, `admin`, `Apple`, `time` or `none`.
    package let waitingFor: String
    /// When the roll entered its state.
    package let since: Timestamp
    /// The next step, in a few words; absent if the roll has ended.
    package var next: String?
    /// When the roll becomes quiet if nobody requests the old key until then; absent while the roll waits for something
    /// else.
    package var quietAt: Timestamp?
    package let startedAt: Timestamp
    package var endedAt: Timestamp?
    /// Why the roll ended.
    package var reason: String?
    // Present only in the responses to finishing and abandoning a roll.
    package var dryRun: Bool?
    package var transitions: [KeyTransitionDocument.Transition]?
    package var warnings: [String]?

    package init(
        _ rollId: String, of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, to hash: PublicKeyHash,
        startedAt: Timestamp, state: String, since: Timestamp, waitingFor: String
    ) {
        (self.rollId, merchantIdentifier, self.algorithm, to) = (rollId, merchant, algorithm, hash)
        (self.startedAt, self.state, self.since, self.waitingFor) = (startedAt, state, since, waitingFor)
    }
}

/// `POST /v1/merchants/{merchantIdentifier}/rolls`.
package struct StartRollRequest: RequestBody {
    /// If absent, the algorithm of the merchant's only current key, or EC_v1 if there is none or more than one.
    package var algorithm: KeyAlgorithm?

    package init() {}
}

/// `POST /v1/rolls/{rollId}/finish`.
package struct FinishRollRequest: RequestBody {
    /// Whether to finish the roll without waiting until it is quiet. Requires a reason.
    package var now: Bool?
    package var reason: String?
    package var dryRun: Bool?

    package init() {}
}

/// `POST /v1/rolls/{rollId}/abandon`.
package struct AbandonRollRequest: RequestBody {
    package var reason: String?
    package var dryRun: Bool?

    package init() {}
}
