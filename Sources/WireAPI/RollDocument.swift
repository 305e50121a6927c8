/// A roll: `POST /v1/merchants/{merchantIdentifier}/rolls`, `GET /v1/rolls`. Times are RFC 3339 UTC.
package struct RollDocument: Codable, Hashable, Sendable {
    package let rollId: String
    package let merchantIdentifier: String
    package let algorithm: String
    /// `started`, `certificateStored`, `promoted`, `quiet`, `finished` or `abandoned`.
    package let state: String
    /// The old key pair's publicKeyHash in Base64; absent for a merchant's first one.
    package let from: String?
    package let to: String
    /// `merchant`, `admin`, `Apple`, `time` or `nobody`.
    package let waitingFor: String
    /// Since when it is in its state.
    package let since: String
    /// What comes next, in a few words; absent where it has ended.
    package let next: String?
    /// When the old key was or will be quiet if nobody asks for it meanwhile; absent where more than time is missing.
    package let quietAt: String?
    package let startedAt: String
    package let endedAt: String?
    /// Why it ended.
    package let reason: String?

    // Of the answers to finish and abandon alone.
    package let dryRun: Bool?
    package let transitions: [KeyTransitionDocument.Transition]?
    package let warnings: [String]?

    package init(
        rollId: String, merchantIdentifier: String, algorithm: String, state: String, from: String?, to: String,
        waitingFor: String, since: String, next: String?, quietAt: String?, startedAt: String, endedAt: String?,
        reason: String?, dryRun: Bool? = nil, transitions: [KeyTransitionDocument.Transition]? = nil,
        warnings: [String]? = nil
    ) {
        self.rollId = rollId
        self.merchantIdentifier = merchantIdentifier
        self.algorithm = algorithm
        self.state = state
        self.from = from
        self.to = to
        self.waitingFor = waitingFor
        self.since = since
        self.next = next
        self.quietAt = quietAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.reason = reason
        self.dryRun = dryRun
        self.transitions = transitions
        self.warnings = warnings
    }
}
