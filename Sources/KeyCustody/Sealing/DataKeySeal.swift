package import MerchantCore
import Secrets
package import Vocabulary

/// Data keys under the master key: 32 random bytes, AES-256-GCM, bound to their identifier.
package enum DataKeySeal {
    /// Data keys have numbers from 128 to 32767. SQLite stores each of these in two bytes, so that a private key that is sealed
    /// again under another data key overwrites its old row in place.
    package static let identifiers = 128...32_767

    /// Generates a data key, sealed by `masterKey`.
    package static func create(identifier: Int, under masterKey: borrowing MasterKey, at now: Timestamp)
        -> SealedDataKey
    {
        let sealed = SealingKey.random().withUnsafeBytes {
            masterKey.key.seal($0, authenticating: associatedData(identifier))
        }
        return SealedDataKey(
            identifier: identifier, bytes: sealed, masterKeyCheck: masterKey.identifier.bytes, createdAt: now)
    }

    static func open(_ row: SealedDataKey, with key: SealingKey) -> SealingKey? {
        guard let bytes = key.open(row.bytes, authenticating: associatedData(row.identifier)) else { return nil }
        return SealingKey(bytes)
    }

    private static func associatedData(_ identifier: Int) -> [UInt8] {
        var data = AssociatedData(label: "merchantkeyd data key 1")
        data.append(identifier)
        return data.bytes
    }
}
