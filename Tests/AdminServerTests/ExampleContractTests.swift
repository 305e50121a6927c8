import Foundation
import MerchantTestSupport
import Testing

/// The examples in `schema/openapi.yaml`, checked with Python's jsonschema.
@Suite struct ExampleContractTests {
    /// Prints each request or response without an example, each example that its schema refuses, and each unused example.
    private static let validator = """
        import json, sys, warnings, yaml
        warnings.simplefilter("ignore")
        from jsonschema import Draft202012Validator
        contract = yaml.safe_load(open(sys.argv[1]))
        components = contract["components"]
        used = set()
        def resolve(item):
            while "$ref" in item:
                target = contract
                for name in item["$ref"].removeprefix("#/").split("/"): target = target[name]
                item = target
            return item
        def check(place, content):
            for kind, media in content.items():
                examples = [resolve(e)["value"] for e in media.get("examples", {}).values()]
                examples += [media["example"]] if "example" in media else []
                used.update(e["$ref"].split("/")[-1] for e in media.get("examples", {}).values() if "$ref" in e)
                # Binary content has neither a schema nor an example.
                if "schema" not in media: continue
                if not examples: print(place, kind, "has no example")
                schema = {"components": components, **media["schema"]}
                for example in examples:
                    for error in Draft202012Validator(schema).iter_errors(json.loads(json.dumps(example))):
                        print(place, kind, list(error.path), error.message[:300])
        for path, item in {**contract["paths"], **contract["webhooks"]}.items():
            for method, operation in item.items():
                if method == "parameters": continue
                place = f"{method.upper()} {path}"
                if "requestBody" in operation: check(place, resolve(operation["requestBody"])["content"])
                for status, response in operation["responses"].items():
                    check(f"{place} {status}", resolve(response).get("content", {}))
        for name in set(components["examples"]) - used: print(name, "is not used")
        """

    @Test(
        "every request and response has an example, which is valid by its schema",
        .enabled(if: ContractTests.hasPython, "needs Python's jsonschema"))
    func examples() throws {
        let findings = try ChildProcess.output(of: ["python3", "-c", Self.validator, OpenAPIDocument.url.path])
        #expect(String(decoding: findings, as: UTF8.self) == "")
    }
}
