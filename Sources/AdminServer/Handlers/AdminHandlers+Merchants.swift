import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoute {
    static let merchants: [AdminRoute] = [
        reads("/v1/merchants", scope: .checkedByHandler, query: ["limit", "cursor"], AdminHandlers.listMerchants),
        changes(.post, "/v1/merchants", action: "merchant added", scope: .checkedByHandler, AdminHandlers.addMerchant),
        reads("/v1/merchants/{merchantIdentifier}", AdminHandlers.getMerchant),
        changes(
            .patch, "/v1/merchants/{merchantIdentifier}", action: "merchant changed", AdminHandlers.changeMerchant),
        changes(
            .delete, "/v1/merchants/{merchantIdentifier}", action: "merchant removed", effect: .destroys,
            query: ["dryRun"], mostBytes: 0, AdminHandlers.removeMerchant),
    ]
}

extension AdminHandlers {
    /// A caller whose permit is limited to some merchants gets a list of those merchants.
    func listMerchants(_ call: AdminCall) async throws -> AdminResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: MerchantIdentifier.self)
        let found =
            call.grants.allowsEveryMerchant(.read)
            ? try await operations.merchants.merchants(after: cursor, limit: limit + 1)
            : try await granted(call.grants, after: cursor, limit: limit + 1)
        return try AdminResponse(
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

    func addMerchant(_ call: AdminCall) async throws -> AdminResponse {
        let body = try call.read(AddMerchantRequest.self)
        let identifier = body.merchantIdentifier
        try call.peer.require(.administer, for: identifier)
        let view = try await operations.merchants.addMerchant(
            identifier, name: body.name, targetActiveKeyPairs: body.targetActiveKeyPairs,
            for: call.creatingRequest(Paths.merchants))
        var pending: [KeyView]?
        if body.generateKeyPairs == true {
            try await operations.preparation.prepareKeyPairs(of: identifier, algorithm: .ecV1, for: call.request)
            pending = try await operations.keys.pendingKeyPairs(of: identifier)
        }
        return try AdminResponse(
            created: MerchantDocument(view, pendingKeyPairs: pending), at: Paths.merchant(identifier)
        )
        .about(merchant: identifier)
    }

    func getMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> AdminResponse {
        try AdminResponse(MerchantDocument(try await operations.merchants.merchant(identifier))).about(
            merchant: identifier)
    }

    func changeMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> AdminResponse {
        let body = try call.read(ChangeMerchantRequest.self)
        let view = try await operations.merchants.changeMerchant(
            identifier, name: body.name, targetActiveKeyPairs: body.targetActiveKeyPairs, for: call.request)
        return try AdminResponse(MerchantDocument(view)).about(merchant: identifier)
    }

    func removeMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> AdminResponse {
        let dryRun = try call.dryRun()
        let view = try await operations.merchants.removeMerchant(identifier, dryRun: dryRun, for: call.request)
        return try AdminResponse(MerchantDocument(view)).about(merchant: identifier, dryRun: dryRun)
    }
}

extension Page {
    /// - Parameters:
    ///   - found: up to `limit` + 1 items. The additional item means that there is a next page.
    ///   - cursor: returns the cursor of the page that begins after an item.
    init<Found>(_ found: [Found], limit: Int, document: (Found) -> Item, cursor: (Found) -> String) {
        let shown = found.prefix(limit)
        self.init(
            items: shown.map(document), nextCursor: found.count > limit ? shown.last.map(cursor) : nil)
    }
}
