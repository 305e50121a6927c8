package import MerchantCore
package import Secrets

/// Seals account numbers by inverting their bits, and opens one only if a short checksum of its owner matches.
package struct FakeMPANCustodian: MPANCustodian {
    package init() {}

    package func sealMPAN(_ digits: UnsafeRawBufferPointer, of owner: SealedMPAN.Owner) -> SealedMPAN {
        SealedMPAN(
            owner: owner, version: 1, dataKeyIdentifier: 1,
            bytes: digits.map { ~$0 } + Self.padding(of: owner, from: digits.count))
    }

    package func openMPAN(_ sealed: SealedMPAN) throws -> SecretBytes {
        let digits = sealed.bytes.prefix { $0 >= 0x80 }
        guard Array(sealed.bytes.dropFirst(digits.count)) == Self.padding(of: sealed.owner, from: digits.count) else {
            throw MerchantError(.keyDamaged, "the account number belongs to another merchant token")
        }
        return SecretBytes(copying: digits.map { ~$0 })
    }

    /// Bytes below 0x80 that depend on the owner.
    private static func padding(of owner: SealedMPAN.Owner, from count: Int) -> [UInt8] {
        let names = "\(owner.merchantTokenIdentifier)/\(owner.merchantIdentifier)".utf8
        let sum = names.reduce(UInt8(0)) { ($0 &* 31 &+ $1) & 0x7F }
        return [UInt8](repeating: sum, count: SealedMPAN.length - count)
    }
}
