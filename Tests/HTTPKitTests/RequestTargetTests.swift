import HTTPKit
import Testing

@Suite struct RequestTargetTests {
    @Test("percent-encoding is decoded exactly, and refused where it is invalid or hides bytes that are not UTF-8")
    func percentDecoding() {
        #expect(PercentDecoding.decode("a%2Fb%2bc+d%C3%A9%3d") == "a/b+c+dé=")
        #expect(PercentDecoding.decode("") == "")
        for text in ["%", "%2", "%zz", "%4g", "%+1", "%ff", "%C3", "a%00%80"] {
            #expect(PercentDecoding.decode(text[...]) == nil, "\(text)")
        }
    }

    @Test("a path begins with a slash and, unless it is only a slash, has no empty segment")
    func segments() {
        for path in ["/", "/v1/merchants", "/v1/keys/ab%2Fcd/csr", "/v1?x=//"] {
            #expect(RequestTarget(path).hasNoEmptySegments, "\(path)")
        }
        for path in ["", "*", "v1/merchants", "//", "//v1/merchants", "/v1//keys", "/v1/merchants/", "/v1/x/?y"] {
            #expect(!RequestTarget(path).hasNoEmptySegments, "\(path)")
        }
    }

    @Test("the path ends at the first question mark")
    func query() {
        let target = RequestTarget("/v1/keys?a=b?c")
        #expect(target.path == "/v1/keys" && target.rawQuery == "a=b?c")
        #expect(RequestTarget("/v1/keys").rawQuery.isEmpty)
    }

    @Test("the absolute form loses its scheme and authority")
    func absoluteForm() {
        #expect(RequestTarget.originForm("http://x/v1/health?y") == "/v1/health?y")
        #expect(RequestTarget.originForm("http://x") == "/")
        #expect(RequestTarget.originForm("http://x?y") == "/?y")
        #expect(RequestTarget.originForm("https://x/v1/health?y") == "/v1/health?y")
        #expect(RequestTarget.originForm("HTTPS://x") == "/")
        #expect(RequestTarget.originForm("https:/x") == "https:/x")
        #expect(RequestTarget.originForm("httpx://x/y") == "httpx://x/y")
        #expect(RequestTarget.originForm("/v1/health") == "/v1/health")
    }

    @Test("a query has only declared parameters, each once, decoded")
    func parameters() throws {
        let query = try QueryParameters("limit=1&cursor=a%2Bb", known: ["limit", "cursor", "state"])
        #expect(query["limit"] == "1" && query["cursor"] == "a+b" && query["state"] == nil)
        #expect(try QueryParameters("", known: [])["limit"] == nil)
        #expect(try QueryParameters("limit", known: ["limit"])["limit"] == "")
        for query in ["other=1", "limit=1&limit=2", "limit=%", "%zz=1", "&limit=1", "limit=1&"] {
            let fault = #expect(throws: HTTPFault.self, "\(query)") {
                try QueryParameters(query[...], known: ["limit"])
            }
            #expect(fault?.problem.status == 400 && fault?.closesConnection == false)
        }
    }
}
