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
        changes(
            .post, "/v1/merchants", logMessage: "merchant added", scope: .checkedByHandler, AdminHandlers.addMerchant),
        reads("/v1/merchants/{merchantIdentifier}", AdminHandlers.getMerchant),
        changes(
            .patch, "/v1/merchants/{merchantIdentifier}", logMessage: "merchant changed", AdminHandlers.changeMerchant),
        changes(
            .delete, "/v1/merchants/{merchantIdentifier}", logMessage: "merchant removed", effect: .destroys,
            query: ["dryRun"], maximumBodyBytes: 0, AdminHandlers.removeMerchant),
    ]
}

extension AdminHandlers {
    /// Lists merchants. A caller whose permit is limited to some merchants gets only those merchants.
    func listMerchants(_ call: AdminCall) async throws -> AdminResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: MerchantIdentifier.self)
        let found =
            call.grants.allowsEveryMerchant(.read)
            ? try await operations.merchants.merchants(after: cursor, limit: limit + 1)
            : try await grantedMerchants(call.grants, after: cursor, limit: limit + 1)
        return try AdminResponse(
            Page(found, limit: limit, document: { MerchantDocument($0) }) { $0.merchant.identifier.rawValue })
    }

    /// The merchants for which the grants contain the permit `read`, sorted by identifier.
    private func grantedMerchants(
        _ grants: [Grant], after cursor: MerchantIdentifier?, limit: Int
    ) async throws -> [MerchantView] {
        let identifiers = grants.filter { $0.permits.contains(.read) }.reduce(into: Set<MerchantIdentifier>()) {
            $0.formUnion($1.merchants ?? [])
        }
        var found: [MerchantView] = []
        for identifier in identifiers.sorted()
        where found.count < limit && cursor.map({ $0 < identifier }) ?? true {
            do {
                found.append(try await operations.merchants.merchant(identifier))
            } catch let error as MerchantError where error.code == .merchantNotFound {
                // The setting `callers` may name merchants that were not added yet or were removed.
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
            for: call.requestWithIdempotencyKey(Paths.merchants))
        var pending: [KeyView]?
        if body.generateKeyPairs == true {
            try await operations.preparation.prepareKeyPairs(of: identifier, algorithm: .ecV1, for: call.request)
            pending = try await operations.keys.pendingKeyPairs(of: identifier)
        }
        return try AdminResponse(
            created: MerchantDocument(view, pendingKeyPairs: pending), at: Paths.merchant(identifier)
        )
        .withLogFields(merchant: identifier)
    }

    func getMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> AdminResponse {
        try AdminResponse(MerchantDocument(try await operations.merchants.merchant(identifier))).withLogFields(
            merchant: identifier)
    }

    func changeMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> AdminResponse {
        let body = try call.read(ChangeMerchantRequest.self)
        let view = try await operations.merchants.changeMerchant(
            identifier, name: body.name, targetActiveKeyPairs: body.targetActiveKeyPairs, for: call.request)
        return try AdminResponse(MerchantDocument(view)).withLogFields(merchant: identifier)
    }

    func removeMerchant(_ call: AdminCall, _ identifier: MerchantIdentifier) async throws -> AdminResponse {
        let dryRun = try call.dryRun()
        let view = try await operations.merchants.removeMerchant(identifier, dryRun: dryRun, for: call.request)
        return try AdminResponse(MerchantDocument(view)).withLogFields(merchant: identifier, dryRun: dryRun)
    }
}

extension Page {
    /// - Parameters:
    ///   - found: up to `limit` + 1 items. If the additional item is present, there is a next page, which begins with
    ///     the additional item.
    ///   - cursor: returns the cursor of the page that begins after an item.
    init<Found>(_ found: [Found], limit: Int, document: (Found) -> Item, cursor: (Found) -> String) {
        let shown = found.prefix(limit)
        self.init(
            items: shown.map(document), nextCursor: found.count > limit ? shown.last.map(cursor) : nil)
    }
}
