import LocalHooks
import Testing

@Suite struct LocalEndpointTests {
    @Test(
        "an endpoint is a Unix socket or a loopback address",
        arguments: [
            ("http+unix://%2Frun%2Fotp.sock/otp", true), ("http://127.0.0.1:9000/otp", true),
            ("http://[::1]:9000/otp", true), ("http://localhost/otp", true), ("https://127.0.0.1/otp", false),
            ("http://192.0.2.1/otp", false), ("http://otp.example.com/", false), ("http+unix://run/otp", false),
            ("http://user@127.0.0.1/", false), ("http://127.0.0.1.example.com/", false), ("/run/otp.sock", false),
            ("", false), ("http://", false),
        ])
    func endpointText(text: String, isAccepted: Bool) {
        #expect((LocalEndpoint(text: text) != nil) == isAccepted)
    }
}
