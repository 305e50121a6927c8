import Testing

@Suite struct OpenAPITests {
    let server = DecryptorTestServer()

    @Test func `the OpenAPI document is returned byte for byte, also to a request with an identifier`() async throws {
        try await server.serve { _ in
            let replies = try await server.client { client in
                [
                    try client.ask("GET", "/v1/openapi.yaml"),
                    try client.ask("GET", "/v1/openapi.yaml", fields: "X-Request-Id: 7\r\n"),
                    try client.ask("GET", "/v1/openapi.yaml", fields: "Connection: close\r\n"),
                ]
            }
            for reply in replies {
                #expect(reply.status == 200 && reply.fields["content-type"] == "application/yaml")
                #expect(reply.body == DecryptorTestServer.openAPI)
            }
            #expect(replies[1].fields["x-request-id"] == "7")
            #expect(replies[2].fields["connection"] == "close")
        }
    }

    @Test func `HEAD returns the length of the OpenAPI document, and the connection stays usable`() async throws {
        try await server.serve { _ in
            let (head, health) = try await server.client { client in
                (try client.ask("HEAD", "/v1/openapi.yaml"), try client.ask("GET", "/v1/health"))
            }
            #expect(head.status == 200 && head.fields["content-length"] == "\(DecryptorTestServer.openAPI.count)")
            #expect(head.body.isEmpty && health.status == 200)
        }
    }

    @Test func `pipelined requests for the OpenAPI document get their responses in order`() async throws {
        try await server.serve { _ in
            let bodies = try await server.client { client in
                for number in 0..<40 {
                    client.send(SocketClient.request("GET", number % 2 == 0 ? "/v1/openapi.yaml" : "/v1/health"))
                }
                return try (0..<40).map { _ in try client.reply()?.body.count }
            }
            for (number, count) in bodies.enumerated() {
                #expect((count == DecryptorTestServer.openAPI.count) == (number % 2 == 0), "\(number)")
            }
        }
    }
}
