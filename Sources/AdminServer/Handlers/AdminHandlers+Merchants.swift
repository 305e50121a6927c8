import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    /// A caller with permits for some merchants sees those.
    func merchants(_ call: AdminCall) async throws -> Answer {
        let limit = try call.limit()
        let cursor = try call.query["cursor"].map { text throws(MerchantError) in
            try MerchantIdentifier(text, named: "cursor")
        }
        let found =
            call.grants.allowsEveryMerchant(.read)
            ? try await operations.merchants.merchants(after: cursor, limit: limit + 1)
            : try await granted(call.grants, after: cursor, limit: limit + 1)
        return try Answer(
            Page(found, limit: limit, document: { MerchantDocument($0) }) { $0.merchant.identifier.rawValue })
    }

    private func granted(
        _ grants: [Grant], after cursor: MerchantIdentifier?, limit: Int
    ) async throws -> [MerchantView] {
        let names = grants.filter { $0.permits.contains(.read) }.reduce(into: Set<MerchantIdentifier>()) {
            $0.formUnion($1.merchants ?? [])
        }
        var found: [MerchantView] = []
        for name in names.sorted() where found.count < limit && cursor.map({ $0 < name }) ?? true {
            do {
                found.append(try await operations.merchants.merchant(name))
            } catch let error as MerchantError where error.code == .merchantNotFound {
                continue
            }
        }
        return found
    }

    func addMerchant(_ call: AdminCall) async throws -> Answer {
        let body = try call.read(AddMerchantRequest.self)
        let identifier = try MerchantIdentifier(body.merchantIdentifier, named: "merchantIdentifier")
        try call.grants.require(.administer, for: identifier)
        let view = try await operations.merchants.addMerchant(
            identifier, name: body.name, targetActiveKeyPairs: body.targetActiveKeyPairs,
            for: call.creatingRequest(Paths.merchants))
        var pending: [KeyView]?
        if body.generateKeyPairs == true {
            try await operations.preparation.prepareKeyPairs(of: identifier, algorithm: .ecV1, for: call.request)
            pending = try await operations.keys.pendingKeyPairs(of: identifier)
        }
        return try Answer(created: MerchantDocument(view, pendingKeyPairs: pending), at: Paths.merchant(identifier))
            .about(merchant: identifier)
    }

    func merchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> Answer {
        try Answer(MerchantDocument(try await operations.merchants.merchant(identifier))).about(merchant: identifier)
    }

    func changeMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> Answer {
        let body = try call.read(ChangeMerchantRequest.self)
        let view = try await operations.merchants.changeMerchant(
            identifier, name: body.name, targetActiveKeyPairs: body.targetActiveKeyPairs, for: call.request)
        return try Answer(MerchantDocument(view)).about(merchant: identifier)
    }

    func removeMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> Answer {
        let dryRun = try call.dryRun()
        let view = try await operations.merchants.removeMerchant(identifier, dryRun: dryRun, for: call.request)
        return try Answer(MerchantDocument(view)).about(merchant: identifier, dryRun: dryRun)
    }
}

extension Page {
    /// - Parameters:
    ///   - found: up to one more than `limit`, which tells that there is a next page.
    ///   - cursor: what names an item.
    init<Found>(_ found: [Found], limit: Int, document: (Found) -> Item, cursor: (Found) -> String) {
        let shown = found.prefix(limit)
        self.init(
            items: shown.map(document), nextCursor: found.count > limit ? shown.last.map(cursor) : nil)
    }
}
