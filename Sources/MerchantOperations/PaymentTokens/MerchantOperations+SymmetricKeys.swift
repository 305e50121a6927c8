package import MerchantCore
package import Secrets
package import Vocabulary

extension MerchantOperations {
    /// Restores the symmetric key of one payment token. The caller was authorized for the key's merchant.
    package func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        try custodian.symmetricKey(hash, from: material)
    }
}
