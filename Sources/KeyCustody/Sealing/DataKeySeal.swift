package import MerchantCore
import Secrets
package import Vocabulary

/// Seals (encrypts) data keys with the master key. A data key has 32 random bytes. The encryption is AES-256-GCM with
/// the data key's identifier as associated data, so that a sealed data key cannot be used under another identifier.
package enum DataKeySeal {
    /// The identifiers of data keys are from 128 to 32767. SQLite stores each of these numbers in two bytes. So the row
    /// of a private key keeps its length when the key is sealed under another data key, and the new row overwrites the
    /// old one in place.
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

    /// - Returns: the data key; nil if this master key did not seal it, or if the row is damaged.
    static func open(_ row: SealedDataKey, with masterKey: SealingKey) -> SealingKey? {
        guard let bytes = masterKey.open(row.bytes, authenticating: associatedData(row.identifier)) else { return nil }
        return SealingKey(bytes)
    }

    private static func associatedData(_ identifier: Int) -> [UInt8] {
        var data = AssociatedData(label: "merchantkeyd data key 1")
        data.append(identifier)
        return data.bytes
    }
}
