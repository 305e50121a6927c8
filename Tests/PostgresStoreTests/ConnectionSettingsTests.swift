import MerchantCore
import PostgresStore
import Testing

@Suite struct ConnectionSettingsTests {
    @Test(arguments: [
        "host=localhost password=Sesame-1", "postgresql://user:Sesame-1@localhost/db", "password='Sesame-1",
        "host=localhost sslpassword=Sesame-1", "host=localhost service=Sesame-1", "Sesame-1",
        "host=db.example sslmode=require password=Sesame-1", "host=localhost passwort=Sesame-1",
    ])
    func `a connection string with a password or a mistake is refused, and is not repeated in the error`(
        text: String
    ) {
        let error = synchronousRefusal { _ = try ConnectionSettings(text, defaults: [:]) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.detail.contains("Sesame") == false)
    }

    @Test func `the environment counts as part of the connection string`() {
        let remote = synchronousRefusal { _ = try ConnectionSettings("dbname=a", defaults: ["host": "db.example"]) }
        #expect(remote?.code == .storeUnavailable)
        let verified = synchronousRefusal {
            _ = try ConnectionSettings("dbname=a", defaults: ["host": "db.example", "sslmode": "verify-full"])
        }
        #expect(verified == nil)
        let local = synchronousRefusal { _ = try ConnectionSettings("host=/run/a", defaults: ["host": "db.example"]) }
        #expect(local == nil)
    }

    @Test func `a remote server is never reached with GSSAPI encryption instead of TLS`() throws {
        let remote = try ConnectionSettings("host=db.example sslmode=verify-full gssencmode=require", defaults: [:])
        #expect(remote.options["gssencmode"] == "disable")
    }

    @Test func `the connection string takes precedence over the daemon's connect_timeout, not over client_encoding`()
        throws
    {
        let settings = try ConnectionSettings("host=/run/a connect_timeout=9 client_encoding=LATIN1", defaults: [:])
        #expect(settings.options["connect_timeout"] == "9")
        #expect(settings.options["client_encoding"] == "UTF8")
        #expect(settings.options["tcp_user_timeout"] == "15000")
    }
}
