import Foundation
import MerchantTestSupport
import Testing

/// The OpenAPI document as JSON, which the Debian package contains.
@Suite struct ContractFileTests {
    private static let hasPython = ChildProcess.succeeds("python3", "-c", "import openapi_spec_validator, yaml")

    @Test(
        "the contract as JSON is valid OpenAPI and has the content of the YAML document",
        .enabled(if: hasPython, "needs Python's openapi-spec-validator"))
    func json() throws {
        let generator = MarkdownDocument.root.appending(path: "etc/debian/generate-openapi-json.py").path
        let document = try ChildProcess.output(of: ["python3", generator, OpenAPIDocument.url.path])
        let check = """
            import json, sys, openapi_spec_validator, yaml
            document = json.load(sys.stdin)
            openapi_spec_validator.validate(document)
            assert document == yaml.safe_load(open(sys.argv[1]))
            """
        try ChildProcess.output(of: ["python3", "-c", check, OpenAPIDocument.url.path], input: document)
    }
}
