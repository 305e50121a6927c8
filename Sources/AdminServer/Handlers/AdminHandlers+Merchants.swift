import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let merchants: [AdminRoute] = [
        .reads(
            "/v1/merchants", scope: .checkedByHandler, query: ["prefix", "belowTarget", "limit", "cursor"],
            AdminHandlers.listMerchants),
        .changes(
            .post, "/v1/merchants", logMessage: "merchant added", scope: .checkedByHandler, AdminHandlers.addMerchant),
        .reads("/v1/merchants/{merchantIdentifier}", AdminHandlers.getMerchant),
        .changes(
            .patch, "/v1/merchants/{merchantIdentifier}", logMessage: "merchant changed", AdminHandlers.changeMerchant),
        .changes(
            .delete, "/v1/merchants/{merchantIdentifier}", logMessage: "merchant removed", effect: .destroys,
            query: ["dryRun"], maximumBodyBytes: 0, AdminHandlers.removeMerchant),
    ]
}

extension AdminHandlers {
    /// Lists merchants. A caller whose permit is limited to some merchants gets only those merchants.
    func listMerchants(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: MerchantIdentifier.self)
        let filter = try Self.filter(call)
        let found =
            call.grants.allowsEveryMerchant(.read)
            ? try await operations.merchants.merchants(filter, after: cursor, limit: limit + 1)
            : try await grantedMerchants(call.grants, filter, after: cursor, limit: limit + 1)
        return try RESTResponse(
            Page(found, limit: limit, document: { MerchantDocument($0) }) { $0.merchant.identifier.rawValue })
    }

    private static func filter(_ call: RESTCall) throws(MerchantError) -> MerchantFilter {
        var filter = MerchantFilter()
        filter.identifierPrefix = call.query["prefix"]
        filter.isBelowTarget = try call.query.flag("belowTarget")
        let length = filter.identifierPrefix?.utf8.count ?? 1
        guard (1...MerchantIdentifier.longest).contains(length) else {
            throw MerchantError(
                .malformed, "'prefix' has \(length.counted("byte")), expected 1 to \(MerchantIdentifier.longest)")
        }
        return filter
    }

    /// The merchants for which the grants contain the permit `read` and that match the filter, sorted by identifier.
    private func grantedMerchants(
        _ grants: [Grant], _ filter: MerchantFilter, after cursor: MerchantIdentifier?, limit: Int
    ) async throws -> [MerchantView] {
        let identifiers = grants.filter { $0.has(.read) }.reduce(into: Set<MerchantIdentifier>()) {
            $0.formUnion($1.merchants ?? [])
        }
        var found: [MerchantView] = []
        for identifier in identifiers.sorted()
        where found.count < limit && cursor.map({ $0 < identifier }) ?? true
            && identifier.rawValue.hasPrefix(filter.identifierPrefix ?? "")
        {
            do {
                let view = try await operations.merchants.merchant(identifier)
                if filter.isBelowTarget, view.activeKeyPairs >= view.merchant.targetActiveKeyPairs { continue }
                found.append(view)
            } catch let error as MerchantError where error.code == .merchantNotFound {
                // The setting `callers` may name merchants that were not added yet or were removed.
                continue
            }
        }
        return found
    }

    func addMerchant(_ call: RESTCall) async throws -> RESTResponse {
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
        return try RESTResponse(
            created: MerchantDocument(view, pendingKeyPairs: pending), at: Paths.merchant(identifier)
        )
        .withLogFields(merchant: identifier)
    }

    func getMerchant(_ call: RESTCall, _ identifier: MerchantIdentifier) async throws -> RESTResponse {
        try RESTResponse(MerchantDocument(try await operations.merchants.merchant(identifier))).withLogFields(
            merchant: identifier)
    }

    func changeMerchant(_ call: RESTCall, _ identifier: MerchantIdentifier) async throws -> RESTResponse {
        let body = try call.read(ChangeMerchantRequest.self)
        let view = try await operations.merchants.changeMerchant(
            identifier, name: body.name, targetActiveKeyPairs: body.targetActiveKeyPairs, for: call.request)
        return try RESTResponse(MerchantDocument(view)).withLogFields(merchant: identifier)
    }

    func removeMerchant(_ call: RESTCall, _ identifier: MerchantIdentifier) async throws -> RESTResponse {
        let dryRun = try call.dryRun()
        let view = try await operations.merchants.removeMerchant(identifier, dryRun: dryRun, for: call.request)
        return try RESTResponse(MerchantDocument(view)).withLogFields(merchant: identifier, dryRun: dryRun)
    }
}
