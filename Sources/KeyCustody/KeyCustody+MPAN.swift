import CLibCrypto
package import MerchantCore
package import Secrets
import Vocabulary

extension KeyCustody: MPANCustodian {
    package func sealMPAN(_ digits: UnsafeRawBufferPointer, of owner: SealedMPAN.Owner) -> SealedMPAN {
        defer { clibcrypto_overwrite_traces() }
        return keyring.seal(digits, of: owner)
    }

    package func openMPAN(_ sealed: SealedMPAN) throws -> SecretBytes {
        defer { clibcrypto_overwrite_traces() }
        return try keyring.open(sealed)
    }
}
