package import Vocabulary

extension Paths {
    package static let masterKey = "/v1/master-key"
    package static let masterKeyRotation = "/v1/master-key/rotation"
}

/// The body of `POST /v1/master-key/rotation`.
package struct RotateMasterKeyRequest: RequestBody {
    /// Whether to replace only the data key and keep the master key. The data key encrypts the private keys, and the
    /// master key encrypts the data key.
    package var dataKeyOnly: Bool?
    package var dryRun: Bool?

    package init() {}
}

/// The response of `GET /v1/master-key`.
package struct MasterKeyDocument: Codable, Hashable, Sendable {
    /// The replacement of the master key and the data key, or of the data key only.
    package struct Rotation: Codable, Hashable, Sendable {
        /// `sealing` while private keys are re-encrypted, `erasing` while copies of the old keys are removed, or
        /// `finished`.
        package let state: String
        package var dataKeyOnly = false
        /// The identifier of the new data key.
        package let dataKeyIdentifier: Int
        /// The number of private keys that the rotation re-encrypts.
        package var total = 0
        /// The number of private keys that are already re-encrypted.
        package var done = 0
        package let startedAt: Timestamp
        package var finishedAt: Timestamp?
        /// Why the rotation cannot continue; absent if the rotation can continue or is finished.
        package var blockedBy: String?

        package init(_ state: String, toDataKey dataKeyIdentifier: Int, startedAt: Timestamp) {
            (self.state, self.dataKeyIdentifier, self.startedAt) = (state, dataKeyIdentifier, startedAt)
        }
    }

    /// 32 lower-case hexadecimal digits, which identify the master key but reveal nothing about it.
    package let masterKeyIdentifier: String
    package let dataKeyIdentifier: Int
    /// Where the daemon reads the master key according to its settings, such as `file /etc/merchantkeyd/master.key`.
    package let source: String
    /// The last rotation, finished or not; absent if there was no rotation yet.
    package var rotation: Rotation?

    package init(_ identifier: String, from source: String, dataKey: Int) {
        (masterKeyIdentifier, self.source, dataKeyIdentifier) = (identifier, source, dataKey)
    }
}

/// The steps of a rotation that was started, or in a dry run would be started.
package struct RotationPlanDocument: Codable, Hashable, Sendable {
    package var dryRun = false
    /// Whether an earlier rotation is in progress. If so, the daemon continues the earlier rotation and starts no
    /// other.
    package var joins = false
    /// One sentence for each step.
    package var steps: [String] = []
    package let masterKey: MasterKeyDocument

    package init(_ masterKey: MasterKeyDocument) { self.masterKey = masterKey }
}
