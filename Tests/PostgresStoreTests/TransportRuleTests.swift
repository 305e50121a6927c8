import PostgresStore
import Testing

@Suite struct TransportRuleTests {
    @Test(arguments: [
        ([:], true),
        (["host": "/run/postgresql"], true),
        (["host": "@abstract"], true),
        (["host": "localhost"], true),
        (["host": "127.0.0.1", "sslmode": "disable"], true),
        (["host": "127.255.0.9"], true),
        (["host": "::1"], true),
        (["hostaddr": "127.0.0.1"], true),
        (["host": "db.example", "hostaddr": "127.0.0.1"], true),
        (["host": "/run/a,localhost,::1"], true),
        (["host": "db.example", "sslmode": "verify-full"], true),
        (["host": "a.example,/run/b", "sslmode": "verify-full"], true),
        (["host": "db.example"], false),
        (["host": "db.example", "sslmode": "prefer"], false),
        (["host": "db.example", "sslmode": "require"], false),
        (["host": "db.example", "sslmode": "verify-ca"], false),
        (["host": "10.0.0.1"], false),
        (["host": "128.0.0.1"], false),
        (["host": "127.0.0.1.example"], false),
        (["host": "127.0.0"], false),
        (["host": "127.1"], false),
        (["host": "127.0.0.256"], false),
        (["host": "localhost.example"], false),
        (["host": "LOCALHOST"], false),
        (["host": "::2"], false),
        (["hostaddr": "10.0.0.1"], false),
        (["host": "localhost", "hostaddr": "10.0.0.1"], false),
        (["host": "localhost,db.example"], false),
        (["host": "localhost,localhost", "hostaddr": "127.0.0.1,10.0.0.1"], false),
        (["host": "localhost", "hostaddr": ",10.0.0.1"], false),
    ])
    func `only a Unix socket and a loopback address need no verified certificate`(
        options: [String: String], isAccepted: Bool
    ) {
        #expect((TransportRule.refusal(of: options) == nil) == isAccepted)
    }
}
