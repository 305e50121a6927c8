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
    /// The old key pair; absent for a merchant's first one.
    package var from: PublicKeyHash?
    /// The new key pair.
    package let to: PublicKeyHash
    /// Who acts next: `merchant`, `admin`, `Apple`, `time` or `none`.
    package let waitingFor: String
    /// When it entered its state.
    package let since: Timestamp
    /// The next step, in a few words; absent after the end.
    package var next: String?
    /// When the old key becomes quiet if no request for it arrives; absent while another condition is open.
    package var quietAt: Timestamp?
    package let startedAt: Timestamp
    package var endedAt: Timestamp?
    /// Why it ended.
    package var reason: String?
    // Only in the responses to finish and abandon.
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
    /// Default: that of the merchant's only current key; EC_v1 where there is none or more than one.
    package var algorithm: KeyAlgorithm?

    package init() {}
}

/// `POST /v1/rolls/{rollId}/finish`.
package struct FinishRollRequest: RequestBody {
    /// Does not wait until the old key is quiet; requires a reason.
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
