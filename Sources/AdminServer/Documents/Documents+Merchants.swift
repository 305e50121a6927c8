import MerchantCore
import MerchantOperations
import WireAPI

extension MerchantDocument {
    init(_ view: MerchantView, pendingKeyPairs: [KeyView]? = nil) {
        let merchant = view.merchant
        self.init(merchant.identifier, createdAt: merchant.createdAt)
        name = merchant.name
        targetActiveKeyPairs = merchant.targetActiveKeyPairs
        activeKeyPairs = view.activeKeyPairs
        newestKeyBackedUp = view.isNewestKeyPairBackedUp
        self.pendingKeyPairs = pendingKeyPairs?.map(KeyDocument.init)
    }
}
