import MerchantCore
package import MerchantOperations
package import WireAPI

extension MerchantDocument {
    package init(_ view: MerchantView, pendingKeyPairs: [KeyView]? = nil) {
        let merchant = view.merchant
        self.init(merchant.identifier, createdAt: merchant.createdAt)
        name = merchant.name
        targetActiveKeyPairs = merchant.targetActiveKeyPairs
        activeKeyPairs = view.activeKeyPairs
        newestKeyBackedUp = view.isNewestKeyPairBackedUp
        self.pendingKeyPairs = pendingKeyPairs?.map(KeyDocument.init)
    }
}
