import MerchantTestSupport
import ServerKit
import Testing
import Yams

/// Compares the errors in `schema/openapi.yaml` with the program.
@Suite struct ErrorContractTests {
    private static let listeners = ["admin", "decryptor", "issuer", "portal"]

    let contract: OpenAPIDocument

    init() throws { contract = try OpenAPIDocument() }

    /// The code for a resource that does not exist, by the parameter of a path that names the resource.
    private static let notFound = [
        "merchantIdentifier": "merchantNotFound", "publicKeyHash": "keyNotFound", "rollId": "rollNotFound",
        "partnerInternalMerchantIdentifier": "registrationNotFound", "accessName": "accessNotFound",
        "invitationId": "invitationNotFound", "merchantTokenIdentifier": "merchantTokenNotFound",
        "nodeName": "notFound",
    ]
    /// The parameters of Apple's notifications. Apple gets 200 also for unknown values.
    private static let ofNotifications: Set<Substring> = ["eventId", "secret"]

    @Test func `the contract has the statuses and the retry advice of every code`() {
        let statuses = contract.table(ofCodes: "x-status").mapValues { Set($0.sequence?.compactMap(\.int) ?? []) }
        let retry = contract.table(ofCodes: "x-retry").compactMapValues(\.string)
        #expect(statuses == Dictionary(uniqueKeysWithValues: ProblemCode.all.map { ($0.name, $0.statuses) }))
        #expect(retry == Dictionary(uniqueKeysWithValues: ProblemCode.all.map { ($0.name, $0.retry.rawValue) }))
    }

    @Test("every operation lists exactly the error statuses of its codes", arguments: listeners)
    func statuses(listener: String) throws {
        let statuses = contract.table(ofCodes: "x-status").mapValues { Set($0.sequence?.compactMap(\.int) ?? []) }
        let operations = Self.listeners.map { contract.operations(of: $0) }
        for (name, operation) in contract.operations(of: listener) {
            #expect(operation.errorCodes.subtracting(statuses.keys) == [], "\(name)")
            // The responses are those of all listeners that serve the operation.
            let codes = operations.compactMap { $0[name]?.errorCodes }.reduce(into: Set<String>()) { $0.formUnion($1) }
            let expected = codes.reduce(into: Set<Int>()) { $0.formUnion(statuses[$1] ?? []) }
            #expect(operation.statuses.filter { $0 >= 400 } == expected, "\(name)")
        }
    }

    @Test("the errors of an operation follow from its permit, its path and its Idempotency-Key", arguments: listeners)
    func derived(listener: String) throws {
        for (name, operation) in contract.operations(of: listener) {
            let parameter = name.split(separator: "{").dropFirst().first?.prefix { $0 != "}" }
            let isNotification = parameter.map(Self.ofNotifications.contains) ?? false
            if let parameter, !isNotification {
                let code = try #require(Self.notFound[String(parameter)], "\(name)")
                #expect(operation.errorCodes.contains(code), "\(name): \(code)")
            }
            // An operation can be forbidden if it needs a permit. A notification needs an address of Apple instead.
            let canBeForbidden = operation.permit != "none" || isNotification
            #expect(operation.errorCodes.contains("forbidden") == canBeForbidden, "\(name)")
            #expect(operation.errorCodes.contains("idempotencyKeyReused") == operation.takesIdempotencyKey, "\(name)")
            for code in ["unauthorized", "tooManyRequests"] {
                #expect(operation.errorCodes.contains(code) == (listener == "portal"), "\(name): \(code)")
            }
            for code in ["malformed", "tooLarge", "requestTimeout", "notImplemented", "overloaded", "internalError"] {
                #expect(operation.errorCodes.contains(code), "\(name): \(code)")
            }
        }
    }

    @Test func `every code is listed by an operation, except the code for a method that a path does not have`() {
        let listed = Self.listeners.flatMap { contract.operations(of: $0).values }
            .reduce(into: Set<String>()) { $0.formUnion($1.errorCodes) }
        #expect(Set(ProblemCode.all.map(\.name)).subtracting(listed) == ["methodNotAllowed"])
    }

    @Test func `the example of each error response has a code and one of its statuses`() throws {
        let statuses = contract.table(ofCodes: "x-status").mapValues { $0.sequence?.compactMap(\.int) ?? [] }
        for (name, response) in try #require(contract.root["components"]?["responses"]?.mapping) {
            guard let example = response["content"]?["application/problem+json"]?["example"] else { continue }
            let code = try #require(example["code"]?.string, "\(name)")
            let status = try #require(example["status"]?.int, "\(name)")
            #expect(statuses[code]?.contains(status) == true, "\(name)")
            #expect(example["type"]?.string == "urn:merchantkeyd:problem:\(code)", "\(name)")
        }
    }
}
