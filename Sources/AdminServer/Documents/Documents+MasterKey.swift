import MerchantCore
import MerchantOperations
import WireAPI

extension MasterKeyDocument {
    init(_ status: MasterKeyStatus) {
        self.init(status.masterKeyIdentifier.description, from: status.source, dataKey: status.dataKeyIdentifier)
        rotation = status.rotation.map { Rotation($0, blockedBy: status.blockedBy) }
    }
}

extension MasterKeyDocument.Rotation {
    init(_ rotation: KeyRotation, blockedBy: String?) {
        self.init(rotation.state.rawValue, toDataKey: rotation.dataKeyIdentifier, startedAt: rotation.startedAt)
        dataKeyOnly = !rotation.replacesMasterKey
        total = rotation.total
        done = rotation.done
        finishedAt = rotation.finishedAt
        self.blockedBy = rotation.state == .finished ? nil : blockedBy
    }
}
