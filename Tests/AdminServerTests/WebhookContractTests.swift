import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Yams

/// Compares the section `webhooks` of `schema/openapi.yaml` with the program.
@Suite struct WebhookContractTests {
    @Test func `the contract describes the request of each kind of event, with its signature`() throws {
        let contract = try OpenAPIDocument()
        let webhooks = try #require(contract.root["webhooks"]?.mapping)
        #expect(
            webhooks.keys.compactMap(\.string)
                == Event.Kind.allCases.map(\.rawValue) + [WebhookOperations.testKind])
        for (kind, item) in webhooks {
            let request = try #require(item["post"], "\(kind)")
            let headers = request["parameters"]?.sequence?.map(contract.resolved).compactMap { $0["name"]?.string }
            #expect(headers == ["Merchantkeyd-Signature", "User-Agent"], "\(kind)")
            let example = request["requestBody"]?["content"]?["application/json"]?["example"]
            #expect(example?["kind"]?.string == kind.string)
        }
    }
}
