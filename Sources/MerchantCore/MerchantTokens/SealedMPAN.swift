package import Secrets
package import Vocabulary

/// The account number of a merchant token (MPAN) that only the ``MPANCustodian`` can unseal. It is encrypted with
/// AES-256-GCM under a data key, and bound to its merchant token and merchant as associated data.
package struct SealedMPAN: Hashable, Sendable {
    /// The merchant token whose account number this is.
    package struct Owner: Hashable, Sendable {
        package let merchantTokenIdentifier: MerchantTokenIdentifier
        package let merchantIdentifier: MerchantIdentifier

        package init(_ merchantToken: MerchantTokenIdentifier, of merchant: MerchantIdentifier) {
            merchantTokenIdentifier = merchantToken
            merchantIdentifier = merchant
        }
    }

    /// The length of ``bytes``: a nonce of 12 bytes, 20 bytes of ciphertext and a tag of 16 bytes. It is the same for
    /// every account number, so that a row of the database never grows and SQLite never moves it.
    package static let length = 48

    package let owner: Owner
    /// The version of the layout of ``bytes``, so that the layout can change later.
    package let version: Int
    package let dataKeyIdentifier: Int
    /// Nonce, ciphertext, tag.
    package let bytes: [UInt8]

    package init(owner: Owner, version: Int, dataKeyIdentifier: Int, bytes: [UInt8]) {
        self.owner = owner
        self.version = version
        self.dataKeyIdentifier = dataKeyIdentifier
        self.bytes = bytes
    }
}

/// A sealed account number as the store holds it.
package struct StoredMPAN: Hashable, Sendable {
    package let sealed: SealedMPAN
    /// When the notification arrived whose event contained the account number. An earlier event does not replace the
    /// account number of a later one.
    package let receivedAt: Timestamp

    package init(sealed: SealedMPAN, receivedAt: Timestamp) {
        self.sealed = sealed
        self.receivedAt = receivedAt
    }
}

/// The only part of the daemon that seals and unseals account numbers of merchant tokens.
package protocol MPANCustodian: Sendable {
    /// Seals an account number.
    ///
    /// - Parameter digits: 8 to 19 digits in ASCII.
    func sealMPAN(_ digits: UnsafeRawBufferPointer, of owner: SealedMPAN.Owner) -> SealedMPAN

    /// Unseals an account number. Before the call, the caller must check the permit.
    ///
    /// - Returns: the digits in ASCII.
    /// - Throws: `keyDamaged` if the sealed bytes are damaged or belong to another merchant token; `storeUnavailable`
    ///   if this daemon has not loaded the data key yet.
    func openMPAN(_ sealed: SealedMPAN) throws -> SecretBytes
}
